"""Pipelines that are run with a scripted model: what is asked, kept, gone on with and refused."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.pipeline_replies import ANSWERS, step_of, step_reply
from tests.golden.answer import Answer, Json
from tests.golden.validations_ways import commands_answer, files_in, lines_of
from tests.golden.ways import EXAMPLES, Ended, model_server, run, scratch

_UNITS: Final = ("--units", "context.jsonl")
_ONE: Final = (*_UNITS, "--max-units", "1")
_WAIT: Final = re.compile(r"initial_delay_seconds: \S+")
_OF_ALL: Final = """\
api:
  provider: openai-chat
  model: of-all
  temperature: 0.5
  max_tokens: 300
"""
_SUM_UP: Final = "    - name: sum_up\n"
_OF_THE_STEP: Final = """\
    - name: sum_up
      model: openai-chat:of-the-step
      temperature: 0
      max_tokens: 20
"""
_RATED: Final = {"rate": {"score": 2}, "sum_up": {"summary": "Bad nights."}}


def answers() -> Iterator[Answer]:
    """Yield what comes of running the pipelines of the examples."""
    with scratch() as folder:
        runs = PipelineRuns(folder, EXAMPLES / "pipeline")
        yield from _sound(runs)
        yield from _faults(runs)
        yield from _gone_on(runs)
        yield from _changed(runs)
        yield from _refused(runs)
        two_steps = PipelineRuns(folder, EXAMPLES / "two_steps")
        yield two_steps.case("two_steps/good", _two_steps, _UNITS)
        yield two_steps.case("two_steps/mixed", _two_steps_mixed, _UNITS)


def good(request: Request) -> Reply:
    """Answer every step well."""
    return Reply(text=json.dumps(ANSWERS[step_of(request) or ""]))


class PipelineRuns:
    """Runs a copy of a pipeline, each case in a folder of its own."""

    def __init__(self, folder: Path, example: Path, pipeline: str = "pipeline.yaml") -> None:
        self.folder = folder
        self._example = example
        self._pipeline = pipeline
        self._given = [path.read_text("utf-8") for path in sorted(example.glob("*.jsonl"))]

    def place(self, name: str, *changes: tuple[str, str, str]) -> Path:
        """Copy the pipeline; `changes`: a file, what is there once, and what is put there."""
        place = self.folder / name.replace("/", "_")
        shutil.copytree(self._example, place)
        config = place / self._pipeline
        text = config.read_text("utf-8")
        text = _WAIT.sub("initial_delay_seconds: 0.01", text)
        if "initial_delay_seconds" not in text:
            text = text.replace("  retry:\n", "  retry:\n    initial_delay_seconds: 0.01\n")
        config.write_text(text, "utf-8")
        for file, old, new in changes:
            text = (place / file).read_text("utf-8")
            assert old in text, old
            (place / file).write_text(text.replace(old, new, 1), "utf-8")
        return place

    def case(
        self,
        name: str,
        script: Script,
        *commands: Sequence[str],
        changes: Sequence[tuple[str, str, str]] = (),
        settings: Mapping[str, str] | None = None,
        has_prompts: bool = False,
        units: Sequence[Mapping[str, object]] | None = None,
        after: Sequence[Script] = (),
    ) -> Answer:
        """Run the pipeline with each of these options, one after another, in one run.

        `after`: the scripts of the second and later ones; what begins with no dash is another
        command than `pipeline run`.
        """
        place = self.place(name, *changes)
        given = [*self._given]
        if units is not None:
            given.append(lines_of([dict(one) for one in units]))
            (place / "context.jsonl").write_text(given[-1], "utf-8")
        ended: list[Ended] = []
        asked: list[Json] = []
        prompts: Json = None
        with model_server(script) as (server, named):
            scripts = [script, *after]
            for number, options in enumerate(commands):
                server.server.script = scripts[min(number, len(scripts) - 1)]
                is_own = not options or options[0].startswith("-")
                begin = ("pipeline", "run", self._pipeline, "--out", "run") if is_own else ()
                ended.append(run([*begin, *options], place, {**named, **(settings or {})}))
                asked.append(_counted(server.requests))
                if has_prompts:
                    prompts = _prompts(server.requests)
                server.server.reset()
        files = files_in(place / "run") if (place / "run").exists() else {}
        files = {file: one for file, one in files.items() if one != [] and "schemas/" not in file}
        answer = commands_answer(f"run/{name}", place, *ended, given=given, files=files)
        value = {**_mapping(answer.value), "asked": asked}
        if prompts is not None:
            value["prompts"] = prompts
        return Answer(name=answer.name, value=value, given=answer.given, masks=answer.masks)


def _mapping(value: Json) -> dict[str, Json]:
    assert isinstance(value, Mapping)
    return dict(value)


def _counted(requests: Sequence[Request]) -> Json:
    found = Counter(f"{one.body['model']}: {step_of(one)}" for one in requests)
    return dict(sorted(found.items()))


def _prompts(requests: Sequence[Request]) -> Json:
    """Return what was sent, in an order of its own: units are under way at once."""
    sent = [
        {
            **{key: one.body[key] for key in one.body if key != "messages"},
            "messages": [
                {each.role: [line for line in each.content.splitlines() if line.strip()]}
                for each in one.messages
            ],
        }
        for one in requests
    ]
    found: Json = json.loads(json.dumps(sorted(sent, key=json.dumps)))
    return found


def _sound(runs: PipelineRuns) -> Iterator[Answer]:
    yield runs.case("example/good", good, _UNITS, has_prompts=True)
    excerpt = "I slept badly on {} of the last fourteen days, I think."
    units = [{"unit_id": f"u{n}", "excerpt": excerpt.format(n), "min_quotes": 1} for n in range(30)]
    mixed = (*_UNITS, "--concurrency")
    yield runs.case("example/mixed", _mixed, (*mixed, "1"), units=units[:24])
    yield runs.case("example/mixed_at_once", _mixed, (*mixed, "16"), units=units[24:])
    lenient = ("revalidate", "run", "--json")
    yield runs.case("example/mixed_judged_anew", _mixed, _UNITS, lenient, units=units[:6])
    drawn = ("pipeline.yaml", '"len(excerpt.split())"', '"random.choice([50, 60, 70, 80])"')
    for seed in ((), ("--seed", "0"), ("--seed", "1")):
        name = f"example/seed_{seed[-1] if seed else 'unnamed'}"
        yield runs.case(name, good, (*_UNITS, *seed), changes=[drawn])
    changes = [
        ("pipeline.yaml", "api:\n", _OF_ALL),
        ("pipeline.yaml", _SUM_UP, _OF_THE_STEP),
    ]
    yield runs.case("example/models", good, _ONE, changes=changes, has_prompts=True)
    chosen = (*_ONE, "--model", "openai-chat:of-the-option")
    yield runs.case("example/model_option", good, chosen)
    scopes = ("pipeline.yaml", _SUM_UP, f"    - {{name: all, scope: run}}\n{_SUM_UP}")
    yield runs.case("example/left_out", good, _ONE, changes=[scopes])


def _mixed(request: Request) -> Reply:
    return step_reply(step_of(request) or "", request)


def _two_steps(request: Request) -> Reply:
    return Reply(text=json.dumps(_RATED[step_of(request) or ""]))


def _two_steps_mixed(request: Request) -> Reply:
    said = request.messages[1].content
    if step_of(request) == "rate":
        score: Any = None if "Work" in said else 3
        return Reply(text=json.dumps({"score": 9 if "sleep well" in said else score}))
    return Reply(text=json.dumps({"summary": "word " * 9 if "three" in said else "unknown"}))


def _status(status: int) -> Script:
    return lambda _: Reply(status=status, raw_body=b'{"error": {"message": "no"}}')


def _faults(runs: PipelineRuns) -> Iterator[Answer]:
    rated = ANSWERS["rate_sleep"]
    replies: dict[str, Script] = {
        "broken_rule": lambda _: Reply(text=json.dumps({**rated, "score": 7})),
        "prose": lambda _: Reply(text="I would rather not say."),
        "empty": lambda _: Reply(text=""),
        "cut_off": lambda one: Reply(text=good(one).text, finish_reason="length"),
        "key_twice": lambda _: Reply(text='{"status": "na", "status": "rated"}'),
        "page": lambda _: Reply(raw_body=b"<html></html>", content_type="text/html"),
        "reset": lambda _: Reply(text="{}", reset=True),
        **{f"status_{code}": _status(code) for code in (400, 401, 404, 429, 500)},
    }
    for name, script in replies.items():
        is_told = name in ("broken_rule", "prose")
        yield runs.case(f"faults/{name}", script, _ONE, has_prompts=is_told)
    yield runs.case("faults/flaky", _flaky(), (*_ONE, "--concurrency", "1"))
    few = ("pipeline.yaml", "chunk_size: 100", "chunk_size: 2")
    prose = replies["prose"]
    yield runs.case("faults/none_valid", prose, (*_UNITS, "--concurrency", "1"), changes=[few])
    lacking: list[dict[str, object]] = [{"unit_id": "u9", "excerpt": "I slept."}]
    yield runs.case("faults/missing_variable", good, _UNITS, units=lacking)
    divided = ("pipeline.yaml", '"len(excerpt.split())"', '"100 // (min_quotes - 1)"')
    rule = "validation:\n  measure:\n    rules:\n      - {name: few, expr: 'excerpt_words < 100'"
    judged = ("pipeline.yaml", "validation:\n", f"{rule}, error: too many}}\n")
    units = [{"unit_id": f"u{n}", "excerpt": "words", "min_quotes": n} for n in (1, 2, 3)]
    yield runs.case("faults/expressions", good, _UNITS, changes=[divided, judged], units=units)


def _flaky() -> Script:
    left = iter([_status(500), _refusing, _status(500), _refusing])

    def script(request: Request) -> Reply:
        return next(left, good)(request)

    return script


def _refusing(_: Request) -> Reply:
    return Reply(text="no")


def _gone_on(runs: PipelineRuns) -> Iterator[Answer]:
    resume = (*_UNITS, "--resume")
    one_at_a_time = ("--concurrency", "1")
    calls: list[tuple[str, ...]] = [(*_UNITS, "--max-calls", "3", *one_at_a_time)]
    calls += [(*resume, "--max-calls", "3"), (*resume, "--max-calls", "8"), (*resume,)]
    yield runs.case("gone_on/max_calls", good, *calls)
    failed = (*resume, "--retry-failed")
    again: list[tuple[str, ...]] = [_UNITS, resume, failed, failed]
    yield runs.case("gone_on/retry_failed", _status(401), *again, after=[_status(401), good])
    more: list[tuple[str, ...]] = [_ONE, (*resume, "--max-units", "2"), resume]
    yield runs.case("gone_on/max_units", good, *more)
    yield runs.case("gone_on/none", good, (*_UNITS, "--max-calls", "0"), resume)
    others: list[tuple[str, ...]] = [
        _UNITS,
        (*resume, "--model", "ollama:other"),
        (*resume, "--seed", "5"),
        (*resume, "--seed", "0"),
        (*_UNITS, "--retry-failed"),
    ]
    yield runs.case("gone_on/otherwise", good, _ONE, *others)
    exported = [("export", "run", "--out", "run/other", "--retry-failed"), ("export", "run")]
    yield runs.case("gone_on/exported", _mixed, _UNITS, *exported)
    key = {"DATA_KEY_FILE": "key"}
    place = runs.place("sealed")
    (place / "key").write_text("ab" * 32, "ascii")
    with model_server(good) as (_, named):
        begin = ("pipeline", "run", "pipeline.yaml", "--out", "run", *_UNITS)
        sealed = {**named, **key}
        ended = [
            run([*begin, "--max-calls", "5", "--concurrency", "1"], place, sealed),
            run([*begin, "--resume"], place, named),
            run([*begin, "--resume"], place, sealed),
        ]
    files = {"summary": json.loads((place / "run" / "summary.json").read_text("utf-8"))}
    yield commands_answer("run/gone_on/sealed", place, *ended, files=files)


def _changed(runs: PipelineRuns) -> Iterator[Answer]:
    """Yield runs whose files were changed before they were gone on with."""
    for name, (file, old, new) in {
        "unit": ("context.jsonl", "at three", "at four"),
        "template": ("templates/sum_up.jinja2", "Sum this up", "Sum it up"),
        "rules": ("pipeline.yaml", "score: [0, 3]", "score: [0, 2]"),
        "schema": ("schemas/sum_up.json", '"minLength": 1', '"minLength": 2'),
        "comment": ("pipeline.yaml", "# Rates", "# It rates"),
    }.items():
        place = runs.place(f"changed_{name}")
        begin = ("pipeline", "run", "pipeline.yaml", "--out", "run", *_ONE)
        with model_server(good) as (_, named):
            ended = [run(begin, place, named)]
            text = (place / file).read_text("utf-8")
            assert old in text
            (place / file).write_text(text.replace(old, new, 1), "utf-8")
            ended.append(run([*begin, "--resume"], place, named))
        yield commands_answer(f"run/changed/{name}", place, *ended)


def _refused(runs: PipelineRuns) -> Iterator[Answer]:
    config = "pipeline.yaml"
    for name, (old, new) in {
        "fan_out": ("      scope: expression\n", "      scope: fan_out\n"),
        "strategy": ("strategy: direct", "strategy: permutation"),
        "repeat": ("  chunk_size: 100\n", "  repeat: many\n"),
        "level": ("level: warning", "level: fatal"),
    }.items():
        yield runs.case(f"refused/{name}", good, _UNITS, changes=[(config, old, new)])
    yield runs.case("refused/baseline", good, _UNITS, settings={"MODEL_DEFAULT": "baseline"})
    unknown = {"MODEL_DEFAULT": "nobody:fake"}
    yield runs.case("refused/unknown_model", good, _UNITS, settings=unknown)
    yield runs.case("refused/no_units", good, ())
    twice: list[dict[str, object]] = [{"unit_id": "u1", "excerpt": "a", "min_quotes": 1}] * 2
    yield runs.case("refused/two_units", good, _UNITS, units=twice)
    yield runs.case("refused/no_id", good, _UNITS, units=[{"excerpt": "a"}])
    yield runs.case("refused/empty_units", good, _UNITS, units=[])
    for name, options in {
        "no_file": ("--units", "nowhere.jsonl"),
        "no_calls": (*_UNITS, "--max-calls", "-1"),
        "no_concurrency": (*_UNITS, "--concurrency", "0"),
        "resume_nothing": (*_UNITS, "--resume"),
        "retry_failed_alone": (*_UNITS, "--retry-failed"),
    }.items():
        yield runs.case(f"refused/{name}", good, options)
    nowhere = ("pipeline", "run", "nowhere.yaml", "--out", "run")
    yield runs.case("refused/no_pipeline", good, nowhere)
    yield runs.case("refused/no_out", good, ("pipeline", "run", "pipeline.yaml"))
