"""A fit from labelled interviews of known truth, made and used through the Python interface."""

import asyncio
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.distribution.fit import Fit
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.calibration_fit import fit_distributions
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.measuring import measure_run
from ai_psychiatrist.evaluation.runs.units_file import read_labels
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from tests.fakes.references import made_references, shown_by
from tests.fakes.run_labels import relabel
from tests.integration.command_here import run_here as run_command

OFTEN = ("I sleep well.", "I sleep badly some days.", "I hardly sleep, most days.")
EVERY = "I hardly sleep, nearly every day."
ENOUGH = 44


def talk(place: int) -> str:
    words = (*OFTEN, EVERY)[place % 4]
    return f"Interviewer: How do you sleep?\nParticipant: {words} My number is {place}.\n"


def truth(place: int) -> Labels:
    """Say what was said, but for each seventh, who says too little."""
    sleep = min(3, place % 4 + (place % 7 == 0))
    scores: dict[Item, int | None] = dict.fromkeys(Item, place % 3)
    return Labels(items=scores | {Item.SLEEP: sleep}, total=None, binary=None)


@dataclass(frozen=True, kw_only=True)
class Made:
    folder: Path
    run: Path
    fit: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("belief")
    talks = folder / "talks.jsonl"
    units = ({"id": f"u{place:02}", "text": talk(place)} for place in range(ENOUGH))
    talks.write_text("".join(f"{json.dumps(unit)}\n" for unit in units), "utf-8")
    run = folder / "run"

    async def assessed() -> None:
        settings = ap.load_settings({"DATA_STATE_DIR": str(folder / "state")}, None)
        async with ap.open(settings) as app:
            await app.evaluate(talks, run)

    asyncio.run(assessed())
    relabel(run, {f"u{place:02}": truth(place) for place in range(ENOUGH)})
    fit_distributions([run], level=0.9, out=folder / "fit.json")
    return Made(folder=folder, run=run, fit=folder / "fit.json")


def assessed(made: Made, mode: str | None = None, **variables: str) -> Assessment:
    given = {"DATA_STATE_DIR": str(made.folder / "state"), "BELIEF_FIT": str(made.fit), **variables}

    async def run() -> Assessment:
        async with ap.open(ap.load_settings(given, None)) as app:
            return await app.assess(talk(3), mode=mode)

    return asyncio.run(run())


@contextmanager
def changed(made: Made, folder: Path, **parts: object) -> Iterator[str]:
    path = folder / "other.json"
    path.write_text(json.dumps(json.loads(made.fit.read_bytes()) | parts), "utf-8")
    yield str(path)


def test_a_fit_foretells_those_it_had_not_seen_better_than_the_belief_as_it_was(made: Made) -> None:
    fit = Fit.model_validate_json(made.fit.read_bytes())
    assert fit.participants == ENOUGH
    assert fit.figures["log_loss_after"] < fit.figures["log_loss_before"]
    (stratum,) = fit.strata.values()
    assert stratum.coverage == pytest.approx(0.9, abs=0.06)
    assert 0 < stratum.spread < 0.1


def test_an_assessment_with_a_fit_is_recalibrated_and_has_sets(made: Made) -> None:
    result = assessed(made)
    assert result.quantitative is not None
    for item in result.quantitative.items.values():
        assert item.belief is not None
        assert item.belief.calibrated
        assert item.belief.set is not None
        assert item.belief.set.level == 0.9
    sleep = result.quantitative.items[Item.SLEEP].belief
    assert sleep is not None
    assert sleep.set is not None
    assert sleep.set.high == 3


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        pytest.param({"MODEL_DEFAULT": "ollama:gemma3"}, "models", id="other_models"),
        pytest.param(
            {
                "BELIEF_SOURCES": "decision",
                "BELIEF_DECISION_MODEL": "rater",
                "BELIEF_DECISION_URL": "http://127.0.0.1:9",
            },
            "sources",
            id="other_sources",
        ),
    ],
)
def test_a_fit_for_beliefs_by_other_means_is_refused_at_start(
    made: Made, variables: dict[str, str], named: str
) -> None:
    with pytest.raises(ArtifactMismatch, match=named):
        assessed(made, **variables)


