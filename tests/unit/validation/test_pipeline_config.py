from pathlib import Path

import pytest
from tests.conftest import EXAMPLES
from tests.fakes.pipeline_folder import PIPELINE, SCHEMA, changed, written

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, STRICT, CoercionProfile
from ai_psychiatrist.validation.checks.field_kinds import EnumRule, RangeRule, TypeRule
from ai_psychiatrist.validation.checks.rules import RuleLevel
from ai_psychiatrist.validation.checks.step_config import RuleBlock
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline
from ai_psychiatrist.validation.config.retry_limits import RetryLimits


def block_of(folder: Path, pipeline: str = PIPELINE) -> RuleBlock:
    """Return the rule block of the one step."""
    block = load_pipeline(written(folder, pipeline)).step("rate").rules
    assert block is not None
    return block


def test_a_step_holds_what_every_section_says_of_it(tmp_path: Path) -> None:
    pipeline = load_pipeline(written(tmp_path))
    step = pipeline.step("rate")
    assert pipeline.steps == (step,)
    assert (step.name, step.scope, step.schema_name) == ("rate", "llm", "rate.json")
    assert step.schema == SCHEMA
    assert step.template == tmp_path / "templates" / "rate.jinja2"
    block = block_of(tmp_path)
    assert block.required == ("score", "tone")
    assert block.types == {"score": TypeRule(("integer",))}
    assert block.enums == {"tone": EnumRule(values=("warm", "cold"))}
    assert block.ranges == {"score": RangeRule.model_validate([0, 3])}
    assert block.coerce == DEFAULT
    (rule,) = block.rules
    assert (rule.name, rule.level, rule.when) == (
        "above_threshold",
        RuleLevel.ERROR,
        "has(threshold)",
    )


@pytest.mark.parametrize(
    ("written_as", "types"),
    [
        pytest.param('[integer, "null"]', ("integer", "null"), id="list"),
        pytest.param("[integer, null]", ("integer", "null"), id="list_with_an_unquoted_null"),
        pytest.param("integer|null", ("integer", "null"), id="text"),
        pytest.param("integer | null | integer", ("integer", "null"), id="text_with_spaces"),
    ],
)
def test_types_may_be_unions_with_null(
    tmp_path: Path, written_as: str, types: tuple[str, ...]
) -> None:
    pipeline = changed("      score: integer\n", f"      score: {written_as}\n")
    assert block_of(tmp_path, pipeline).types["score"].root == types


@pytest.mark.parametrize(
    ("written_as", "limits"),
    [
        pytest.param("[1, 2.5]", {"low": 1, "high": 2.5}, id="both_ends"),
        pytest.param("[0, null]", {"low": 0, "high": None}, id="open_above"),
        pytest.param("{max: 3}", {"low": None, "high": 3}, id="open_below"),
        pytest.param(
            "{exclusive_min: 0, max: 1}",
            {"low": 0, "high": 1, "is_low_open": True},
            id="without_its_low_end",
        ),
        pytest.param(
            "{min: 0, exclusive_max: 1}",
            {"low": 0, "high": 1, "is_high_open": True},
            id="without_its_high_end",
        ),
    ],
)
def test_ranges_may_be_open_and_exclude_their_ends(
    tmp_path: Path, written_as: str, limits: dict[str, object]
) -> None:
    pipeline = changed("      score: [0, 3]\n", f"      score: {written_as}\n")
    assert block_of(tmp_path, pipeline).ranges["score"].model_dump(exclude_defaults=True) == limits


def test_an_enum_may_be_matched_exactly(tmp_path: Path) -> None:
    pipeline = changed("      tone: [warm, cold]\n", "      tone: {values: [warm], match: none}\n")
    assert block_of(tmp_path, pipeline).enums == {"tone": EnumRule(values=("warm",), match="none")}


@pytest.mark.parametrize(
    ("written_as", "profile"),
    [
        pytest.param("{profile: default}", DEFAULT, id="default"),
        pytest.param("{profile: strict}", STRICT, id="strict"),
        pytest.param(
            "{enum_prefixes: ['shadow '], enum_split: ' | '}",
            CoercionProfile(enum_prefixes=("shadow ",), enum_split=" | "),
            id="enum_spellings",
        ),
        pytest.param("{enum_prefixes: [], enum_split: null}", DEFAULT, id="defaults_in_words"),
    ],
)
def test_coercion_follows_a_profile(
    tmp_path: Path, written_as: str, profile: CoercionProfile
) -> None:
    pipeline = changed("    rules:\n", f"    coerce: {written_as}\n    rules:\n")
    assert block_of(tmp_path, pipeline).coerce == profile


def test_inherited_and_protected_names_are_kept(tmp_path: Path) -> None:
    pipeline = changed("required: [score, tone]", "required: [score, topic]").replace(
        "    rules:\n", "    inherited: [topic]\n    protected: [threshold]\n    rules:\n"
    )
    block = block_of(tmp_path, pipeline)
    assert (block.inherited, block.protected) == (("topic",), ("threshold",))


TWO_STEPS = """\
pipeline:
  steps: [{name: first}, {name: second}]
prompts: {template_dir: ., templates: {first: first.jinja2, second: first.jinja2}}
schemas: {schema_dir: ., files: {first: first.json, second: second.json}}
api: {}
processing: {inputs: [topic, said]}
validation:
  first: {required: [score]}
  second: {required: [WANTED, reason]}
"""


