"""What a swept server has stored: real ids, so that requests reach more than a 404."""

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx

TRANSCRIPT: Final = (
    "Interviewer: How do you sleep?\n"
    "Participant: I hardly sleep at all, nearly every night.\n"
    "Interviewer: And your energy?\n"
    "Participant: I feel tired nearly every day, and I think of killing myself."
)
_KEPT: Final = 2
"""How many of each kind there are."""
_USES: Final = 40
"""After so many requests the oldest makes room: it was rated, or removed."""


@dataclass(slots=True)
class Stock:
    """Ids of stored assessments, their subjects and interviews, always some that are fresh."""

    client: httpx.Client
    headers: dict[str, str]
    """Of somebody who may store."""
    random: Random
    _used: int = 0
    _ids: dict[str, deque[str]] = field(default_factory=dict)

    def fill(self) -> None:
        """Store the first of each kind."""
        for _ in range(_KEPT):
            self._add()

    def known(self, name: str) -> str | None:
        """Return an id for a parameter of this name; `None` where nothing has such ids."""
        if name not in self._ids:
            return None
        self._used += 1
        if self._used % _USES == 0:
            self._add()
        return self.random.choice(self._ids[name])

    def _add(self) -> None:
        body = {"transcript_text": TRANSCRIPT, "subject": f"subject {self._used}"}
        made = self._post("/v1/assessments", body)
        listed = self.client.get("/v1/assessments", headers=self.headers).json()["assessments"]
        subjects = {one["assessment_id"]: one["subject_id"] for one in listed}
        interview = self._post("/v1/interviews", {"protocol": "phq8"})
        self._keep("assessment_id", made["assessment_id"])
        self._keep("subject_id", subjects[made["assessment_id"]])
        self._keep("interview_id", interview["interview_id"])

    def _keep(self, name: str, value: str) -> None:
        self._ids.setdefault(name, deque(maxlen=_KEPT)).append(value)

    def _post(self, path: str, body: dict[str, str]) -> dict[str, str]:
        answer = self.client.post(path, json=body, headers=self.headers)
        made: dict[str, str] = answer.raise_for_status().json()
        return made
