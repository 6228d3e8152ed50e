import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.results.schema import (
    ShapeChanged,
    generated_schema,
    kept_schema,
    write_schema,
)


def test_the_kept_schema_is_the_one_of_the_models() -> None:
    assert json.loads(kept_schema()) == generated_schema()


def with_another_field(schema: dict[str, object]) -> None:
    schema["properties"] = {"more": {"type": "string"}}


def with_another_type(schema: dict[str, object]) -> None:
    item = json.loads(json.dumps(schema["$defs"]))
    item["ItemAssessment"]["properties"]["label"]["type"] = "integer"
    schema["$defs"] = item


@pytest.mark.parametrize("change", [with_another_field, with_another_type])
def test_another_shape_is_not_written_under_the_same_version(
    change: Callable[[dict[str, object]], None], tmp_path: Path
) -> None:
    schema = generated_schema()
    write_schema(schema, tmp_path)
    change(schema)
    with pytest.raises(ShapeChanged):
        write_schema(schema, tmp_path)


def test_another_wording_is_written_under_the_same_version(tmp_path: Path) -> None:
    write_schema(generated_schema(), tmp_path)
    reworded = generated_schema() | {"description": "The result of an assessment."}
    write_schema(reworded, tmp_path)
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_bytes()) == reworded


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, example_interview: str) -> Assessment:
    state = tmp_path_factory.mktemp("state")
    settings = ap.load_settings({"DATA_STATE_DIR": str(state)}, None)

    async def assessed() -> Assessment:
        async with ap.open(settings) as app:
            return await app.assess(example_interview)

    return asyncio.run(assessed())


def test_a_result_is_as_its_schema_says(result: Assessment) -> None:
    jsonschema.validate(json.loads(result.model_dump_json()), json.loads(kept_schema()))


def test_a_result_is_the_same_when_it_was_written_and_read(result: Assessment) -> None:
    assert Assessment.model_validate_json(result.model_dump_json()) == result
