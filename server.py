"""The ASGI application, for `uvicorn server:app`."""

from ai_psychiatrist.api.app import create_app

app = create_app()
