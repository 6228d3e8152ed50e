"""The questions a ledger is asked, in SQL; values are given by name."""

from typing import Final

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.ledger.store.records import RETRYABLE_STAGES, Origin

_DUPLICATE: Final = f"'{FailureStage.DUPLICATE}'"
_PROVIDER: Final = f"'{FailureStage.PROVIDER}'"
_REVALIDATE: Final = f"'{Origin.REVALIDATE}'"
_RETRYABLE: Final = ", ".join(f"'{stage}'" for stage in RETRYABLE_STAGES)

_CALL_COLUMNS: Final = (
    "attempt, digest, occurrence, step, model, path, outcome, http_status, sent, reply, "
    "reply_digest, is_cut_off, input_tokens, output_tokens, cache_read_tokens, "
    "cache_write_tokens, duration_ms, recorded_at, hosts"
)
_ATTEMPT_COLUMNS: Final = (
    "attempt, origin, stage, errors, warnings, coercions, raw, raw_digest, output, "
    "ruleset_digest, schema_digest, code_version, recorded_at"
)


def _named(columns: str) -> str:
    """Return the places of the values that columns get."""
    return ", ".join(f":{column}" for column in columns.split(", "))


def _same(columns: str) -> dict[str, str]:
    return {name: name for name in columns.split(", ")}


# All inserted values are constants of this package.
ADD_UNIT: Final = """
    INSERT INTO units (unit_id, context_digest, context)
    VALUES (:unit_id, :context_digest, :context) ON CONFLICT (unit_id) DO NOTHING
"""
ADD_INPUT: Final = """
    INSERT INTO inputs (step, unit, round, context_digest, context)
    SELECT :step, seq, 0, :context_digest, :context FROM units WHERE unit_id = :unit_id
    ON CONFLICT DO NOTHING
"""
REQUEST: Final = """
    INSERT INTO requests (step, unit, round)
    SELECT :step, seq, :round FROM units WHERE unit_id = :unit_id ON CONFLICT DO NOTHING
"""
# A call whose reply was not kept may have to be paid again, and is kept under the next number.
KEEP_CALL: Final = f"""
    INSERT INTO calls (unit, repeat, {_CALL_COLUMNS})
    SELECT u.seq, CASE WHEN :keeps_raw THEN 0 ELSE (
        SELECT COUNT(*) FROM calls AS c WHERE c.unit = u.seq AND c.attempt = :attempt
            AND c.digest = :digest AND c.occurrence = :occurrence
    ) END, {_named(_CALL_COLUMNS)}
    FROM units AS u WHERE u.unit_id = :unit_id ON CONFLICT DO NOTHING
"""  # noqa: S608
RECORD: Final = f"""
    INSERT INTO attempts (step, unit, round, {_ATTEMPT_COLUMNS})
    SELECT r.step, r.unit, r.round, {_named(_ATTEMPT_COLUMNS)}
    FROM requests AS r JOIN units AS u ON u.seq = r.unit
    WHERE u.unit_id = :unit_id AND r.step = :step AND r.round = :round
    ON CONFLICT (step, unit, round, attempt) DO NOTHING
"""  # noqa: S608

