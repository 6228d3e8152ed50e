"""The page of what is seen from outside lists all of it, and nothing else."""

import re
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from ai_psychiatrist.infrastructure.telemetry.prometheus import PrometheusCounts
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.fakes.otlp_collector import OtlpCollector
from tests.integration.pages import ROOT
from tests.integration.running_app import client_of, model_at, settings_with

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
BODY = {"transcript_text": "Interviewer: How are you?\nParticipant: I am tired every day.\n"}
_NAME = re.compile(r"`([^`]+)`")
_PROMETHEUS = re.compile(r"ai_psychiatrist_[a-z_]+")


def section(heading: str) -> str:
    """Return what stands under a heading of the page."""
    return PAGE.split(f"\n### {heading}\n")[1].split("\n### ")[0]


def rows(heading: str, *, column: int) -> dict[str, set[str]]:
    """Return the names in one column of a table, by the name in its first."""
    lines = [
        line.strip("|").split("|") for line in section(heading).splitlines() if line[:3] == "| `"
    ]
    return {_NAME.findall(cells[0])[0]: set(_NAME.findall(cells[column])) for cells in lines}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> OtlpCollector:
    """A collector that has got whole and failed assessments."""
    with OtlpCollector() as collector, ModelServerThread() as models:
        settings = settings_with(
            tmp_path_factory.mktemp("state"),
            **model_at(models.url),
            TELEMETRY_EXPORT="true",
            TELEMETRY_ENDPOINT=collector.url,
        )
        with client_of(settings) as client:
            for script in (good_replies(), FAULTS["status_500"]):
                models.server.script = script
                client.post("/full_pipeline", json=BODY)
    return collector


def test_every_span_and_its_attributes_are_listed(seen: OtlpCollector) -> None:
    patterns = {
        "GET /": "{method} {route}",
        "POST /": "{method} {route}",
        "invoke_workflow": "invoke_workflow assessment",
        "invoke_agent": "invoke_agent {agent}",
        "chat": "chat {model}",
    }
    found: dict[str, set[str]] = {}
    for span in seen.spans:
        (pattern,) = {said for start, said in patterns.items() if span.name.startswith(start)}
        found.setdefault(pattern, set()).update(span.attributes)
    listed = rows("Spans", column=2)
    assert found.keys() == listed.keys()
    for pattern, attributes in listed.items():
        # The server of this test has no cache.
        cached = {"gen_ai.usage.cache_read.input_tokens"}
        assert found[pattern] - {"error.type"} == attributes - cached


def test_every_metric_of_opentelemetry_is_listed(seen: OtlpCollector) -> None:
    listed = rows("Metrics by OpenTelemetry", column=2)
    found = {
        name: {key for attributes, _ in seen.points(name) for key in attributes}
        for name in seen.metric_names()
    }
    assert found == listed


def test_every_metric_of_prometheus_and_its_labels_are_listed() -> None:
    metrics = _own(PrometheusCounts())
    listed = rows("Metrics of Prometheus", column=1)
    assert metrics == listed


def test_alerts_and_examples_name_metrics_that_there_are() -> None:
    names = set(_own(PrometheusCounts()))
    assert set(_PROMETHEUS.findall(PAGE)) <= names


def test_examples_are_yaml_with_three_rules() -> None:
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    scrape: dict[str, Any]
    rules: dict[str, Any]
    (scrape,) = [block for block in blocks if "scrape_configs" in block]
    (rules,) = [block for block in blocks if "groups" in block]
    assert scrape["scrape_configs"][0]["metrics_path"] == "/metrics"
    assert len(rules["groups"][0]["rules"]) == 3


def _own(counts: PrometheusCounts) -> dict[str, set[str]]:
    """Return our metrics as the text names them, and their labels."""
    found = {}
    for metric in list(vars(counts.registry)["_collector_to_names"]):
        if isinstance(metric, MetricWrapperBase):
            (family,) = metric.describe()
            suffix = "_total" if family.type == "counter" else ""
            found[family.name + suffix] = set(vars(metric)["_labelnames"])
    return found
