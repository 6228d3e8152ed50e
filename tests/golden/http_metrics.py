"""What Prometheus reads: names, labels, and the counts of requests whose number is known."""

from pathlib import Path
from typing import Final

import httpx

from tests.fakes.faults import fault, first_attempts, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, FULL, SHORT
from tests.golden.http_caller import Talk, calling, in_loop, until
from tests.golden.http_interviews import HERE
from tests.golden.http_jobs import begun, over
from tests.golden.http_records import PLACE
from tests.golden.http_showing import counted, shown
from tests.golden.ways import model_server

_BODY: Final = {"transcript_text": SHORT}


@in_loop
async def metrics(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    rejecting = first_attempts(1, fault("prose", tasks=["evidence"]))
    scripts = {
        "good": good_replies(),
        "rejecting": rejecting,
        "failing": only_for(["meta_review"], fault("status_500")),
    }
    for case, script in scripts.items():
        with model_server(script) as (_, named):
            settings = {**named, "TELEMETRY_METRICS": "true"}
            async with calling(folder / case, settings) as client:
                talk = Talk(client=client, name=f"metrics/{case}", cases=cases)
                if case == "good":
                    await talk.ask("at-first", "GET", "/metrics", show=_counts)
                    await talk.ask("head", "HEAD", "/metrics")
                await client.post(FULL, json={"transcript_text": DANGER})
                await client.post("/assess/qualitative", json=_BODY)
                await client.post(FULL, json={})
                await client.get("/v1/jobs/5f1c8a3e9b7d4c20")
                await client.get("/not/there")
                await client.request("BREW", "/healthz")
                await talk.ask("after-requests", "GET", "/metrics", show=_counts)
    await _kept(folder / "kept", cases)
    return cases


async def _kept(folder: Path, cases: list[Answer]) -> None:
    """Keep what is counted of stored assessments, jobs and interviews."""
    async with calling(folder, {"TELEMETRY_METRICS": "true"}) as client:
        talk = Talk(client=client, name="metrics/kept", cases=cases)
        await client.post(PLACE, json=_BODY)
        for _ in range(2):
            await over(talk, await begun(talk))
        begun_one = (await client.post(HERE, json={"protocol": "phq8"})).json()
        answer = {
            "question_id": "q1",
            "text": "I want to kill myself.",
            "idempotency_key": "k",
            "version": begun_one["version"],
        }
        await client.post(f"{HERE}/{begun_one['interview_id']}/answers", json=answer)
        await client.post("/v1/session", json={"key": "aip_x"})

        async def is_counted() -> bool:
            told = (await client.get("/metrics")).text
            return 'job_ends_total{reason="",state="finished"} 2.0' in told

        await until(is_counted)
        await talk.ask("counts", "GET", "/v1/metrics", show=_without_polls)


_POLLED: Final = ("/v1/jobs/{job_id}", 'route="/metrics"')


def _counts(response: httpx.Response) -> Json:
    """Show the table of counts."""
    whole = shown(response, body=False)
    assert isinstance(whole, dict)
    return {**whole, "body": counted(response.text)}


def _without_polls(response: httpx.Response) -> Json:
    """Show the counts but those of what was asked again and again."""
    lines = [
        line for line in response.text.splitlines() if not any(path in line for path in _POLLED)
    ]
    return counted("\n".join(lines))
