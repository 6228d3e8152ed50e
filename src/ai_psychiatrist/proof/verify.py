"""Check a certificate against its transcript (UTF-8), the result's DIGEST, the signer's KEY."""

import argparse
import hashlib
import json
import re
from bisect import bisect_left
from collections import Counter
from typing import Any

Table = dict[str, Any]
Given = str | None
# The fields of each object. `?` may be null, `*` is a list, `+` of some, `!` of one, `%` a table.
SHAPES = """
file: certificate=body sha256=hex signature=sig?; body: version=1 program=tag result_schema=tag
rules=hex prompts=tag% models=name*% assessment_id=tag mode=code status=complete|partial|failed
failures=tag* transcript=said scores=scores? danger=danger signed_by=hex?; said: sha256=hex
turns=span* words=hex speakers_assumed=bool; span: turn=int start=int end=int; scores: accepted=bool
quotes_checked=bool items=items total=total; items: PHQ8_NoInterest=item PHQ8_Depressed=item
PHQ8_Sleep=item PHQ8_Tired=item PHQ8_Appetite=item PHQ8_Failure=item PHQ8_Concentrating=item
PHQ8_Moving=item; item: quotes=quote* allowed=score* reply=reply? rules=code* score=score?
unknown_reason=code? belief=odds?; quote: segments=span+ words=hex
relevance=about|unread|elsewhere|other_person|instruction is_plain=bool
polarity=affirmed|denied|unclear frequency=code timeframe=recent|past|unstated match=code; reply:
score=score? confidence=five? has_reason=bool has_unfound_quote=bool why_none=not_examined|unclear?
reader_differs=bool; odds: scores=part* not_determinable=part sources=code* calibrated=bool
set=set?; set: low=score? high=score? not_determinable=bool level=part; total: minimum=sum
maximum=sum exact=sum? severity=band? severity_lower_bound=band severity_upper_bound=band
interval=ends?; ends: low=sum high=sum level=inner; danger: level=code signal_count=int
turns_not_examined=int signals=sign*; sign: segments=span! words=hex kind=code polarity=code
level=none|low|moderate|high source=code
"""
PAIRS = re.findall(r"(\w+):([^;]+)", SHAPES)
FIELDS = {name: sorted(pair.split("=") for pair in pairs.split()) for name, pairs in PAIRS}
PLAIN = {
    "hex": '"[0-9a-f]{64}"', "sig": '"[0-9a-f]{128}"', "code": '"[a-z0-9_]+"', "score": "[0-3]",
    "tag": '"[0-9A-Za-z_.+-]+"', "part": r'"[0-9](?:\.[0-9]{1,25})?(?:e-[0-9]{2,3})?"', "1": "1",
    "name": r'"[^"\\\x00-\x1f]*(?:\\["\\][^"\\\x00-\x1f]*)*"', "bool": "(?:true|false)",
    "int": "(?:0|[1-9][0-9]{0,9})", "sum": "(?:[0-9]|1[0-9]|2[0-4])", "band": "[0-4]",
    "five": "[1-5]", "?": "(?:null|KIND)", "!": r"\[KIND\]", "+": r"\[KIND(?:,KIND)*\]",
    "*": r"\[(?:KIND(?:,(?!\])|(?=\])))*\]", "inner": r'"0\.[0-9]{1,25}"',
    "%": r'\{(?:"[0-9A-Za-z_.+-]+":KIND(?:,(?!\})|(?=\})))*\}',
}  # fmt: skip
REASONS = {  # the rows that a score cannot stand against, and why the item is unknown then
    "score_needs_evidence": "no_grounded_evidence", "not_about_item": "not_about_item",
    "zero_without_denial": "zero_without_denial", "one_without_presence": "only_denied_or_past",
    "contradicted_by_evidence": "only_denied_or_past",
}  # fmt: skip
TRUSTED = """\
on trust: who speaks, what quotes say (rules {:.12}), what models replied ({:.99}), beliefs, danger
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
    if kind[-1] in "?!+*%":
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
    if reply is None or reply["why_none"]:
        reason = "scoring_failed" if reply is None else reply["why_none"]
    if score is not None:
        relevance = {one["relevance"] for one in quotes}
        is_doubted = score and reply["reader_differs"] and relevance == {"unread"}
        against = [*rules, *(["not_about_item"] if is_doubted else [])]
        against = against if is_checked else ["score_needs_evidence"]
        reason = next((REASONS[rule] for rule in against if rule in REASONS), "")
    found = {"allowed": allowed, "rules": rules, "unknown_reason": reason or None}
    return found | {"score": None if reason else score}


def check_interval(beliefs: list[Table | None], interval: Table | None) -> None:
    """Check beliefs, and the central interval of the total that follows from them."""
    totals = [1.0]
    for belief in filter(None, beliefs):
        shares = [*map(float, [*belief["scores"], belief["not_determinable"]])]
        check(len(shares) == 5 and abs(sum(shares) - 1) < 1e-9, "belief")
        if held := belief["set"]:
            low, high = held["low"], held["high"]
            inside = [] if low is None else shares[low : (high or 0) + 1]
            is_set = (low is None) == (high is None) == (not inside)
            is_open = held["not_determinable"] == (not inside or shares[4] > min(inside))
            check(is_set and is_open and max(inside or shares[:4]) == max(shares[:4]), "belief.set")
        some, each = [*[0.0] * 3, *totals, *[0.0] * 3], [one + shares[4] / 4 for one in shares[:4]]
        totals = [sum(map(float.__mul__, each, some[at::-1])) for at in range(3, len(some))]
    check((interval is not None) == all(beliefs), "total.interval")
    if interval is not None:
        outside = (1 - float(interval["level"])) / 2
        for end, side in ((interval["low"], totals), (24 - interval["high"], totals[::-1])):
            check(sum(side[:end]) - 1e-9 <= outside < sum(side[: end + 1]) + 1e-9, "total.interval")


class Verifier:
    """Checks one certificate with the text of its interview; raises `Refused`."""

    def __init__(self, text: str, content: bytes) -> None:
        written = content.decode(errors="replace")
        check(
            re.fullmatch(form("file"), written), "a field is missing, unknown, or of another kind"
        )
        parts = json.loads(written)
        again = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        check(again.encode() == content, "it is not in canonical form (RFC 8785)")
        self.signed = content[len(b'{"certificate":') : content.rindex(b',"sha256":"')]
        check(hashlib.sha256(self.signed).hexdigest() == parts["sha256"], "sha256")
        self.fields, self.sha256, self.signature = parts.values()
        self.text, self.left, raw = text, 100_000_000, text.encode()
        self.key = hashlib.sha256(b"words of\0" + raw).digest()
        found, turns = self.fields["transcript"], self.fields["transcript"]["turns"]
        check(hashlib.sha256(raw).hexdigest() == found["sha256"], "transcript: this is another one")
        self.turns = [one["turn"] for one in turns]
        self.places = [0, *(one[edge] for one in turns for edge in ("start", "end")), len(text)]
        is_ordered = self.turns == sorted({*self.turns}) and self.places == sorted(self.places)
        check(is_ordered and self.words_digest(turns) == found["words"], "transcript.turns")

    def words_digest(self, spans: list[Table]) -> str:
        """Return a digest of words that nobody can guess who has not the whole text."""
        self.left -= sum(one["end"] - one["start"] for one in spans)
        check(self.left >= 0, "too many words in quotes to read them all")
        words = " ".join(f"{one['turn']} {self.text[one['start'] : one['end']]}" for one in spans)
        return hashlib.blake2b(words.encode(), digest_size=32, key=self.key).hexdigest()

    def check_signature(self, key: Given) -> str:
        signer = self.fields["signed_by"]
        check((signer is None) == (self.signature is None) and key in {None, signer}, "signed_by")
        if signer is None:
            return "not signed"
        try:
            from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

            public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer))
            public.verify(bytes.fromhex(self.signature), self.signed)
        except Exception as error:  # noqa: BLE001  the library's own, and others for what is no key
            check(key is None and isinstance(error, ImportError), "signature")
            return "signature NOT CHECKED: `cryptography` is not installed"
        return f"signed by {signer}"

    def check_said(self, quote: Table, place: str, *, by_others: bool = False) -> None:
        for span in quote["segments"]:
            at = bisect_left(self.turns, span["turn"])
            is_listed = self.turns[at : at + 1] == [span["turn"]]
            # Other people's turns are between those that are listed.
            first, last = self.places[2 * at + is_listed : 2 * at + is_listed + 2]
            is_inside = first <= span["start"] < span["end"] <= last
            check(is_inside and (is_listed or by_others), f"{place}: a span outside of its turn")
        check(
            self.words_digest(quote["segments"]) == quote["words"], f"{place}: the words of a quote"
        )

    def check_scores(self, scores: Table) -> None:
        items, total, is_checked = scores["items"], scores["total"], scores["quotes_checked"]
        is_failed = any(item["reply"] is None for item in items.values())
        check(not (scores["accepted"] and is_failed), "accepted")
        scored = [one for one in items.values() if (one["reply"] or {}).get("score") is not None]
        served = Counter(str(quote["segments"]) for item in scored for quote in item["quotes"])
        for name, item in items.items():
            places = [str(quote["segments"]) for quote in item["quotes"]]
            check(len(places) == len({*places} if is_checked else []), f"{name}.quotes")
            for quote in item["quotes"]:
                self.check_said(quote, name)
            is_shared = any(served[one] > 2 for one in places)
            derived = derived_item(item, is_checked=is_checked, is_shared=is_shared)
            check(item == item | derived, f"{name} does not follow from its quotes and the reply")
        known = [item["score"] for item in items.values() if item["score"] is not None]
        low, high = sum(known), sum(known) + 3 * (8 - len(known))
        least, most, exact = min(low // 5, 4), min(high // 5, 4), None if low < high else low
        sums = {"minimum": low, "maximum": high, "exact": exact, "severity_lower_bound": least}
        sums |= {"severity_upper_bound": most, "severity": None if exact is None else least}
        check(total == total | sums, "the total does not follow from the items")
        check_interval([item["belief"] for item in items.values()], total["interval"])


def verify(text: str, content: bytes, *, digest: Given = None, key: Given = None) -> list[str]:
    """Return what is still on trust; raises `Refused` for what does not hold."""
    it = Verifier(text, content)
    check(digest is None or digest.lower() == it.sha256, "sha256: not the digest that was expected")
    notes = [it.check_signature(key and key.lower())]
    notes += [] if digest or key else ["nobody vouches for it: give the result's digest, or a key"]
    if it.fields["scores"] is not None:
        it.check_scores(it.fields["scores"])
    danger, signs = it.fields["danger"], it.fields["danger"]["signals"]
    for sign in signs:
        it.check_said(sign, "danger", by_others=True)
    check(len(signs) == min(danger["signal_count"], 200), "danger: the number of signs")
    found = ["not_examined" if danger["turns_not_examined"] else "none"]
    found += [sign["level"] for sign in signs]
    check(danger["level"] == max(found, key="none low not_examined moderate high".index), "danger")
    models = ", ".join(sorted({name for names in it.fields["models"].values() for name in names}))
    shown = models.encode("ascii", "backslashreplace").decode()  # A name could add lines.
    return [*notes, *TRUSTED.format(it.fields["rules"], shown).splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("transcript", "certificate", "--digest", "--key"):
        parser.add_argument(name)
    given = parser.parse_args()
    try:
        with open(given.transcript, "rb") as said, open(given.certificate, "rb") as file:  # noqa: PTH123
            text, content = (one.read(1 << 26) for one in (said, file))
        notes = verify(text.decode(), content, digest=given.digest, key=given.key)
    except (OSError, UnicodeDecodeError, Refused) as error:
        is_refused = isinstance(error, Refused)
        print(f"REFUSED: {error}" if is_refused else "nothing checked: name two files, in UTF-8")
        return 1 if is_refused else 2
    print("The certificate holds.", *notes, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
