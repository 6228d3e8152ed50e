"""Jobs that several processes of one machine do, by DBOS on SQLite or PostgreSQL.

The library is imported by what is opened here, and by nothing else of the program.
"""
