"""Templates from elsewhere: what they may do, and where each is stopped."""

import resource
import time
from collections.abc import Mapping

import pytest

from ai_psychiatrist.validation.config.templates import (
    PromptTemplate,
    TemplateFailed,
    TemplateUnusable,
)

MOST_CPU_SECONDS = 20.0
"""Several times what the slowest takes on a machine that is busy."""
MOST_MEGABYTES = 250.0
DOUBLED = "{%% set ns = namespace(x='ab', l=[1]) %%}{%% for i in range(64) %%}%s{%% endfor %%}"


@pytest.mark.parametrize(
    ("template", "known", "text"),
    [
        ("Talk about {{ topic }}.", {"topic": "sleep"}, "Talk about sleep."),
        (
            "{% for q in qs %}{{ loop.index }}/{{ loop.length }} {{ q.t|upper }}{% endfor %}",
            {"qs": [{"t": "a"}, {"t": "b"}]},
            "1/2 A2/2 B",
        ),
        (
            "{{ xs|join(', ') }} {{ xs|length }} {{ xs[1:]|join }}",
            {"xs": list("abc")},
            "a, b, c 3 bc",
        ),
        (
            "{{ '%.2f'|format(x) }} {{ '{:>5.1f}'.format(x) }} {{ '%5d' % 3 }}",
            {"x": 2.346},
            "2.35   2.3     3",
        ),
        (
            "{{ d|tojson(indent=1) }} {{ d.items()|list }}",
            {"d": {"a": 1}},
            "{\n \"a\": 1\n} [('a', 1)]",
        ),
        ("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f('a') }}{{ f(x='b') }}", {}, "<a><b>"),
        (
            "{% if 'a' in t and t != 'b' %}{{ 1 ~ 'x' ~ t }}{% endif %}{{ t[::-1] }}",
            {"t": "ab"},
            "1xabba",
        ),
        (
            "{{ t|indent(2) }}|{{ t.split('\n')|map('upper')|list }}",
            {"t": "a\nb"},
            "a\n  b|['A', 'B']",
        ),
        (
            "{% for i in range(99) %}{% if i > 2 %}{% break %}{% endif %}{{ i }}{% endfor %}",
            {},
            "012",
        ),
        (
            "{% for i in t recursive %}{{ i.n }}{% if i.c %}/{{ loop(i.c)}}{% endif %}{% endfor %}",
            {"t": [{"n": 1, "c": [{"n": 2, "c": []}]}]},
            "1/2",
        ),
        ('{{ \'{"year": 2026, "in": "%s"}\' % 3 }}', {}, '{"year": 2026, "in": "3"}'),
        (
            "{{ (a ~ '%s' ~ a)|format(b)|replace('a', b[:9])|length }}",
            {"a": "a" * 900, "b": "b" * 90_000},
            "106200",
        ),
        ("{{ ('a' * 100000)|length }} {{ none }} {{ 2 ** 10 }}", {}, "100000 None 1024"),
    ],
)
def test_what_prompts_need_is_written(
    template: str, known: Mapping[str, object], text: str
) -> None:
    assert PromptTemplate(template).render(known) == text


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("{{ 'a' * (3*10**9) }}", "the operator '*'"),
        ("{{ 10**9 * ['a'] }}", "the operator '*'"),
        ("{{ 9**9**9**9 }}", "the operator '**'"),
        ("{{ '%999999999d' % 1 }}", "the operator '%'"),
        ("{{ '%(a(b))999999999d' % {'a(b)': 1} }}", "the operator '%'"),
        ("{{ '%.999999999f' % 1.5 }}", "the operator '%'"),
        ("{{ ('%(' * 500000) % 1 }}", "the operator '%'"),
        ("{{ ('%(a)s' * 20000) % {'a': 'a' * 20000} }}", "the operator '%'"),
        ("{{ 'a'|center(10**9) }}", "the filter 'center'"),
        ("{{ ['a']|map('center', 10**9)|join }}", "the filter 'center'"),
        ("{% filter center(10**9) %}a{% endfilter %}", "the filter 'center'"),
        ("{{ ('a\n' * 10000)|indent(10**6) }}", "the filter 'indent'"),
        ("{{ range(100000)|join('a' * 100000) }}", "the filter 'join'"),
        ("{{ ('a' * 100000)|replace('a', 'b' * 100000) }}", "the filter 'replace'"),
        ("{{ '%*d'|format(999999999, 1) }}", "the filter 'format'"),
        ("{{ [1]|batch(10**9, 'x')|list|length }}", "the filter 'batch'"),
        ("{{ range(1000)|list|tojson(indent=10**6) }}", "the filter 'tojson'"),
        ("{{ 2|round(10**9, 'floor') }}", "the filter 'round'"),
        ("{{ '{:999999999}'.format(1) }}", "a call of 'format'"),
        ("{{ '{:{w}}'.format(1, w=999999999) }}", "a call of 'format'"),
        ("{{ ('{0}' * 20000).format('a' * 20000) }}", "a call of 'format'"),
        ("{{ 'a'.center(10**9) }}", "the method 'center'"),
        ("{{ ('a'|attr('ljust'))(10**9) }}", "the method 'ljust'"),
        ("{{ ('a'|safe).zfill(10**9) }}", "the method 'zfill'"),
        ("{{ (1).to_bytes(10**9, 'big') }}", "the method 'to_bytes'"),
        ("{{ range(10**9)|length }}", "a range"),
        ("{% for i in range(9**5) %}{% for j in range(9**5) %}{% endfor %}{% endfor %}", "a loop"),
        (f"{{% for i in range(90000) %}}{'x' * 100_000}{{% endfor %}}", "a loop"),
        (f"{{% for i in range(90000) %}}{'{% if i %}{% endif %}' * 5_000}{{% endfor %}}", "a loop"),
        (DOUBLED % "{% set ns.x = ns.x ~ ns.x %}", "the operator '~'"),
        (DOUBLED % "{% set ns.x = ns.x + ns.x %}", "the operator '+'"),
        (DOUBLED % "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}", "the text"),
        (DOUBLED % "{% set ns.l = [ns.l, ns.l] %}" + "{{ ns.l }}", "the text"),
        (DOUBLED % "{% set ns.l = [ns.l, ns.l] %}" + "{{ ns.l == [ns.l] }}", "a comparison"),
        (
            "{% set x = 'a' * 1000000 %}{% for i in range(99999) %}{% set y = x[i:] %}{% endfor %}",
            "a slice",
        ),
        (
            "{% macro f(n) %}{% if n %}{{ f(n-1) ~ f(n-1) }}{% endif %}{% endmacro %}{{ f(64) }}",
            "needs more than the 500,000 steps",
        ),
        ("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "what calls itself"),
        ("{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}", "what calls itself"),
    ],
)
def test_a_template_is_stopped_at_what_is_too_much(template: str, what: str) -> None:
    before, started = peak_megabytes(), time.process_time()
    with pytest.raises(TemplateFailed) as caught:
        PromptTemplate(template).render({})
    assert caught.value.code == "template_too_large"
    assert "the template is stopped: " in str(caught.value)
    assert what in str(caught.value)
    assert time.process_time() - started < MOST_CPU_SECONDS
    assert peak_megabytes() - before < MOST_MEGABYTES


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