def test_a_step_may_require_what_an_earlier_one_answers_and_only_that(tmp_path: Path) -> None:
    (tmp_path / "first.jinja2").write_text("{{ topic }} {{ said }}")
    for name, field in (("first", "score"), ("second", "reason")):
        (tmp_path / f"{name}.json").write_text(f'{{"properties": {{"{field}": {{}}}}}}')
    file = tmp_path / "pipeline.yaml"
    context = {"topic": "sleep", "said": "badly", "score": 3}
    for wanted, codes, is_valid in (("score", [], True), ("said", ["required_of_context"], False)):
        file.write_text(TWO_STEPS.replace("WANTED", wanted))
        assert [problem.code for problem in lint_pipeline(file)] == codes
        second = StepValidator(load_pipeline(file).step("second"))
        assert second.check_object({"reason": "r"}, context=context).is_valid == is_valid
        assert not second.check_object({"reason": "r"}, context={"topic": "sleep"}).is_valid


def test_a_block_that_is_opted_out_of_is_empty_and_not_missing(tmp_path: Path) -> None:
    pipeline = PIPELINE[: PIPELINE.index("validation:")] + "validation: {rate: none}\n"
    block = block_of(tmp_path, pipeline)
    assert block == RuleBlock()


def test_limits_are_read_and_have_defaults(tmp_path: Path) -> None:
    pipeline = load_pipeline(written(tmp_path))
    assert pipeline.retry == RetryLimits(provider_attempts=2, validation_attempts=3)
    assert pipeline.deadline_seconds == 600
    more = changed("api:\n", "api:\n  subprocess_timeout_seconds: 1.5\n").replace(
        "processing:\n", "processing:\n  validation_retry: {max_attempts: 7}\n"
    )
    pipeline = load_pipeline(written(tmp_path, more))
    assert pipeline.retry.validation_attempts == 7
    assert pipeline.deadline_seconds == 1.5


def test_a_step_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    pipeline = load_pipeline(written(tmp_path))
    with pytest.raises(ConfigurationError, match=r"no step 'rat'; did you mean 'rate'.*: rate"):
        pipeline.step("rat")


def test_a_refusal_shows_the_first_errors_with_their_lines(tmp_path: Path) -> None:
    rules = "".join("      - {name: '', expr: x, error: y}\n" for _ in range(7))
    path = written(tmp_path, changed("    rules:\n", f"    rules:\n{rules}"))
    errors = [problem for problem in lint_pipeline(path) if problem.is_error]
    with pytest.raises(ConfigurationError) as refused:
        load_pipeline(path)
    lines = str(refused.value).splitlines()
    assert lines[0] == "the pipeline pipeline.yaml cannot be used"
    assert lines[1].startswith(f"  pipeline.yaml:{errors[0].line}:")
    assert len(lines) == 7
    assert lines[-1] == f"  and {len(errors) - 5} more; see lint-config"


def test_warnings_do_not_refuse_a_pipeline(tmp_path: Path) -> None:
    path = written(tmp_path, changed("[topic, threshold]", "[topic, threshold, mood]"))
    assert lint_pipeline(path)
    assert load_pipeline(path).step("rate")


def test_the_digest_follows_the_file_and_its_schemas_alone(tmp_path: Path) -> None:
    first = load_pipeline(written(tmp_path)).digest
    assert load_pipeline(written(tmp_path, template="{{ topic }}, please.")).digest == first
    assert load_pipeline(written(tmp_path, f"# more\n{PIPELINE}")).digest != first
    assert load_pipeline(written(tmp_path, schema=SCHEMA | {"title": "x"})).digest != first


def test_the_checks_of_a_run_that_is_there_keep_their_digest(tmp_path: Path) -> None:
    """Ledgers know the rules of an answer by it."""
    digest = StepValidator(load_pipeline(written(tmp_path)).step("rate")).ruleset_digest
    assert digest == "96755e12fd5b111687e4ee2ab377d629fa77c648a0e969f6cdef6e62d5367a1d"


def test_every_file_of_a_pipeline_is_listed(tmp_path: Path) -> None:
    names = [path.name for path in load_pipeline(written(tmp_path)).files]
    assert names == ["pipeline.yaml", "rate.json", "rate.jinja2"]


@pytest.mark.parametrize("name", ["Blackjack", "DrunkenSailor", "NPCDialog"])
def test_public_pipelines_load_without_problems(public_data: Path, name: str) -> None:
    path = public_data / "octobatch" / name / "config.yaml"
    assert lint_pipeline(path) == []
    steps = load_pipeline(path).steps
    assert any(step.scope == "llm" and step.rules is not None for step in steps)


def test_the_example_loads_without_problems_and_judges_its_answers() -> None:
    folder = EXAMPLES / "pipeline"
    assert lint_pipeline(folder / "pipeline.yaml") == []
    validator = StepValidator(load_pipeline(folder / "pipeline.yaml").step("rate_sleep"))
    context = {"excerpt": "I wake up nearly every night.", "min_quotes": 1, "excerpt_words": 6}
    answer = (
        '{"status": "rated", "score": "3", "tone": "Resigned", "quotes": ["nearly every night"]}'
    )
    valid = validator.check_text(answer, context=context)
    assert valid.stage is None
    assert valid.value is not None
    assert (valid.value["score"], valid.value["tone"]) == (3, "resigned")
    made_up = validator.check_text(answer.replace("nearly every", "every single"), context=context)
    assert made_up.stage is FailureStage.VALIDATION
    assert [error.rule for error in made_up.errors] == ["quotes_are_in_the_excerpt"]
