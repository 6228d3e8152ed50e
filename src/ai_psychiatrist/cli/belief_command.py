"""The command that makes a fit of beliefs from runs over labelled participants."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.console import refusing_bad_input
from ai_psychiatrist.cli.evaluation_options import JsonOption, print_json
from ai_psychiatrist.distribution.fit import LEAST_PARTICIPANTS
from ai_psychiatrist.distribution.scores import least_people
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.measuring import require_extra

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.calibration_fit import CalibrationReport

EXAMPLES = """
Examples:

  ai-psychiatrist evaluate belief runs/first --out fit.json

  ai-psychiatrist evaluate belief runs/train runs/dev --out fit.json --level 0.8

  BELIEF_FIT=fit.json ai-psychiatrist assess interview.txt

Below 40 labelled participants there is no fit, and the beliefs are told as they are.
"""


def belief(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs over labelled interviews.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the fit is written.")
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.99, help="Share of truths that sets are to hold.")
    ] = 0.9,
    as_json: JsonOption = False,
) -> None:
    """Learn from labelled interviews how sure scores are: a fit for BELIEF_FIT."""
    with refusing_bad_input():
        require_extra()
        from ai_psychiatrist.evaluation.calibration_fit import fit_distributions  # noqa: PLC0415

        found = fit_distributions(runs, level=level, out=out)
        if as_json:
            print_json(found.as_json())
        else:
            typer.echo("\n".join(_lines(found, out)))
        if out is not None and found.fit is None:
            msg = (
                f"{found.participants} labelled participants are fewer than the "
                f"{LEAST_PARTICIPANTS} that a fit needs; nothing was written"
            )
            raise InputError(msg, field="RUN")


def _lines(found: "CalibrationReport", out: Path | None) -> list[str]:
    lines = [f"{found.items:,} labelled items of {found.participants:,} participants"]
    raw = ", ".join(f"{_named(name)} {value:.3f}" for name, value in found.raw.items())
    lines.append(f"Belief as it is, uncalibrated: {raw}")
    if found.fit is None:
        lines.append(f"No fit: it needs {LEAST_PARTICIPANTS} labelled participants.")
        return lines
    after = ", ".join(
        f"{_named(name.removesuffix('_after'))} {value:.3f}"
        for name, value in found.fit.figures.items()
        if name.endswith("_after")
    )
    lines.append(f"Recalibrated, on participants whom it had not seen: {after}")
    for name, one in found.fit.strata.items():
        lines.append(
            f"Sets at {found.fit.level:.0%}, {name}: {one.coverage:.1%} of truths held; a cohort "
            f"of {one.participants} lets that vary by ± {one.spread * 100:.1f} points "
            "(standard deviation)"
        )
        wanted = least_people(found.fit.level)
        if one.participants < wanted:
            lines.append(
                f"  Sets of this level take {wanted} people; of fewer, all hold every score"
            )
        held = enumerate(one.coverage_by_score)
        by_score = (f"{score} in {share:.0%}" for score, share in held if share is not None)
        lines.append(f"  Of true scores apart they held {', '.join(by_score)}")
    lines.append("They hold for interviews like these alone: other people, other sets.")
    if out is not None:
        lines.append(f"{out}; use it with BELIEF_FIT={out}")
    return lines


def _named(figure: str) -> str:
    return figure.replace("_", " ")