UNIT_IDS: Final = "SELECT unit_id FROM units ORDER BY seq"
UNIT: Final = "SELECT context, context_digest FROM units WHERE unit_id = :unit_id"
INPUT: Final = """
    SELECT i.context, i.context_digest FROM inputs AS i JOIN units AS u ON u.seq = i.unit
    WHERE u.unit_id = :unit_id AND i.step = :step AND i.round = :round
"""
CALLS_OF_ATTEMPT: Final = """
    SELECT u.unit_id, c.*, c.step AS agent, c.outcome AS code
    FROM calls AS c JOIN units AS u ON u.seq = c.unit
    WHERE u.unit_id = :unit_id AND c.attempt = :attempt ORDER BY c.seq
"""
CALLS_MADE: Final = "SELECT COUNT(*) FROM calls"
# Prices step up with the length of a call, so that calls of one length are summed.
# A call that no batch made has no result of its own there, and costs nothing.
USAGE: Final = """
    WITH handed_in AS (
        SELECT r.unit, r.attempt, r.digest, r.occurrence, MAX(a.body IS NOT NULL) AS is_made
        FROM batch_requests AS r LEFT JOIN batch_results AS a USING (custom_id)
        GROUP BY r.unit, r.attempt, r.digest, r.occurrence
    ), told AS (
        SELECT c.*, COALESCE(h.is_made, 0) AS is_batch,
            c.input_tokens IS NOT NULL AND c.output_tokens IS NOT NULL AS is_counted,
            COALESCE(c.http_status >= 400, 0)
            OR COALESCE(h.is_made = 0 AND c.outcome = 'timed_out', 0) AS is_free
        FROM calls AS c LEFT JOIN handed_in AS h USING (unit, attempt, digest, occurrence)
    )
    SELECT step AS agent, model, is_batch, COUNT(*) AS calls,
        SUM(is_counted AND NOT is_free) AS counted, SUM(is_free) AS refused,
        SUM(IIF(is_counted, input_tokens, 0)) AS input,
        SUM(IIF(is_counted, output_tokens, 0)) AS output,
        SUM(IIF(is_counted, COALESCE(cache_read_tokens, 0), 0)) AS cache_read,
        SUM(IIF(is_counted, COALESCE(cache_write_tokens, 0), 0)) AS cache_write
    FROM told GROUP BY step, model, is_batch, COALESCE(input_tokens, -1) / 8000
    ORDER BY step, model, is_batch, MIN(input_tokens)
"""
HISTORY: Final = """
    SELECT u.unit_id, a.* FROM attempts AS a JOIN units AS u ON u.seq = a.unit
    WHERE u.unit_id = :unit_id AND a.step = :step AND a.round = :round ORDER BY a.attempt
"""

# A second answer to a unit is kept and never counts.
_TALLIES: Final = f"""
    SELECT unit, round, SUM(stage IS NOT {_DUPLICATE}) AS attempts,
        MAX(CASE WHEN stage IS NOT {_DUPLICATE} THEN attempt END) AS last,
        MAX(attempt) AS newest,
        SUM(stage IS {_PROVIDER} AND origin <> {_REVALIDATE}) AS provider_failures,
        SUM(stage IS NOT NULL AND stage <> {_PROVIDER} AND stage IN ({_RETRYABLE})
            AND origin <> {_REVALIDATE}) AS other_failures
    FROM attempts WHERE step = :step {{which}} GROUP BY unit, round
"""  # noqa: S608
_TALLY_OF_ALL: Final = _TALLIES.format(which="")
_TALLY_OF_UNIT: Final = _TALLIES.format(
    which="AND unit = (SELECT seq FROM units WHERE unit_id = :unit_id) AND round = :round"
)
_CURRENT: Final = """
    SELECT u.unit_id, a.*, t.attempts, t.newest, t.provider_failures, t.other_failures
    FROM ({tally}) AS t
    JOIN attempts AS a
        ON a.step = :step AND a.unit = t.unit AND a.round = t.round AND a.attempt = t.last
    JOIN units AS u ON u.seq = t.unit
    WHERE {which} ORDER BY t.unit, t.round
"""
CURRENT: Final = _CURRENT.format(tally=_TALLY_OF_ALL, which="TRUE")
CURRENT_FAILED: Final = _CURRENT.format(tally=_TALLY_OF_ALL, which="a.stage IS NOT NULL")
CURRENT_OF_UNIT: Final = _CURRENT.format(tally=_TALLY_OF_UNIT, which="TRUE")
QUEUE: Final = f"""
    SELECT u.unit_id, r.round
    FROM requests AS r
    JOIN units AS u ON u.seq = r.unit
    LEFT JOIN ({_TALLY_OF_ALL}) AS t ON t.unit = r.unit AND t.round = r.round
    LEFT JOIN attempts AS a INDEXED BY outcomes
        ON a.step = r.step AND a.unit = r.unit AND a.round = r.round AND a.attempt = t.last
    WHERE r.step = :step AND (
        t.last IS NULL
        OR (:includes_failed AND a.stage IN ({_RETRYABLE})
            AND t.provider_failures < :provider_attempts
            AND t.other_failures < :validation_attempts)
    )
    ORDER BY r.unit, r.round
"""  # noqa: S608
ANY_OF_ORIGIN: Final = "SELECT 1 FROM attempts WHERE origin = :origin LIMIT 1"
REQUESTED: Final = "SELECT COUNT(*) FROM requests WHERE step = :step"
PENDING: Final = f"""
    SELECT COUNT(*) FROM requests AS r WHERE r.step = :step AND NOT EXISTS (
        SELECT 1 FROM attempts AS a
        WHERE a.step = r.step AND a.unit = r.unit AND a.round = r.round
            AND a.stage IS NOT {_DUPLICATE}
    )
"""  # noqa: S608
OUTCOMES: Final = f"""
    SELECT stage, COUNT(*) FROM (
        SELECT stage, MAX(attempt) FROM attempts
        WHERE step = :step AND stage IS NOT {_DUPLICATE} GROUP BY unit, round
    ) GROUP BY stage ORDER BY stage
"""  # noqa: S608