def calibrated(result: Assessment) -> set[bool]:
    assert result.quantitative is not None
    beliefs = [item.belief for item in result.quantitative.items.values()]
    return {belief.calibrated for belief in beliefs if belief is not None}


@pytest.mark.parametrize("mode", AssessmentMode)
def test_a_fit_says_nothing_of_results_of_another_mode(
    made: Made, tmp_path: Path, mode: AssessmentMode
) -> None:
    made_references(tmp_path / "refs")
    result = assessed(made, mode, **shown_by(tmp_path / "refs"))
    assert result.mode == mode
    assert calibrated(result) == {mode is AssessmentMode.ZERO_SHOT}


@pytest.mark.parametrize("by", ["few_shot", "random_references"])
def test_a_fit_is_for_the_mode_of_its_run(made: Made, tmp_path: Path, by: str) -> None:
    """Two modes that show references ask in the same words; their scores are others all the same.

    Only `few_shot` can be what is assessed in where nobody names a mode, as which a fit is read.
    """
    made_references(tmp_path / "refs")
    shown = shown_by(tmp_path / "refs") | {"DATA_STATE_DIR": str(tmp_path / "state")}
    run, fit = tmp_path / "run", tmp_path / "fit.json"

    async def ran() -> None:
        async with ap.open(ap.load_settings(shown, None)) as app:
            await app.evaluate(made.folder / "talks.jsonl", run, mode=by)

    asyncio.run(ran())
    relabel(run, read_labels(made.run / "labels.jsonl"))
    with pytest.raises(ArtifactMismatch, match="other means"):
        fit_distributions([made.run, run], level=0.9)
    fit_distributions([run], level=0.9, out=fit)
    by_default = shown | {"BELIEF_FIT": str(fit), "ENABLE_FEW_SHOT": "true"}
    if by == "random_references":
        with pytest.raises(ArtifactMismatch, match="other mode"):
            assessed(made, **by_default)
        return
    assert calibrated(assessed(made, **by_default)) == {True}
    assert calibrated(assessed(made, "random_references", **by_default)) == {False}
    assert calibrated(assessed(made, "zero_shot", **by_default)) == {False}
    with pytest.raises(ArtifactMismatch, match="mode"):
        assessed(made, **shown, BELIEF_FIT=str(fit))


@pytest.mark.parametrize(
    ("part", "other"), [("prompts", {"quantitative": "0"}), ("rules", "0" * 64)]
)
def test_a_fit_for_other_prompts_or_rules_is_refused_at_start(
    made: Made, tmp_path: Path, part: str, other: object
) -> None:
    by = json.loads(made.fit.read_bytes())["made_by"]
    assert by[part]
    with (
        changed(made, tmp_path, made_by=by | {part: other}, digest="0") as path,
        pytest.raises(ArtifactMismatch, match=f"other {part};"),
    ):
        assessed(made, BELIEF_FIT=path)


def test_a_file_that_is_no_fit_is_refused_at_start(made: Made, tmp_path: Path) -> None:
    with (
        changed(made, tmp_path, level=7) as path,
        pytest.raises(ConfigurationError, match="no fit"),
    ):
        assessed(made, BELIEF_FIT=path)
    with pytest.raises(ConfigurationError, match="no file"):
        assessed(made, BELIEF_FIT=str(tmp_path / "nowhere.json"))


