"""Check the certificate of an assessment against the text of the interview; see --help.

This file needs the standard library alone. Exit status: 0 it holds, 1 refused, 2 nothing checked.
"""

import argparse
import hashlib
import hmac
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

# The fields of each object. Of a kind, `?` may be null, `*` is a list, `%` a table of any keys.
SHAPES = """
file: certificate=certificate sha256=hash signature=signature?; certificate: version=1 program=label
result_schema=label rules=hash prompts=label% models=name*% assessment_id=label mode=code
status=complete|partial|failed failures=label* transcript=transcript scores=scores? review=review?
danger=danger signed_by=hash?; transcript: sha256=hash characters=count turns=span* words=hash
speakers_assumed=flag; span: turn=count start=count end=count; scores: accepted=flag
quotes_checked=flag items=items total=total; items: PHQ8_NoInterest=item PHQ8_Depressed=item
PHQ8_Sleep=item PHQ8_Tired=item PHQ8_Appetite=item PHQ8_Failure=item PHQ8_Concentrating=item
PHQ8_Moving=item; item: quotes=quote* frequency=often allowed=score* reply=reply? rules=code*
score=score? unknown_reason=code? belief=belief?; quote: segments=span* words=hash
match=exact|normalised|tolerant is_plain=flag polarity=affirmed|denied|unclear frequency=often
timeframe=recent|past|unstated relevance=about|unread|elsewhere|other_person|instruction; reply:
score=score? confidence=five? has_reason=flag has_unfound_quote=flag says_not_examined=flag; belief:
scores=number* not_determinable=number sources=code* calibrated=flag set=set?; set: low=score?
high=score? not_determinable=flag level=number; total: minimum=sum maximum=sum exact=sum?
severity=band? severity_lower_bound=band severity_upper_bound=band interval=interval?; interval:
low=sum high=sum level=number mean=number; review: severity=band? contradicts_item_scores=flag;
danger: level=code signal_count=count turns_not_examined=count signals=signal*; signal: kind=code
segments=span* words=hash polarity=code level=low|moderate|high source=rules|model
"""
FIELDS = {
    entry.split(":")[0].strip(): sorted(one.split("=") for one in entry.split(":")[1].split())
    for entry in SHAPES.split(";")
}
RISING = ("several_days", "more_than_half", "nearly_every_day")
LEVELS = ("none", "low", "not_examined", "moderate", "high")
PLAIN = {
    "hash": '"[0-9a-f]{64}"', "signature": '"[0-9a-f]{128}"', "code": '"[a-z0-9_]+"', "1": "1",
    "label": '"[0-9A-Za-z_.+-]+"', "name": r'"(?:[^"\\\x00-\x1f]|\\["\\])*"', "score": "[0-3]",
    "often": f'"(?:unstated|not_at_all|{"|".join(RISING)})"', "flag": "(?:true|false)",
    "count": "(?:0|[1-9][0-9]{0,9})", "five": "[1-5]", "band": "[0-4]",
    "sum": "(?:[0-9]|1[0-9]|2[0-4])", "number": r'"[0-9]{1,2}\.[0-9]{1,25}(?:e-[0-9]{2,3})?"',
}  # fmt: skip
REASONS = {  # the rows that a score cannot stand against, and why the item is unknown then
    "score_needs_evidence": "no_grounded_evidence", "not_about_item": "not_about_item",
    "zero_without_denial": "zero_without_denial", "one_without_presence": "only_denied_or_past",
    "contradicted_by_evidence": "only_denied_or_past",
}  # fmt: skip
SEVERAL = {
    "?": "(?:null|KIND)", "*": r"\[(?:KIND(?:,(?!\])|(?=\])))*\]",
    "%": r'\{(?:"[0-9A-Za-z_.+-]+":KIND(?:,(?!\})|(?=\})))*\}',
}  # fmt: skip
TRUSTED = """\
on trust: who speaks, what each quote says of its item (rules {:.12}), what models replied ({})
held by the digest alone: id, versions, prompts, models, mode, status, failures, how quotes match,
  shares of beliefs, the meta-review's severity, what signs of danger say"""
Table = dict[str, Any]


class Refused(Exception):
    """The certificate does not hold, or cannot be checked; the text says where."""


def check(holds: object, place: str) -> None:
    """Raise `Refused`, naming the place, unless it holds."""
    if not holds:
        raise Refused(place)