# Parts of a run become one: `:of` parts, of which this is the `:number`-th, dealt out in turn.
OTHER: Final = "other"
_PLACE: Final = "(({seq}) - 1) * :of + :number"
_UNIT_PLACE: Final = _PLACE.format(seq="unit")
_BATCH_PLACE: Final = _PLACE.format(seq="batch")
_OF_PART: Final = (
    ("units", "seq", "unit_id, context_digest, context", "seq"),
    ("inputs", "unit", "step, round, context_digest, context", "unit, step, round"),
    ("requests", "unit", "step, round", "unit, step, round"),
    ("calls", "unit", f"repeat, {_CALL_COLUMNS}", "unit, seq"),
    ("attempts", "unit", f"step, round, {_ATTEMPT_COLUMNS}", "unit, seq"),
)
"""Table, its column of the unit's place, the others, and the order in which they came."""
_BY_STEP: Final = frozenset({"inputs", "requests", "attempts"})
_STEPS_OF: Final = """
    step IN (
        WITH RECURSIVE steps (step) AS (
            SELECT MIN(step) FROM {table}
            UNION ALL
            SELECT (SELECT MIN(step) FROM {table} WHERE step > steps.step) FROM steps
            WHERE steps.step IS NOT NULL
        )
        SELECT step FROM steps WHERE step IS NOT NULL
    ) AND
"""
"""All steps that there are: an index by step and unit finds units only where steps are named."""
ROWS_OF_PART: Final = {
    table: f"SELECT {_PLACE.format(seq=unit)} AS place, {columns} FROM {table} WHERE "  # noqa: S608
    f"{_STEPS_OF.format(table=table) if table in _BY_STEP else ''} "
    f"{unit} BETWEEN :first AND :last ORDER BY {order}"
    for table, unit, columns, order in _OF_PART
}
# A unit that is here already is counted.
PUT_ROW: Final = {
    table: f"INSERT{' OR IGNORE' * (table == 'units')} INTO {table} ({unit}, {columns}) "
    f"VALUES (?{', ?' * len(columns.split(','))})"
    for table, unit, columns, _ in _OF_PART
}
# Batches that are waited for as well: whoever goes on with the whole collects them.
TAKE_OVER_BATCHES: Final = tuple(
    f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608
    f"SELECT {', '.join(columns.values())} FROM {OTHER}.{table} ORDER BY {order}"
    for table, columns, order in (
        (
            "batches",
            {"seq": _PLACE.format(seq="seq")} | _same("model, kin, calls, recorded_at"),
            "seq",
        ),
        (
            "batch_requests",
            {"batch": _BATCH_PLACE, "unit": _UNIT_PLACE}
            | _same("custom_id, attempt, digest, occurrence"),
            "seq",
        ),
        ("batch_events", {"batch": _BATCH_PLACE} | _same("event, handle, recorded_at"), "seq"),
        ("batch_results", _same("custom_id, status, body, recorded_at"), "rowid"),
    )
)
GAPS: Final = "SELECT COUNT(*) AS units, MIN(seq) AS first, MAX(seq) AS last FROM units"
SOUND: Final = "PRAGMA quick_check(1)"