def test_a_participant_of_several_interviews_counts_once(made: Made, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    found = fit_distributions([made.run, run], level=0.9)
    assert found.participants == ENOUGH
    assert found.items == 2 * ENOUGH * 8


def test_below_forty_participants_the_belief_is_told_as_it_is(made: Made, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    labels = read_labels(run / "labels.jsonl")
    relabel(run, dict(list(labels.items())[:39]))
    done = run_command(["evaluate", "belief", "run", "--out", "fit.json"], tmp_path)
    assert done.code == 2
    assert "uncalibrated" in done.out
    assert "39 labelled participants" in done.err
    assert not (tmp_path / "fit.json").exists()


def test_runs_whose_beliefs_were_made_by_other_means_are_not_fitted_together(
    made: Made, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    record = json.loads((run / "run.json").read_bytes())
    record["models"]["quantitative"] = ["ollama:other"]
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(ArtifactMismatch, match="other means"):
        fit_distributions([made.run, run], level=0.9)


def test_a_run_without_labels_is_refused(made: Made, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    relabel(run, {})
    with pytest.raises(InputError, match="label"):
        fit_distributions([run], level=0.9)


def test_errors_are_ranked_by_belief_beside_the_other_signals(made: Made) -> None:
    found = measure_run(made.run).metrics.part("selective", "by_signal", "belief")
    assert found.figure("charged_aurc").value is not None


def test_predictions_and_table_have_belief(made: Made, tmp_path: Path) -> None:
    unit, *_ = read_predictions(made.run / "predictions.jsonl")
    belief = unit.items[Item.SLEEP].belief
    assert belief is not None
    assert belief.of(unit.score(Item.SLEEP)) == max(belief.probabilities)
    done = run_command(["evaluate", "table", str(made.run), "--out", "run.csv"], tmp_path)
    assert done.code == 0
    header, row, *_ = (tmp_path / "run.csv").read_text().splitlines()
    cells = dict(zip(header.split(","), row.split(","), strict=True))
    shares = [float(cells[f"belief_PHQ8_Sleep_{answer}"]) for answer in (0, 1, 2, 3, "unknown")]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert cells["set_PHQ8_Sleep"] == ""


def copied(made: Made, folder: Path, keep: slice, **dataset: str) -> Path:
    """Copy a run with some of its labels, and of another dataset."""
    shutil.copytree(made.run, folder)
    labels = read_labels(folder / "labels.jsonl")
    relabel(folder, dict(list(labels.items())[keep]))
    record = json.loads((folder / "run.json").read_bytes())
    record["dataset"] |= dataset
    (folder / "run.json").write_text(json.dumps(record), "utf-8")
    return folder


def with_other_texts(run: Path) -> Path:
    lines = (run / "units.jsonl").read_text("utf-8").splitlines()
    units = [json.loads(line) | {"text_digest": f"{at:032}"} for at, line in enumerate(lines)]
    (run / "units.jsonl").write_text("".join(f"{json.dumps(unit)}\n" for unit in units), "utf-8")
    return run


@pytest.mark.parametrize(
    ("dataset", "participants"),
    [
        pytest.param({"digest": "1" * 64}, 30, id="a_dataset_that_has_grown"),
        pytest.param({"digest": "1" * 64, "name": "copy.jsonl"}, 30, id="a_copy_of_a_dataset"),
    ],
)
def test_whoever_is_in_two_datasets_is_one_person(
    made: Made, tmp_path: Path, dataset: dict[str, str], participants: int
) -> None:
    """Else fewer than 40 would pass for 40, and their interviews fall into several folds."""
    first = copied(made, tmp_path / "first", slice(25))
    other = copied(made, tmp_path / "other", slice(30), **dataset)
    found = fit_distributions([first, other], level=0.9)
    assert found.participants == participants
    assert found.fit is None


def test_a_grown_dataset_with_other_wordings_has_the_same_people(
    made: Made, tmp_path: Path
) -> None:
    first = copied(made, tmp_path / "first", slice(25))
    other = with_other_texts(copied(made, tmp_path / "other", slice(30), digest="1" * 64))
    assert fit_distributions([first, other], level=0.9).participants == 30


def test_people_of_one_id_in_other_datasets_with_other_interviews_are_others(
    made: Made, tmp_path: Path
) -> None:
    first = copied(made, tmp_path / "first", slice(25))
    folder = copied(made, tmp_path / "other", slice(30), digest="1" * 64, name="clinic.jsonl")
    assert fit_distributions([first, with_other_texts(folder)], level=0.9).participants == 55


def recalibration(made: Made, **parts: object) -> dict[str, object]:
    kept: dict[str, object] = json.loads(made.fit.read_bytes())["recalibration"]
    return kept | parts


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"means": [0.0] * 10}, id="means_too_few"),
        pytest.param({"scales": [1.0] * 3}, id="scales_too_few"),
        pytest.param({"weights": [0.0] * 12}, id="weights_too_many"),
        pytest.param({"thresholds": [1.0, 0.0, -1.0]}, id="thresholds_that_fall"),
        pytest.param({"weights": [1e308, -1e308] * 5 + [1e308]}, id="weights_without_end"),
        pytest.param({"scales": [1e-320] * 11}, id="scales_of_nothing"),
        pytest.param({"means": [float("nan")] * 11}, id="means_that_are_no_number"),
    ],
)
def test_a_fit_that_cannot_be_reckoned_with_is_refused_at_start(
    made: Made, tmp_path: Path, parts: dict[str, object]
) -> None:
    """Not in the middle of the first assessment, and never as a certainty."""
    with (
        changed(made, tmp_path, recalibration=recalibration(made, **parts)) as path,
        pytest.raises(ConfigurationError, match="no fit"),
    ):
        assessed(made, BELIEF_FIT=path)


