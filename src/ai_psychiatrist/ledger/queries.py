"""The questions a ledger is asked, in SQL."""

from typing import Final

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.ledger.records import RETRYABLE_STAGES, Origin

_DUPLICATE: Final = f"'{FailureStage.DUPLICATE}'"
_PROVIDER: Final = f"'{FailureStage.PROVIDER}'"
_REVALIDATE: Final = f"'{Origin.REVALIDATE}'"
_OTHER: Final = ", ".join(
    f"'{stage}'" for stage in RETRYABLE_STAGES if stage is not FailureStage.PROVIDER
)
# All inserted values are constants of this package. A second answer to a unit is kept and never
# counts.
_TALLY: Final = f"""
    SELECT unit, round, SUM(stage IS NOT {_DUPLICATE}) AS attempts,
        MAX(CASE WHEN stage IS NOT {_DUPLICATE} THEN attempt END) AS last,
        MAX(attempt) AS newest,
        SUM(stage IS {_PROVIDER} AND origin <> {_REVALIDATE}) AS provider_failures,
        SUM(stage IS NOT NULL AND stage IN ({_OTHER}) AND origin <> {_REVALIDATE})
            AS other_failures
    FROM attempts WHERE step = ?
"""  # noqa: S608
_TALLIES: Final = f"{_TALLY} GROUP BY unit, round"
_TALLY_OF_UNIT: Final = f"""{_TALLY}
    AND unit = (SELECT seq FROM units WHERE unit_id = ?) AND round = ? GROUP BY unit, round
"""  # noqa: S608

ADD_UNIT: Final = """
    INSERT INTO units (unit_id, context_digest, context) VALUES (?, ?, ?)
    ON CONFLICT (unit_id) DO NOTHING
"""
ADD_INPUT: Final = """
    INSERT INTO inputs (step, unit, round, context_digest, context)
    SELECT ?, seq, ?, ?, ? FROM units WHERE unit_id = ?
    ON CONFLICT DO NOTHING
"""
REQUEST: Final = """
    INSERT INTO requests (step, unit, round) SELECT ?, seq, ? FROM units WHERE unit_id = ?
    ON CONFLICT DO NOTHING
"""
KEEP_CALL: Final = """
    INSERT INTO calls (
        unit, attempt, digest, occurrence, repeat, step, model, path, outcome, http_status,
        reply, reply_digest, is_cut_off, input_tokens, output_tokens, duration_ms, recorded_at
    )
    SELECT seq, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM units WHERE unit_id = ?
    ON CONFLICT DO NOTHING
"""
RECORD: Final = """
    INSERT INTO attempts (
        step, unit, round, attempt, origin, stage, errors, warnings, coercions, raw, raw_digest,
        output, ruleset_digest, schema_digest, code_version, recorded_at
    )
    SELECT r.step, r.unit, r.round, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
    FROM requests AS r JOIN units AS u ON u.seq = r.unit
    WHERE u.unit_id = ? AND r.step = ? AND r.round = ?
    ON CONFLICT (step, unit, round, attempt) DO NOTHING
"""

_CALL: Final = """
    SELECT u.unit_id, c.attempt, c.digest, c.occurrence, c.step, c.model, c.path, c.outcome,
        c.http_status, c.reply, c.is_cut_off, c.input_tokens, c.output_tokens, c.duration_ms
    FROM calls AS c JOIN units AS u ON u.seq = c.unit
"""
CALLS_OF_ATTEMPT: Final = f"{_CALL} WHERE u.unit_id = ? AND c.attempt = ? ORDER BY c.seq"
CALL_REPEATS: Final = """
    SELECT COUNT(*) FROM calls AS c JOIN units AS u ON u.seq = c.unit
    WHERE u.unit_id = ? AND c.attempt = ? AND c.digest = ? AND c.occurrence = ?
"""
USAGE: Final = """
    SELECT model, COUNT(*), SUM(outcome IS NOT NULL),
        COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0),
        SUM(input_tokens IS NULL OR output_tokens IS NULL), SUM(duration_ms)
    FROM calls GROUP BY model ORDER BY model
"""

_ATTEMPT: Final = """
    a.attempt, a.origin, a.stage, a.errors, a.warnings, a.coercions, a.raw, a.output,
    a.ruleset_digest, a.schema_digest, a.code_version, a.recorded_at
"""
_CURRENT: Final = f"""
    SELECT u.unit_id, a.step, a.round, {_ATTEMPT},
        t.attempts, t.newest, t.provider_failures, t.other_failures
    FROM ({{tally}}) AS t
    JOIN attempts AS a
        ON a.step = ? AND a.unit = t.unit AND a.round = t.round AND a.attempt = t.last
    JOIN units AS u ON u.seq = t.unit
    ORDER BY t.unit, t.round
"""  # noqa: S608
CURRENT: Final = _CURRENT.format(tally=_TALLIES)
CURRENT_OF_UNIT: Final = _CURRENT.format(tally=_TALLY_OF_UNIT)
HISTORY: Final = f"""
    SELECT u.unit_id, a.step, a.round, {_ATTEMPT}
    FROM attempts AS a JOIN units AS u ON u.seq = a.unit
    WHERE u.unit_id = ? AND a.step = ? AND a.round = ? ORDER BY a.attempt
"""  # noqa: S608
REQUESTED: Final = "SELECT COUNT(*) FROM requests WHERE step = ?"
PENDING: Final = f"""
    SELECT COUNT(*) FROM requests AS r WHERE r.step = ? AND NOT EXISTS (
        SELECT 1 FROM attempts AS a
        WHERE a.step = r.step AND a.unit = r.unit AND a.round = r.round
            AND a.stage IS NOT {_DUPLICATE}
    )
"""  # noqa: S608
OUTCOMES: Final = f"""
    SELECT stage, COUNT(*) FROM (
        SELECT stage, MAX(attempt) FROM attempts
        WHERE step = ? AND stage IS NOT {_DUPLICATE} GROUP BY unit, round
    ) GROUP BY stage ORDER BY stage
"""  # noqa: S608
QUEUE: Final = f"""
    SELECT u.unit_id, r.round, a.stage, t.last, t.provider_failures, t.other_failures
    FROM requests AS r
    JOIN units AS u ON u.seq = r.unit
    LEFT JOIN ({_TALLIES}) AS t ON t.unit = r.unit AND t.round = r.round
    LEFT JOIN attempts AS a INDEXED BY outcomes
        ON a.step = r.step AND a.unit = r.unit AND a.round = r.round AND a.attempt = t.last
    WHERE r.step = ? ORDER BY r.unit, r.round
"""  # noqa: S608
UNIT_IDS: Final = "SELECT unit_id FROM units ORDER BY seq"
CONTEXT: Final = "SELECT context FROM units WHERE unit_id = ?"
INPUT: Final = """
    SELECT i.context, i.context_digest FROM inputs AS i JOIN units AS u ON u.seq = i.unit
    WHERE u.unit_id = ? AND i.step = ? AND i.round = ?
"""
CONTEXT_DIGEST: Final = "SELECT context_digest FROM units WHERE unit_id = ?"
