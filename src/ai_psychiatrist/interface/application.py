"""Assessments from Python: one set of clients for many, or one assessment alone."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import OnFinished
from ai_psychiatrist.config import Settings, load_settings, quiet, with_model
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import require
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.logging import identified_assessment
from ai_psychiatrist.infrastructure.off_loop import work_inline, work_on_text
from ai_psychiatrist.interface.given import (
    FIELD,
    GivenLabels,
    GivenMode,
    GivenTranscript,
    content_of,
    forgetting_causes,
    name_of,
    named_path,
    named_roles,
    refuse_no_flag,
    wanted_mode,
)
from ai_psychiatrist.llm.reasons import Reason
from ai_psychiatrist.results.wording import html_of
from ai_psychiatrist.services.transcripts.speaker_labels import Roles
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.wiring import Services, bootstrap_apart

if TYPE_CHECKING:
    from ai_psychiatrist.interface.dataset_run import DatasetRunResult

Assessment.as_html = html_of

OnCount: TypeAlias = Callable[[int, int], None]
"""Told after each unit how many of a run are done, and of how many."""


class Application:
    """Assesses interviews, any number at the same time, with one set of clients for all models.

    Its log and its digests are its own: what else runs in the process is not disturbed.
    """

    def __init__(self, services: Services) -> None:
        """`open` makes one."""
        self._services = services
        self._is_closed = False

    @property
    def services(self) -> Services:
        """What it works with; raises `RuntimeError` once it is closed."""
        if self._is_closed:
            raise RuntimeError(
                "this application is closed: use it inside its block, `async with open() as app`"
            )
        return self._services

    def close(self) -> None:
        """Refuse what comes from now on; `open` does so at the end of its block."""
        self._is_closed = True

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        return self._services.settings

    def __repr__(self) -> str:
        """Name the model, and nothing that was assessed."""
        return f"Application(model={self.settings.model.default!r})"

    async def assess(
        self,
        transcript: GivenTranscript,
        *,
        participant: GivenLabels = (),
        interviewer: GivenLabels = (),
        mode: GivenMode = None,
        ablate: bool = False,
        on_progress: OnFinished = lambda _: None,
        deadline_seconds: float | None = None,
        certificate: bool = False,
    ) -> Assessment:
        """Assess one interview; the result lists what failed and keeps what finished.

        `participant`, `interviewer`: whose labels are whose, where the transcript does not tell.
        `mode`: what scoring sees beside the transcript, such as `descriptions_only`; else that of
        the settings, which is `zero_shot` unless they say otherwise.
        `ablate`: score again with the evidence changed, to tell whether it drives the scores.
        `deadline_seconds`: what has not finished by then is left out; else the models' own time
        limits hold. `certificate`: whether the result has one. Raises `InputError` for a transcript
        that cannot be used: of these `SpeakersUnknown` has the labels to choose from. Where nothing
        finished the status is `failed`, and `causes` says why.
        """
        services = self.services
        is_time = deadline_seconds is None or (
            isinstance(deadline_seconds, int | float) and 0 < deadline_seconds < math.inf
        )
        problem = "deadline_seconds has to be a number of seconds above 0"
        require(is_time, problem, field="deadline_seconds")
        refuse_no_flag(ablate=ablate, certificate=certificate)
        scoring = await services.scoring(wanted_mode(mode), ablates=ablate)
        with forgetting_causes(), services.active(), identified_assessment():
            read = await self._read(transcript, named_roles(participant, interviewer))
            options = AssessmentOptions(
                scoring=scoring,
                on_finished=on_progress,
                deadline_seconds=deadline_seconds,
                certify=services.certify if certificate else None,
            )
            return await services.assessor.assess(read, options)

    def causes(self, result: Assessment) -> tuple[Reason, ...]:
        """Return why a result is not whole, each cause with its cure; none if it is whole."""
        return self._services.connections.reasons(result)

    async def evaluate(
        self,
        dataset: str | Path,
        folder: str | Path,
        *,
        resume: bool = False,
        retry_failed: bool = False,
        limit: int | None = None,
        shard: str | None = None,
        split: str | None = None,
        mode: GivenMode = None,
        ablate: bool = False,
        certificates: bool = False,
        concurrency: int = 8,
        max_failures: int | None = None,
        keep_raw: bool = True,
        missing: Sequence[int] = (),
        label_codes: str | None = None,
        label_row: Mapping[str, str] | None = None,
        match_ids: str = "exact",
        text_column: str | None = None,
        on_progress: OnCount = lambda _done, _requested: None,
    ) -> "DatasetRunResult":
        """Assess a dataset into the folder of a run, as `ai-psychiatrist evaluate run` does.

        `dataset`: a folder of interviews, or a JSONL file. `missing`, `label_codes`, `label_row`
        and `match_ids` say how its labels are written. The keywords are the options of the
        command. A run that was stopped goes on with `resume=True`, and pays for no call twice.
        Raises `InputError` for what is no dataset, and for a folder that holds a run already, and
        `ArtifactMismatch` for one that was begun with other inputs.
        """
        services = self.services
        refuse_no_flag(
            resume=resume,
            retry_failed=retry_failed,
            ablate=ablate,
            certificates=certificates,
            keep_raw=keep_raw,
        )
        place, path = named_path(folder, field="folder"), named_path(dataset, field="dataset")
        # A fifth of all imports, of which an assessment needs nothing.
        from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset  # noqa: PLC0415
        from ai_psychiatrist.evaluation.datasets.options import LabelOptions  # noqa: PLC0415
        from ai_psychiatrist.evaluation.datasets.selection import (  # noqa: PLC0415
            Selection,
            selected,
        )
        from ai_psychiatrist.evaluation.runs.run import EvaluationOptions  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.run_folder import RunFolder  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.shards import Shard  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.start import StartOptions  # noqa: PLC0415
        from ai_psychiatrist.interface.dataset_run import DatasetRun, evaluated  # noqa: PLC0415

        start = StartOptions(
            limit=limit,
            shard=None if shard is None else Shard.read(shard),
            is_resumed=resume,
            keeps_raw=keep_raw,
            certifies=certificates,
        )
        scores = LabelOptions.read(
            missing=",".join(map(str, missing)),
            label_codes=label_codes,
            label_row=[f"{column}={value}" for column, value in (label_row or {}).items()],
            match_ids=match_ids,
            text_column=text_column,
        )
        options = EvaluationOptions(
            concurrency=concurrency, max_failures=max_failures, retries_failed=retry_failed
        )
        with forgetting_causes(), services.active():
            opened = await asyncio.to_thread(
                open_dataset, path, labels=services.settings.transcript.labels, scores=scores
            )
            run = DatasetRun(
                dataset=selected(opened, Selection(split=split)),
                folder=RunFolder(place),
                start=start,
                options=options,
                mode=wanted_mode(mode),
                ablates=ablate,
            )
            return await evaluated(services, run, on_progress)

    async def _read(self, given: GivenTranscript, roles: Roles) -> Transcript:
        if isinstance(given, Transcript):
            return given
        content = await asyncio.to_thread(content_of, given)
        read = partial(
            read_transcript,
            name=name_of(given),
            field=FIELD,
            most_characters=self.settings.api.max_transcript_chars,
        )
        return await work_on_text(
            content, read, content, replace(self.settings.transcript.labels, given=roles)
        )


@asynccontextmanager
async def open_application(
    settings: Settings | None = None, *, model: str | None = None
) -> AsyncIterator[Application]:
    """Open the clients for any number of assessments, and close them at the end of the block.

    Without settings those of the environment and of `.env` count, as for the command line; where
    nothing is set, the rule baseline assesses. `model`: one for all agents, such as
    `ollama:gemma3:27b`. Errors alone are logged unless LOG_LEVEL is set. Raises
    `ConfigurationError` for settings that cannot be used.
    """
    resolved = load_settings() if settings is None else settings
    chosen = resolved if model is None else with_model(resolved, model)
    async with bootstrap_apart(quiet(chosen)) as services:
        app = Application(services)
        try:
            yield app
        finally:
            app.close()


def assess_sync(
    transcript: GivenTranscript,
    *,
    participant: GivenLabels = (),
    interviewer: GivenLabels = (),
    mode: GivenMode = None,
    ablate: bool = False,
    on_progress: OnFinished = lambda _: None,
    deadline_seconds: float | None = None,
    certificate: bool = False,
    settings: Settings | None = None,
    model: str | None = None,
) -> Assessment:
    """Assess one interview and return its result, for programs without an event loop.

    What `open` and `Application.assess` say holds here. Raises `RuntimeError` where an event loop
    runs, as in a notebook: there, `await app.assess(text)`.
    """
    _refuse_running_loop()

    async def assess() -> Assessment:
        work_inline()
        async with open_application(settings, model=model) as app:
            return await app.assess(
                transcript,
                participant=participant,
                interviewer=interviewer,
                mode=mode,
                ablate=ablate,
                on_progress=on_progress,
                deadline_seconds=deadline_seconds,
                certificate=certificate,
            )

    return asyncio.run(assess())


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "assess_sync cannot be called where an event loop runs, as in a notebook or a web server; "
        "write there: async with ai_psychiatrist.open() as app: result = await app.assess(text)"
    )