def test_a_fit_that_was_changed_by_hand_is_refused_at_start(made: Made, tmp_path: Path) -> None:
    parts = recalibration(made, weights=[0.5] * 11)
    with (
        changed(made, tmp_path, recalibration=parts) as path,
        pytest.raises(ArtifactMismatch, match="was changed; make it again"),
    ):
        assessed(made, BELIEF_FIT=path)


def test_beliefs_that_add_up_to_nothing_are_refused(made: Made, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made.run, run)
    lines = (run / "predictions.jsonl").read_text("utf-8").splitlines()
    unit = json.loads(lines[2])
    unit["items"]["PHQ8_Sleep"]["belief"]["raw"] = [0.0] * 5
    lines[2] = json.dumps(unit)
    (run / "predictions.jsonl").write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError, match="line 3"):
        fit_distributions([run], level=0.9)


def test_a_run_that_went_on_with_other_prompts_is_not_fitted(made: Made, tmp_path: Path) -> None:
    run = copied(made, tmp_path / "run", slice(ENOUGH))
    record = json.loads((run / "run.json").read_bytes())
    record["changes"] = [{"prompts": record["prompts"] | {"quantitative": "0"}}]
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(ArtifactMismatch, match="went on"):
        fit_distributions([run], level=0.9)


def test_the_command_says_what_sets_hold_of_each_score_and_when_people_are_too_few(
    made: Made, tmp_path: Path
) -> None:
    done = run_command(["evaluate", "belief", str(made.run)], tmp_path)
    (line,) = [line for line in done.out.splitlines() if "true scores" in line]
    (stratum,) = Fit.model_validate_json(made.fit.read_bytes()).strata.values()
    for score, share in enumerate(stratum.coverage_by_score):
        assert f"{score} in {share:.0%}" in line
    few = run_command(["evaluate", "belief", str(made.run), "--level", "0.99"], tmp_path)
    assert "take 99 people" in few.out


def test_a_fit_that_is_worse_than_none_is_not_recommended(made: Made, tmp_path: Path) -> None:
    """The truths are drawn from the distributions as they are, so that no fit can be nearer."""
    run, drawn = tmp_path / "run", random.Random(1)  # noqa: S311  no secret
    shutil.copytree(made.run, run)
    truths: dict[str, Labels] = {}
    for one in read_predictions(run / "predictions.jsonl"):
        beliefs = {item: found.belief for item, found in one.items.items() if found.belief}
        scores = {
            item: drawn.choices(range(4), belief.raw[:4])[0] for item, belief in beliefs.items()
        }
        truths[one.unit_id] = Labels(items=dict(scores), total=None, binary=None)
    relabel(run, truths)
    done = run_command(["evaluate", "belief", "run", "--out", "fit.json"], tmp_path)
    assert "Warning: on these interviews the fit is worse than none: log loss (" in done.out
    assert "fit.json; not advised: BELIEF_FIT=fit.json" in done.out


def test_a_run_that_is_given_twice_is_refused(made: Made) -> None:
    with pytest.raises(InputError, match="twice"):
        fit_distributions([made.run, made.run.parent / "." / made.run.name], level=0.9)
