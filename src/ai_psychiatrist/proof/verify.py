"""Check a certificate against its transcript (UTF-8), the result's DIGEST, the signer's KEY."""

import argparse
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

Table = dict[str, Any]
# The fields of each object. Of a kind, `?` may be null, `*` is a list, `%` a table of any keys.
SHAPES = """
file: certificate=certificate sha256=hash signature=signature?; certificate: version=1 program=label
result_schema=label rules=hash prompts=label% models=name*% assessment_id=label mode=code
status=complete|partial|failed failures=label* transcript=transcript scores=scores? danger=danger
signed_by=hash?; transcript: sha256=hash turns=span* words=hash speakers_assumed=flag; span:
turn=count start=count end=count; scores: accepted=flag quotes_checked=flag items=items total=total;
items: PHQ8_NoInterest=item PHQ8_Depressed=item PHQ8_Sleep=item PHQ8_Tired=item PHQ8_Appetite=item
PHQ8_Failure=item PHQ8_Concentrating=item PHQ8_Moving=item; item: quotes=quote* allowed=score*
reply=reply? rules=code* score=score? unknown_reason=code? belief=belief?; quote: segments=span*
words=hash relevance=about|unread|elsewhere|other_person|instruction is_plain=flag
polarity=affirmed|denied|unclear frequency=code timeframe=recent|past|unstated match=code; reply:
score=score? confidence=five? has_reason=flag has_unfound_quote=flag says_not_examined=flag; belief:
scores=share* not_determinable=share sources=code* calibrated=flag set=set?; set: low=score?
high=score? not_determinable=flag level=share; total: minimum=sum maximum=sum exact=sum?
severity=band? severity_lower_bound=band severity_upper_bound=band interval=interval?; interval:
low=sum high=sum level=share; danger: level=code signal_count=count turns_not_examined=count
signals=signal*; signal: segments=span* words=hash kind=code polarity=code level=low|moderate|high
source=code
"""
FIELDS = {
    name: sorted(pair.split("=") for pair in pairs.split())
    for name, pairs in re.findall(r"(\w+):([^;]+)", SHAPES)
}
PLAIN = {
    "hash": '"[0-9a-f]{64}"', "signature": '"[0-9a-f]{128}"', "code": '"[a-z0-9_]+"', "1": "1",
    "label": '"[0-9A-Za-z_.+-]+"', "name": r'"(?:[^"\\\x00-\x1f]|\\["\\])*"', "score": "[0-3]",
    "count": "(?:0|[1-9][0-9]{0,9})", "five": "[1-5]", "band": "[0-4]", "flag": "(?:true|false)",
    "sum": "(?:[0-9]|1[0-9]|2[0-4])", "share": r'"[0-9](?:\.[0-9]{1,25})?(?:e-[0-9]{2,3})?"',
    "?": "(?:null|KIND)", "*": r"\[(?:KIND(?:,(?!\])|(?=\])))*\]",
    "%": r'\{(?:"[0-9A-Za-z_.+-]+":KIND(?:,(?!\})|(?=\})))*\}',
}  # fmt: skip
REASONS = {  # the rows that a score cannot stand against, and why the item is unknown then
    "score_needs_evidence": "no_grounded_evidence", "not_about_item": "not_about_item",
    "zero_without_denial": "zero_without_denial", "one_without_presence": "only_denied_or_past",
    "contradicted_by_evidence": "only_denied_or_past",
}  # fmt: skip
TRUSTED = """\
on trust: who speaks, what quotes say of items (rules {:.12}), what models replied ({}), beliefs
held by the digest alone: id, versions, prompts, models, mode, status, failures, acceptance"""


class Refused(Exception):
    """The certificate does not hold; the text says where."""


def check(holds: object, place: str) -> None:
    if not holds:
        raise Refused(place)


def form(kind: str) -> str:
    """Return the regular expression of the canonical JSON (RFC 8785) of a kind."""
    if kind in FIELDS:
        return r"\{" + ",".join(f'"{name}":{form(one)}' for name, one in FIELDS[kind]) + r"\}"
    if kind[-1] in "?*%":
        return PLAIN[kind[-1]].replace("KIND", form(kind[:-1]))
    return PLAIN.get(kind, f'"(?:{kind})"')


