"""The HTTP API: `python server.py` serves it, and `uvicorn server:app` finds it here."""

import sys

if __name__ == "__main__":
    from ai_psychiatrist.cli import main

    main(["serve", *sys.argv[1:]])
else:
    from ai_psychiatrist.api.served_app import create_served_app
    from ai_psychiatrist.domain.errors import ConfigurationError

    try:
        app = create_served_app()
    except ConfigurationError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201  the server would print a traceback
        sys.exit(2)