def same(given: Table, derived: Table, place: str) -> None:
    """Check that fields are as they were derived."""
    for name, value in derived.items():
        check(given[name] == value, f"{place}.{name}")


def form(kind: str) -> str:
    """Return the regular expression of all canonical JSON (RFC 8785) of a kind."""
    if kind in FIELDS:
        return r"\{" + ",".join(f'"{name}":{form(one)}' for name, one in FIELDS[kind]) + r"\}"
    if kind[-1] in SEVERAL:
        return SEVERAL[kind[-1]].replace("KIND", form(kind[:-1]))
    return PLAIN.get(kind, f'"(?:{kind})"')


FORM = re.compile(form("file"))


def words_digest(text: str, spans: list[Table]) -> str:
    """Return a digest of words at some places that nobody can guess who has not the whole text."""
    words = " ".join(text[span["start"] : span["end"]] for span in spans)
    key = hashlib.sha256(b"words of\0" + text.encode()).digest()
    return hmac.new(key, words.encode(), "sha256").hexdigest()


def broken_rules(reply: Table, quotes: list[Table], *, is_shared: bool = False) -> list[str]:
    """Return the rows of the clinical table that a reply breaks, in the table's order."""
    score, value = reply["score"], reply["score"] or 0
    about = [one for one in quotes if one["relevance"] in {"about", "unread"}]
    said = {(one["relevance"], one["polarity"]) for one in quotes if one["timeframe"] != "past"}
    now = [one["polarity"] != "denied" and one["timeframe"] != "past" for one in about]
    is_there = any(now) or not all(one["is_plain"] for one in about)
    is_unclear = {("about", "unclear"), ("unread", "unclear")} & said
    is_affirmed = any(polarity == "affirmed" for _, polarity in said)
    rows = {
        "na_needs_reason": score is None and not reply["has_reason"],
        "score_needs_evidence": value and not quotes,
        "quote_in_transcript": reply["has_unfound_quote"],
        "not_about_item": score is not None and quotes and not about,
        "zero_without_denial": score == 0 and ("about", "denied") not in said,
        "contradicted_by_evidence": value >= 2 and quotes and not is_there,
        "one_without_presence": value == 1 and quotes and not is_there,
        "no_affirmed_evidence": value and is_unclear and not is_affirmed,
        "quote_shared": score is not None and is_shared,
        "na_with_high_confidence": score is None and quotes and reply["confidence"] == 5,
    }
    return [name for name, is_broken in rows.items() if is_broken]


def derived(item: Table, *, is_checked: bool, is_shared: bool) -> Table:
    """Return what of an item follows from its quotes and from the reply."""
    quotes, reply = item["quotes"], item["reply"]
    there = [one for one in quotes if one["polarity"] == "affirmed" and one["timeframe"] != "past"]
    stated = {one["frequency"] for one in there}.intersection(RISING)
    some = {"has_reason": True, "has_unfound_quote": False}
    rows = [broken_rules(some | {"score": score}, quotes) for score in range(4)]
    allowed = [score for score in range(4) if is_checked and not REASONS.keys() & set(rows[score])]
    rules = broken_rules(reply, quotes, is_shared=is_shared) if reply and is_checked else []
    score: int | None = reply and reply["score"]
    reason: str | None = "scoring_failed"
    if score is not None:
        against = rules if is_checked else ["score_needs_evidence"]
        reason = next((REASONS[rule] for rule in against if rule in REASONS), None)
    elif reply is not None:
        without = "score_na_with_evidence" if quotes else "no_mention"
        reason = "not_examined" if reply["says_not_examined"] else without
    result = {"allowed": allowed, "rules": rules, "unknown_reason": reason}
    frequency = max(stated, key=RISING.index, default="unstated")
    return result | {"frequency": frequency, "score": None if reason else score}