def broken_rules(reply: Table, quotes: list[Table], *, is_shared: bool = False) -> list[str]:
    """Return the rows of the clinical table that a reply breaks, in the table's order."""
    score, value, is_scored = reply["score"], reply["score"] or 0, reply["score"] is not None
    about = [one for one in quotes if one["relevance"] in {"about", "unread"}]
    said = {(one["relevance"], one["polarity"]) for one in quotes if one["timeframe"] != "past"}
    now = [one["polarity"] != "denied" and one["timeframe"] != "past" for one in about]
    is_there = any(now) or not all(one["is_plain"] for one in about)
    is_unclear = {("about", "unclear"), ("unread", "unclear")} & said
    rows = {
        "na_needs_reason": not is_scored and not reply["has_reason"],
        "score_needs_evidence": value and not quotes,
        "quote_in_transcript": reply["has_unfound_quote"],
        "not_about_item": is_scored and quotes and not about,
        "zero_without_denial": score == 0 and ("about", "denied") not in said,
        "contradicted_by_evidence": value >= 2 and quotes and not is_there,
        "one_without_presence": value == 1 and quotes and not is_there,
        "no_affirmed_evidence": value and is_unclear and "affirmed" not in str(said),
        "quote_shared": is_scored and is_shared,
        "na_with_high_confidence": not is_scored and quotes and reply["confidence"] == 5,
    }
    return [name for name, is_broken in rows.items() if is_broken]


def derived_item(item: Table, *, is_checked: bool, is_shared: bool) -> Table:
    """Return what of an item follows from its quotes and from the reply."""
    quotes, reply = item["quotes"], item["reply"]
    some = {"has_reason": True, "has_unfound_quote": False}
    rows = [{*broken_rules({**some, "score": score}, quotes)} for score in range(4)]
    rules = broken_rules(reply, quotes, is_shared=is_shared) if reply and is_checked else []
    allowed = [score for score in range(4) if is_checked and not REASONS.keys() & rows[score]]
    score, reason = reply and reply["score"], "score_na_with_evidence" if quotes else "no_mention"
    if reply is None or reply["says_not_examined"]:
        reason = "scoring_failed" if reply is None else "not_examined"
    if score is not None:
        against = rules if is_checked else ["score_needs_evidence"]
        reason = next((REASONS[rule] for rule in against if rule in REASONS), "")
    found = {"allowed": allowed, "rules": rules, "unknown_reason": reason or None}
    return found | {"score": None if reason else score}


def check_interval(beliefs: list[Table | None], interval: Table | None) -> None:
    """Check beliefs, and the central interval of the total that follows from them."""
    totals = [1.0]
    for belief in filter(None, beliefs):
        shares = [*map(float, [*belief["scores"], belief["not_determinable"]])]
        check(len(shares) == 5 and abs(math.fsum(shares) - 1) < 1e-9, "belief")
        if held := belief["set"]:
            low, high = held["low"], held["high"]
            inside = [] if low is None else shares[low : (high or 0) + 1]
            likely = max([*inside, shares[4] * held["not_determinable"]])
            is_set = (low is None) == (high is None) == (not inside)
            check(is_set and likely == max(shares), "belief.set")
        sums = [0.0] * (len(totals) + 3)
        for at, score in [(at, score) for at in range(len(totals)) for score in range(4)]:
            sums[at + score] += totals[at] * (shares[score] + shares[4] / 4)
        totals = sums
    if interval is not None:
        outside = (1 - float(interval["level"])) / 2
        check(all(beliefs) and 0 < outside < 0.5, "total.interval")
        for end, side in ((interval["low"], totals), (24 - interval["high"], totals[::-1])):
            check(sum(side[:end]) - 1e-9 <= outside < sum(side[: end + 1]) + 1e-9, "total.interval")


