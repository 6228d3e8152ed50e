"""Assessments from Python: what is returned, what is raised, and how both show themselves."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.assessments_calls import AP, Call, came_to, value_of
from tests.golden.assessments_ground import ground_answers
from tests.golden.assessments_parts import own_transcripts, told
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, environment, scratch

_SHORT: Final = EXAMPLES / "short_interview.txt"
_ZOOM: Final = TRANSCRIPTS / "webvtt" / "zoom.vtt"
_UNKNOWN: Final = "Anna: How are you?\nTom: I am tired every day.\n"
_SAID: Final = "Interviewer: How are you?\nParticipant: I am tired nearly every day.\n"
_READ_BY_THE_READER: Final = (
    "danger/hinted",
    "danger/denied",
    "danger/said_by_the_interviewer_alone",
    "meaning/supposed",
    "meaning/hesitating",
)


def python_answers() -> Iterator[Answer]:
    """Yield what the names of the package return and raise."""
    yield Answer(name="python/names", value=_names())
    with scratch() as folder:
        settings = _settings(folder)
        groups: Mapping[str, Mapping[str, Call]] = {
            "assess_sync": _alone(settings, folder),
            "application": _together(settings, folder),
            "certificates": _certificates(settings, folder),
            "settings": _given_settings(folder),
            "applications": _applications(settings, folder),
        }
        for group, calls in groups.items():
            for name, call in calls.items():
                yield _answer(f"python/{group}/{name}", call, folder)
        yield from _read_by_the_reader(folder)
    yield from ground_answers()


def _settings(folder: Path, **more: str) -> object:
    given = environment(folder)
    return AP.load_settings({**given, "DATA_STATE_DIR": str(folder / "state"), **more}, None)


def _names() -> Json:
    return {
        "all": sorted(AP.__all__),
        "dir": dir(AP),
        "version": AP.__version__,
        "parts": [part.value for part in AP.Part],
        "errors": {
            name: [one.__name__ for one in getattr(AP, name).__mro__]
            for name in AP.__all__
            if isinstance(getattr(AP, name), type) and issubclass(getattr(AP, name), Exception)
        },
        "unknown": came_to(lambda: AP.assess),
    }


def _alone(settings: object, folder: Path) -> Mapping[str, Call]:
    """Return calls of `assess_sync`, good and bad."""
    assess = partial(AP.assess_sync, settings=settings)
    text = _SHORT.read_text(encoding="utf-8")
    in_a_loop = partial(assess, text)
    unreachable = _settings(folder, MODEL_DEFAULT="ollama:gemma3", OLLAMA_HOST="127.0.0.1:1")

    async def loop() -> object:
        return in_a_loop()

    return {
        "text": lambda: assess(text),
        "bytes": lambda: assess(text.encode("utf-16")),
        "bytearray": lambda: assess(bytearray(text.encode())),
        "path": lambda: assess(_SHORT),
        "named": lambda: assess(_UNKNOWN, participant="Tom", interviewer=["Anna"]),
        "everybody": lambda: assess(_UNKNOWN, participant="*"),
        "descriptions": lambda: assess(text, mode="Descriptions-Only"),
        "certified": lambda: assess(text, certificate=True).certificate is not None,
        "shown": lambda: _shown(assess(text)),
        "shown_failed": lambda: _shown(AP.assess_sync(text, settings=unreachable)),
        "frozen": lambda: setattr(assess(text), "status", "failed"),
        "read_again": lambda: AP.Assessment.model_validate_json(assess(text).model_dump_json()),
        "read_from_nothing": lambda: AP.Assessment.model_validate_json("{}"),
        "empty": lambda: assess(""),
        "only_interviewer": lambda: assess("Interviewer: Are you there?\n"),
        "half_a_character": lambda: assess("Participant: I am tired \ud800 today"),
        "name_of_a_file": lambda: assess("interview.txt"),
        "path_as_text": lambda: assess(str(_SHORT)),
        "missing_file": lambda: assess(Path("nowhere.txt")),
        "folder": lambda: assess(TRANSCRIPTS),
        "text_as_path": lambda: assess(Path(text)),
        "number": lambda: assess(3),
        "nothing": lambda: assess(None),
        "list": lambda: assess([text]),
        "speakers_unknown": lambda: assess(_UNKNOWN),
        "label_unknown": lambda: assess(_UNKNOWN, participant="Nobody"),
        "label_twice": lambda: assess(_UNKNOWN, participant="Tom", interviewer="Tom"),
        "label_is_number": lambda: assess(_UNKNOWN, participant=[1]),
        "mode_unknown": lambda: assess(text, mode="one_shot"),
        "mode_is_number": lambda: assess(text, mode=1),
        "mode_without_references": lambda: assess(text, mode="few_shot"),
        "flag_is_text": lambda: assess(text, ablate="no"),
        "certificate_is_number": lambda: assess(text, certificate=1),
        "deadline_zero": lambda: assess(text, deadline_seconds=0),
        "deadline_not_finite": lambda: assess(text, deadline_seconds=float("inf")),
        "deadline_in_words": lambda: assess(text, deadline_seconds="soon"),
        "keyword_unknown": lambda: assess(text, participants="Tom"),
        "model_without_provider": lambda: assess(text, model="gemma3"),
        "model_empty": lambda: assess(text, model=""),
        "inside_a_loop": lambda: asyncio.run(loop()),
        "listener_raises": lambda: assess(text, on_progress=_raise),
    }


def _raise(part: object) -> None:
    msg = f"mine, at {type(part).__name__}"
    raise LookupError(msg)


def _together(settings: object, folder: Path) -> Mapping[str, Call]:
    """Return calls that open an application and use it."""

    def evaluate(*given: Any, **more: Any) -> Call:
        return lambda: asyncio.run(_evaluated(settings, *given, **more))

    return {
        "many": lambda: asyncio.run(_many(settings)),
        "parts": lambda: asyncio.run(_parts(settings)),
        "closed": lambda: asyncio.run(_closed(settings)),
        "used_after_refusals": lambda: asyncio.run(_used_after_refusals(settings)),
        "open_with_model": lambda: asyncio.run(_opened(settings, model="ollama:gemma3")),
        "open_with_unknown_model": lambda: asyncio.run(_opened(settings, model="nobody:gemma3")),
        "evaluate": evaluate(_SHORT, folder / "run"),
        "evaluate_again": evaluate(_SHORT, folder / "run"),
        "evaluate_other": evaluate(EXAMPLES / "interview.txt", folder / "run", resume=True),
        "evaluate_nothing": evaluate(folder / "nowhere", folder / "other"),
        "evaluate_text": evaluate(_SAID, folder / "other"),
        "evaluate_bad_shard": evaluate(_SHORT, folder / "other", shard="3"),
        "evaluate_bad_flag": evaluate(_SHORT, folder / "other", resume="no"),
    }


async def _many(settings: object) -> object:
    text = _SHORT.read_text(encoding="utf-8")
    async with AP.open(settings) as app:
        results = await asyncio.gather(*map(app.assess, (text, _SAID, text)))
        return {
            "repr": repr(app),
            "model": app.settings.model.default,
            "ids": len({one.assessment_id for one in results}),
            "causes": [list(app.causes(one)) for one in results],
            "results": [value_of(one) for one in results[1:]],
        }


async def _parts(settings: object) -> object:
    parts: list[Any] = []
    async with AP.open(settings) as app:
        await app.assess(_SAID, on_progress=parts.append)
    # Findings and scores are made at the same time.
    return {"first": sorted(parts[:-1]), "last": parts[-1], "are": repr(parts[-1])}


async def _closed(settings: object) -> object:
    async with AP.open(settings) as app:
        pass
    return await app.assess(_SAID)


async def _used_after_refusals(settings: object) -> object:
    async with AP.open(settings) as app:
        refused = []
        for given in ("", _UNKNOWN, 3):
            try:
                await app.assess(given)
            except AP.InputError as error:
                refused.append(type(error).__name__)
        return [*refused, (await app.assess(_SAID)).status]


async def _evaluated(settings: object, *given: Any, **more: Any) -> object:
    async with AP.open(settings) as app:
        return repr(await app.evaluate(*given, **more))


async def _opened(settings: object, **more: Any) -> object:
    async with AP.open(settings, **more) as app:
        return repr(app)


def _certificates(settings: object, folder: Path) -> Mapping[str, Call]:
    content = _SHORT.read_bytes()
    result = AP.assess_sync(content, settings=settings)
    zoom = AP.assess_sync(_ZOOM, participant="Anna Schmidt", settings=settings)
    key, no_key, open_key = (folder / name for name in ("key", "no_key", "open_key"))
    for path, text, mode in (
        (key, "0123456789abcdef" * 4, 0o600),
        (no_key, "no key", 0o600),
        (open_key, "0123456789abcdef" * 4, 0o644),
    ):
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    made = AP.certify(result, content)
    return {
        "holds": lambda: AP.verify(content, made, digest=made.sha256),
        "of_bytes": lambda: AP.verify(_SHORT, made.text.encode()),
        "of_zoom": lambda: AP.verify(
            _ZOOM, AP.certify(zoom, _ZOOM, participant="Anna Schmidt"), participant="Anna Schmidt"
        ),
        "shown": lambda: [repr(made.signed_by), made.text.count("tired")],
        "signed": lambda: AP.certify(result, content, key_file=key).signed_by,
        "signed_holds": lambda: AP.verify(content, AP.certify(result, content, key_file=key)),
        "no_key": lambda: AP.certify(result, content, key_file=no_key),
        "key_of_everybody": lambda: AP.certify(result, content, key_file=open_key),
        "key_is_missing": lambda: AP.certify(result, content, key_file=folder / "nowhere"),
        "other_transcript": lambda: AP.certify(result, _SAID),
        "other_interview": lambda: AP.verify(_SAID, made),
        "other_digest": lambda: AP.verify(content, made, digest="ab" * 32),
        "no_digest": lambda: AP.verify(content, made, digest="abc"),
        "other_key": lambda: AP.verify(content, made, key="cd" * 32),
        "no_certificate": lambda: AP.verify(content, "{}"),
        "result_in_its_place": lambda: AP.verify(content, result.model_dump_json()),
        "missing_file": lambda: AP.verify(content, Path("nowhere.json")),
        "number": lambda: AP.verify(content, 3),
    }


def _given_settings(folder: Path) -> Mapping[str, Call]:
    load = partial(AP.load_settings, dotenv=None)
    return {
        "defaults": lambda: json.loads(load({}).model_dump_json()),
        "secret_is_not_shown": lambda: (
            "sk-of-nobody" in repr(load({"OPENAI_API_KEY": "sk-of-nobody"}))
        ),
        "frozen": lambda: setattr(load({}), "model", None),
        "misspelt": lambda: load({"MODEL_DEFALT": "baseline"}),
        "out_of_range": lambda: load({"MODEL_MAX_CALLS": "0", "JUDGE_CALLS": "two"}),
        "file_is_missing": lambda: AP.load_settings({}, folder / "nowhere").model.default,
        "file_is_a_folder": lambda: AP.load_settings({}, folder),
        "contradiction": lambda: AP.create_app(load({"ENABLE_FEW_SHOT": "true"})),
        "contradiction_opened": lambda: AP.assess_sync(
            _SAID, settings=load({"ENABLE_FEW_SHOT": "true", "DATA_STATE_DIR": str(folder)})
        ),
    }


def _applications(settings: object, folder: Path) -> Mapping[str, Call]:
    """Return ways to misuse `create_app`; what it serves is told elsewhere."""

    async def of_closed() -> object:
        async with AP.open(settings) as app:
            pass
        return AP.create_app(app)

    async def of_opened() -> object:
        async with AP.open(settings) as app:
            async with AP.create_app(app).running():
                pass
            return (await app.assess(_SAID)).status

    async def twice() -> object:
        app = AP.create_app(settings)
        for _ in range(2):
            async with app.running():
                pass
        return app.title

    open_address = {"API_HOST": "0.0.0.0", "DATA_STATE_DIR": str(folder)}  # noqa: S104
    return {
        "of_number": lambda: AP.create_app(3),
        "of_table": lambda: AP.create_app({"MODEL_DEFAULT": "baseline"}),
        "of_closed": lambda: asyncio.run(of_closed()),
        "of_opened": lambda: asyncio.run(of_opened()),
        "run_twice": lambda: asyncio.run(twice()),
        "at_open_address": lambda: AP.create_app(AP.load_settings(open_address, None)),
    }


def _read_by_the_reader(folder: Path) -> Iterator[Answer]:
    """Yield what changes where the learned reader takes part: no likelihood, which varies."""
    settings = _settings(folder, READER_ENABLED="true")
    for name in _READ_BY_THE_READER:
        text = own_transcripts()[name]
        result = json.loads(AP.assess_sync(text, settings=settings).model_dump_json())
        reader = {key: result["risk"]["reader"][key] for key in ("status", "sign_count")}
        value = told(result) | {"reader": reader, "statement": result["risk"]["statement"]}
        yield Answer(name=f"learned_reader/{name}", value=value, given=[text])


def _answer(name: str, call: Call, folder: Path) -> Answer:
    masks = folder_masks(folder, TRANSCRIPTS, EXAMPLES)
    return Answer(name=name, value=came_to(call), given=[_SAID, _UNKNOWN], masks=masks)


def _shown(result: Any) -> object:
    return {"repr": repr(result), "str": str(result), "html": result._repr_html_()}