class Verifier:
    """Checks one certificate with the text of its interview."""

    def __init__(self, text: str, content: bytes) -> None:
        """Take a file apart; raises `Refused` for any but its one form."""
        try:
            written = content.decode()
        except ValueError:
            raise Refused("it is not UTF-8") from None
        check(
            FORM.fullmatch(written), "a field is missing, unknown, out of order or of another kind"
        )
        self.parts: Table = json.loads(written)
        again = json.dumps(self.parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        check(written == again, "it is not in canonical form (RFC 8785)")
        self.signed = content[len(b'{"certificate":') : content.rindex(b',"sha256":"')]
        self.text, self.fields = text, self.parts["certificate"]
        self.turns = {turn["turn"]: turn for turn in self.fields["transcript"]["turns"]}

    def check_digests(self, digest: str, key: str) -> str:
        """Return what is known of who signed it."""
        sha256, signature = self.parts["sha256"], self.parts["signature"]
        check(hashlib.sha256(self.signed).hexdigest() == sha256, "sha256")
        check(digest.lower() in {"", sha256}, "sha256: not the digest that was expected")
        signer = self.fields["signed_by"]
        check((signer is None) == (signature is None), "signature")
        check(key.lower() in {"", signer}, "signed_by: not the key that was expected")
        if signer is None:
            return "not signed"
        try:
            from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
            from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
        except ImportError:
            check(not key, "signature: `cryptography` is not installed, so it cannot be checked")
            return "signature NOT CHECKED: `cryptography` is not installed"
        try:
            public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer))
            public.verify(bytes.fromhex(signature), self.signed)
        except (InvalidSignature, ValueError):
            raise Refused("signature") from None
        return f"signed by {signer}"

    def check_transcript(self) -> None:
        """Check that it is this text, and that the participant's turns lie in it in order."""
        found, turns = self.fields["transcript"], self.fields["transcript"]["turns"]
        sha256, end = hashlib.sha256(self.text.encode()).hexdigest(), len(self.text)
        check((found["sha256"], found["characters"]) == (sha256, end), "transcript: another one")
        places = [0, *(turn[edge] for turn in turns for edge in ("start", "end")), end]
        is_ordered = places == sorted(places) and [*self.turns] == sorted(self.turns)
        check(is_ordered and len(turns) == len(self.turns), "transcript.turns")
        check(words_digest(self.text, turns) == found["words"], "transcript.turns")

    def check_said(self, quote: Table, place: str) -> None:
        """Check that a quote lies in the participant's turns, and its words."""
        for span in quote["segments"]:
            turn = self.turns.get(span["turn"], {"start": 0, "end": 0})
            is_inside = turn["start"] <= span["start"] < span["end"] <= turn["end"]
            check(is_inside, f"{place}: a span outside the participant's turns")
        digest = words_digest(self.text, quote["segments"])
        check(quote["segments"] and digest == quote["words"], f"{place}: the words of a quote")

    def check_items(self, items: Table, *, is_checked: bool, is_accepted: bool) -> None:
        """Derive each item from its quotes and the reply."""
        replies = [item["reply"] for item in items.values()]
        is_each = len({reply is None for reply in replies}) == 1
        check(is_each and is_accepted <= (replies[0] is not None), "scores.accepted")
        scored = [
            one for one in items.values() if one["reply"] and one["reply"]["score"] is not None
        ]
        served = Counter(str(quote["segments"]) for item in scored for quote in item["quotes"])
        for name, item in items.items():
            places = [str(quote["segments"]) for quote in item["quotes"]]
            check(len(places) == len(set(places)) * is_checked, f"{name}.quotes")
            for quote in item["quotes"]:
                self.check_said(quote, name)
            is_shared = any(served[place] > 2 for place in places)
            same(item, derived(item, is_checked=is_checked, is_shared=is_shared), name)

    def check_total(self, items: Table, total: Table) -> None:
        """Derive the total from the items."""
        known = [item["score"] for item in items.values() if item["score"] is not None]
        low, high = sum(known), sum(known) + 3 * (8 - len(known))
        bands, is_exact = (min(low // 5, 4), min(high // 5, 4)), low == high
        sums = {"minimum": low, "maximum": high, "exact": low if is_exact else None}
        sums |= {"severity": bands[0] if is_exact else None}
        sums |= {"severity_lower_bound": bands[0], "severity_upper_bound": bands[1]}
        same(total, sums, "scores.total")
        beliefs = [item["belief"] for item in items.values() if item["belief"] is not None]
        totals = [1.0]
        for belief in beliefs:
            totals = added(totals, belief)
        if total["interval"] is not None:
            level, mean = float(total["interval"]["level"]), float(total["interval"]["mean"])
            check(len(beliefs) == 8 and 0 < level < 1, "scores.total.interval")
            ends = (
                (total["interval"]["low"], totals),
                (24 - total["interval"]["high"], totals[::-1]),
            )
            for end, side in ends:
                below, upto = math.fsum(side[:end]), math.fsum(side[: end + 1])
                is_end = below - 1e-9 <= (1 - level) / 2 < upto + 1e-9
                check(is_end, "scores.total.interval")
            expected = math.fsum(place * share for place, share in enumerate(totals))
            check(abs(expected - mean) < 1e-9, "scores.total.interval.mean")

    def check_review_and_danger(self) -> None:
        """Check what the meta-review and the signs of danger say against the rest."""
        review, scores, danger = (self.fields[name] for name in ("review", "scores", "danger"))
        if review is not None:
            check(scores is not None, "review")
            low, high = (scores["total"][f"severity_{end}_bound"] for end in ("lower", "upper"))
            is_outside = review["severity"] not in (None, *range(low, high + 1))
            same(review, {"contradicts_item_scores": is_outside}, "review")
        levels = {"not_examined" if danger["turns_not_examined"] else "none"}
        for signal in danger["signals"]:
            self.check_said(signal, "danger")
            levels.add(signal["level"])
        same(danger, {"level": max(levels, key=LEVELS.index)}, "danger")
        count, listed = danger["signal_count"], len(danger["signals"])
        check(count == listed or count > listed == 200, "danger.signal_count")


def added(totals: list[float], belief: Table) -> list[float]:
    """Return the probabilities of totals with those of one more item."""
    *scores, unknown = map(float, [*belief["scores"], belief["not_determinable"]])
    is_whole = len(scores) == 4 and abs(math.fsum([*scores, unknown]) - 1) < 1e-9
    check(is_whole and belief["sources"], "belief")
    if (held := belief["set"]) is not None:
        low, high = held["low"], held["high"]
        inside = scores[low : high + 1] if isinstance(low, int) and isinstance(high, int) else []
        check((low is None) == (high is None) and 0 < float(held["level"]) < 1, "belief.set")
        likely = max([*inside, unknown * held["not_determinable"]])
        check(likely == max([*scores, unknown]), "belief.set: without what is likeliest")
    padded = [0.0, 0.0, 0.0, *totals, 0.0, 0.0, 0.0]
    shares = [share + unknown / 4 for share in reversed(scores)]
    return [
        math.fsum(total * share for total, share in zip(padded[at : at + 4], shares, strict=True))
        for at in range(len(totals) + 3)
    ]


def verify(text: str, content: bytes, *, digest: str = "", key: str = "") -> list[str]:
    """Return what is still on trust; raises `Refused` for what does not hold.

    `digest`: the SHA-256 that the result names; `key`: the Ed25519 key of who signed; hexadecimal.
    """
    verifier = Verifier(text, content)
    notes = [verifier.check_digests(digest, key)]
    if not (digest or key):
        notes.append("nobody vouches for it: give the digest that the result names, or a key")
    verifier.check_transcript()
    scores, fields = verifier.fields["scores"], verifier.fields
    if scores is not None:
        checked, accepted = scores["quotes_checked"], scores["accepted"]
        verifier.check_items(scores["items"], is_checked=checked, is_accepted=accepted)
        verifier.check_total(scores["items"], scores["total"])
    verifier.check_review_and_danger()
    models = sorted({name for names in fields["models"].values() for name in names})
    return [*notes, *TRUSTED.format(fields["rules"], ", ".join(models)).splitlines()]


def main() -> int:
    """Check the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcript", help="UTF-8 text, in which places count code points")
    parser.add_argument("certificate", help="as `assess --certificate` wrote it")
    parser.add_argument("--digest", default="", help="SHA-256 that the result names, hexadecimal")
    parser.add_argument("--key", default="", help="Ed25519 key of who signed it, hexadecimal")
    given = parser.parse_args()
    try:
        text = Path(given.transcript).read_bytes().decode()
        notes = verify(
            text, Path(given.certificate).read_bytes(), digest=given.digest, key=given.key
        )
    except (OSError, UnicodeDecodeError) as error:
        print(f"nothing checked: {type(error).__name__}; give two files, the transcript in UTF-8")
        return 2
    except Refused as refused:
        print(f"REFUSED: {refused}")
        return 1
    print("The certificate holds.", *notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
