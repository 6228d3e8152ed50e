"""What is kept of assessments: one database, SQLite or PostgreSQL, with its words sealed."""