def test_every_rendering_has_a_budget_of_its_own() -> None:
    template = PromptTemplate("{% for x in range(n) %}{% endfor %}done")
    for _ in range(5):
        assert template.render({"n": 90_000}) == "done"


@pytest.mark.parametrize("template", ["{{ x.__class__ }}", "{{ xs.append(1) }}", "{{ lipsum() }}"])
def test_what_the_sandbox_refuses_stays_refused(template: str) -> None:
    xs = [1]
    with pytest.raises(TemplateFailed):
        PromptTemplate(template).render({"x": "secret", "xs": xs})
    assert xs == [1]


def test_a_failure_names_variables_and_no_value() -> None:
    with pytest.raises(TemplateFailed, match="does not have: 'mood'") as caught:
        PromptTemplate("{{ said }} {{ mood }}").render({"said": "secret"})
    assert caught.value.code == "missing_variable"
    with pytest.raises(TemplateFailed) as caught:
        PromptTemplate("{{ said + 1 }}").render({"said": "secret"})
    assert caught.value.code == "template_failed"
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{{ a ",
            "{% if %}",
            "{{ a|nowhere }}",
            "{{ " + "(" * 30_000,
            "{{ " + "9" * 9_000 + " }}",
        ),
        "{% if a %}" * 3_000,
    ],
)
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(TemplateUnusable):
        PromptTemplate(text)
