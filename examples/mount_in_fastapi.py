"""Serve assessments below a path of an application of your own: `python mount_in_fastapi.py`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

import ai_psychiatrist as ap

psychiatrist = ap.create_app()


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Open what is mounted: servers do that for the outer application alone."""
    async with psychiatrist.running():
        yield


app = FastAPI(lifespan=lifespan)
app.mount("/phq8", psychiatrist)


@app.get("/")
async def home() -> dict[str, str]:
    """Answer beside it."""
    return {"assessments": "/phq8/docs"}


if __name__ == "__main__":
    uvicorn.run(app, port=8000)