class Verifier:
    """Checks one certificate with the text of its interview; raises `Refused`."""

    FORM = re.compile(form("file"))

    def __init__(self, text: str, content: bytes) -> None:
        written = content.decode(errors="replace")
        check(self.FORM.fullmatch(written), "a field is missing, unknown, or of another kind")
        parts = json.loads(written)
        again = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        check(again.encode() == content, "it is not in canonical form (RFC 8785)")
        self.signed = content[len(b'{"certificate":') : content.rindex(b',"sha256":"')]
        check(hashlib.sha256(self.signed).hexdigest() == parts["sha256"], "sha256")
        self.fields, self.sha256, self.signature = parts.values()
        self.text, self.key = text, hashlib.sha256(b"words of\0" + text.encode()).digest()
        found, turns = self.fields["transcript"], self.fields["transcript"]["turns"]
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        check(found["sha256"] == sha256, "transcript: this is another one")
        self.turns = {turn["turn"]: turn for turn in turns}
        places = [0, *(turn[edge] for turn in turns for edge in ("start", "end")), len(text)]
        is_ordered = [one["turn"] for one in turns] == sorted(self.turns) and places == sorted(
            places
        )
        check(is_ordered and self.words_digest(turns) == found["words"], "transcript.turns")

    def words_digest(self, spans: list[Table]) -> str:
        """Return a digest of words that nobody can guess who has not the whole text."""
        words = " ".join(f"{one['turn']} {self.text[one['start'] : one['end']]}" for one in spans)
        return hashlib.blake2b(words.encode(), digest_size=32, key=self.key).hexdigest()

    def check_signature(self, key: str) -> str:
        signer = self.fields["signed_by"]
        check((signer is None) == (self.signature is None) and key in {"", signer}, "signed_by")
        if signer is None:
            return "not signed"
        try:
            from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
        except ImportError:
            check(not key, "signature: `cryptography` is not installed, so it cannot be checked")
            return "signature NOT CHECKED: `cryptography` is not installed"
        try:
            public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer))
            public.verify(bytes.fromhex(self.signature), self.signed)
        except Exception:  # noqa: BLE001  the library's own, and others for what is no key
            raise Refused("signature") from None
        return f"signed by {signer}"

    def check_said(self, quote: Table, place: str) -> None:
        for span in quote["segments"]:
            turn = self.turns.get(span["turn"], {"start": 0, "end": 0})
            is_inside = turn["start"] <= span["start"] < span["end"] <= turn["end"]
            check(is_inside, f"{place}: a span outside the participant's turns")
        is_said = quote["segments"] and self.words_digest(quote["segments"]) == quote["words"]
        check(is_said, f"{place}: the words of a quote")

    def check_scores(self, scores: Table) -> None:
        items, total, is_checked = scores["items"], scores["total"], scores["quotes_checked"]
        is_failed = {item["reply"] is None for item in items.values()}
        check(len(is_failed) == 1 and not (scores["accepted"] and True in is_failed), "accepted")
        scored = [one for one in items.values() if (one["reply"] or {}).get("score") is not None]
        served = [quote["segments"] for item in scored for quote in item["quotes"]]
        for name, item in items.items():
            places = [quote["segments"] for quote in item["quotes"]]
            check(all(is_checked and places.count(one) == 1 for one in places), f"{name}.quotes")
            for quote in item["quotes"]:
                self.check_said(quote, name)
            is_shared = any(served.count(one) > 2 for one in places)
            derived = derived_item(item, is_checked=is_checked, is_shared=is_shared)
            check(item == item | derived, f"{name} does not follow from its quotes and the reply")
        known = [item["score"] for item in items.values() if item["score"] is not None]
        low, high = sum(known), sum(known) + 3 * (8 - len(known))
        least, most, exact = min(low // 5, 4), min(high // 5, 4), None if low < high else low
        sums = {"minimum": low, "maximum": high, "exact": exact, "severity_lower_bound": least}
        sums |= {"severity_upper_bound": most, "severity": None if exact is None else least}
        check(total == total | sums, "the total does not follow from the items")
        check_interval([item["belief"] for item in items.values()], total["interval"])


def verify(text: str, content: bytes, *, digest: str = "", key: str = "") -> list[str]:
    """Return what is still on trust; raises `Refused` for what does not hold."""
    it = Verifier(text, content)
    check(digest.lower() in {"", it.sha256}, "sha256: not the digest that was expected")
    notes = [it.check_signature(key.lower())]
    notes += [] if digest or key else ["nobody vouches for it: give the result's digest, or a key"]
    danger = it.fields["danger"]
    if it.fields["scores"] is not None:
        it.check_scores(it.fields["scores"])
    for signal in danger["signals"]:
        check(it.words_digest(signal["segments"]) == signal["words"], "danger: the words of a sign")
    rising = "none low not_examined moderate high".split()
    levels = [rising[2 if danger["turns_not_examined"] else 0]]
    highest = max([*levels, *(one["level"] for one in danger["signals"])], key=rising.index)
    is_counted = danger["signal_count"] >= len(danger["signals"])
    check(is_counted and danger["level"] == highest, "danger")
    models = sorted({name for names in it.fields["models"].values() for name in names})
    return [*notes, *TRUSTED.format(it.fields["rules"], ", ".join(models)).splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("transcript", "certificate", "--digest", "--key"):
        parser.add_argument(name, default="")
    given = parser.parse_args()
    try:
        text, content = (Path(one).read_bytes() for one in (given.transcript, given.certificate))
        notes = verify(text.decode(), content, digest=given.digest, key=given.key)
    except (OSError, UnicodeDecodeError, Refused) as error:
        is_refused = isinstance(error, Refused)
        print(f"REFUSED: {error}" if is_refused else "nothing checked: name two files, in UTF-8")
        return 1 if is_refused else 2
    print("The certificate holds.", *notes, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
