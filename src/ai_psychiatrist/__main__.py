"""The command line, for `python -m ai_psychiatrist`."""

from ai_psychiatrist.cli import main

if __name__ == "__main__":
    main()
