"""Units that a pipeline file declares, or a file of lines holds."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError
from ai_psychiatrist.pipelines.units import declared_units, units_in
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.validation.config.pipeline_file import Processing

ITEMS = """\
people:
  - {id: elder, name: Wise Elder}
  - {id: 7, name: Seven, unit_id: other}
moods:
  - {id: calm, name: Calm}
  - {id: cross, name: Cross}
dated:
  - {id: a, day: 2026-01-01}
nameless:
  - {name: nobody}
flat: [elder]
"""


def declared(folder: Path, **processing: Any) -> list[tuple[str, dict[str, object]]]:
    (folder / "items.yaml").write_text(ITEMS, "utf-8")
    processing = {"items": {"source": "items.yaml", "key": "people"}} | processing
    units = declared_units(Processing.model_validate(processing), folder)
    return [(unit.unit_id, unit.fields) for unit in units]


def test_each_item_is_a_unit_with_its_own_fields(tmp_path: Path) -> None:
    assert declared(tmp_path) == [
        ("elder", {"id": "elder", "name": "Wise Elder"}),
        ("7", {"id": 7, "name": "Seven"}),
    ]


def test_repeated_units_have_ids_of_their_own_and_come_after_all_have_come_once(
    tmp_path: Path,
) -> None:
    found = [unit_id for unit_id, _ in declared(tmp_path, repeat=2)]
    assert found == ["elder__rep0001", "7__rep0001", "elder__rep0002", "7__rep0002"]


def test_units_of_a_cross_product_hold_each_positions_fields_under_its_name(tmp_path: Path) -> None:
    positions = [{"name": "who", "source_key": "people"}, {"name": "mood", "source_key": "moods"}]
    found = declared(
        tmp_path, strategy="cross_product", positions=positions, items={"source": "items.yaml"}
    )
    assert [unit_id for unit_id, _ in found] == [
        "elder-calm",
        "elder-cross",
        "7-calm",
        "7-cross",
    ]
    assert found[1][1] == {
        "who": {"id": "elder", "name": "Wise Elder"},
        "mood": {"id": "cross", "name": "Cross"},
    }


def test_the_field_that_names_units_can_be_chosen(tmp_path: Path) -> None:
    items = {"source": "items.yaml", "key": "people", "name_field": "name"}
    assert [unit_id for unit_id, _ in declared(tmp_path, items=items)] == ["Wise Elder", "Seven"]


@pytest.mark.parametrize(
    ("processing", "told"),
    [
        pytest.param({"items": {}}, "declares no units", id="no source"),
        pytest.param({"items": {"source": "none.yaml"}}, "none.yaml cannot be used", id="no file"),
        pytest.param({"items": {"source": "items.yaml"}}, "holds no list", id="no key"),
        pytest.param({"items": {"source": "items.yaml", "key": "x"}}, "under 'x'", id="other key"),
        pytest.param(
            {"items": {"source": "items.yaml", "key": "flat"}}, "item 1 of 'flat'", id="no mapping"
        ),
        pytest.param(
            {"items": {"source": "items.yaml", "key": "nameless"}}, "has no 'id'", id="no id"
        ),
        pytest.param({"items": {"source": "items.yaml", "key": "dated"}}, "in quotes", id="a date"),
        pytest.param({"strategy": "cross_product"}, "there are no units", id="no positions"),
    ],
)
def test_items_that_make_no_units_are_refused_by_name(
    tmp_path: Path, processing: dict[str, object], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        declared(tmp_path, **processing)


def test_an_id_names_one_unit(tmp_path: Path) -> None:
    (tmp_path / "items.yaml").write_text("a: [{id: x}, {id: x}]", "utf-8")
    processing = Processing.model_validate({"items": {"source": "items.yaml", "key": "a"}})
    with pytest.raises(ConfigurationError, match="two units 'x'"):
        list(declared_units(processing, tmp_path))


@pytest.mark.parametrize(
    "content",
    ["", "nothing", '{"topic": "no id"}', '{"unit_id": "a"}\n{"unit_id": "a"}'],
    ids=["empty", "no JSON", "no id", "twice"],
)
def test_files_that_hold_no_units_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "units.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(AssessmentServiceError):
        list(units_in(path))


def test_lines_are_units_without_what_a_host_adds(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    path.write_text(json.dumps({"unit_id": 7, "topic": "sleep", "_metadata": {}}), "utf-8")
    assert [(unit.unit_id, unit.fields) for unit in units_in(path)] == [("7", {"topic": "sleep"})]


@pytest.mark.skipif("TEST_DATA_DIR" not in os.environ, reason="needs TEST_DATA_DIR/octobatch")
def test_real_pipelines_declare_their_units() -> None:
    folder = Path(os.environ["TEST_DATA_DIR"]) / "octobatch"
    counts = {}
    for name in ("NPCDialog", "Blackjack", "DrunkenSailor"):
        processing = load_pipeline(folder / name / "config.yaml").file.processing
        counts[name] = len(list(declared_units(processing, folder / name)))
    assert counts == {"NPCDialog": 60, "Blackjack": 900, "DrunkenSailor": 100}
