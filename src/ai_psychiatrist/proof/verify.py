"""Check a certificate against its transcript (UTF-8), the result's DIGEST, the signer's KEY.

The file needs the standard library alone, and `cryptography` where a certificate is signed. It
reads the certificate's form, then finds every span in the transcript, then derives each score and
the total again from the facts about the quotes. What cannot be derived is listed as trusted.
"""

import argparse
import hashlib
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_SCORE = 3
ITEMS = (
    "PHQ8_NoInterest",
    "PHQ8_Depressed",
    "PHQ8_Sleep",
    "PHQ8_Tired",
    "PHQ8_Appetite",
    "PHQ8_Failure",
    "PHQ8_Concentrating",
    "PHQ8_Moving",
)
MOST_TOTAL = MOST_SCORE * len(ITEMS)
MOST_SIGNS = 200
"""Signs of danger that a certificate lists; more are counted."""
MOST_USES = 2
"""Scored items that may rest on one quote."""
MOST_WORDS_READ = 100_000_000
"""Characters, in all quotes together: overlapping ones could make a short file endless work."""
MOST_FILE_BYTES = 1 << 26
ROUNDING = 1e-9

REASONS = {
    "score_needs_evidence": "no_grounded_evidence",
    "not_about_item": "not_about_item",
    "zero_without_denial": "zero_without_denial",
    "one_without_presence": "only_denied_or_past",
    "contradicted_by_evidence": "only_denied_or_past",
}
"""Rules that a score cannot stand against → why the item is unknown then."""
TRUSTED = """\
on trust: who speaks, what quotes say (rules {:.12}), what models replied ({:.99}), beliefs, danger
held by the digest alone: id, versions, prompts, models, mode, status, failures, acceptance"""

Table = dict[str, Any]


class Refused(Exception):
    """The certificate does not hold; the text says where."""


def check(holds: object, place: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise Refused(place)


# The form: which fields a certificate has, and of which kind each of them is.


@dataclass(frozen=True)
class Text:
    """A text that a pattern describes as a whole."""

    pattern: str


@dataclass(frozen=True)
class Whole:
    """A whole number of a range, both ends included."""

    most: int
    least: int = 0


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Maybe:
    """A kind, or null."""

    kind: "Kind"


@dataclass(frozen=True)
class ListOf:
    """A list of one kind."""

    kind: "Kind"
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class TableOf:
    """An object with any names, and values of one kind."""

    kind: "Kind"


Kind = Text | Whole | Flag | Maybe | ListOf | TableOf | dict[str, "Kind"]
"""A dictionary is an object with exactly these fields."""

HEX = Text("[0-9a-f]{64}")
SIGNATURE = Text("[0-9a-f]{128}")
CODE = Text("[a-z0-9_]+")
TAG = Text("[0-9A-Za-z_.+-]+")
NAME = Text(r"[^\x00-\x1f]*")
FRACTION = Text(r"[0-9](?:\.[0-9]{1,25})?(?:e-[0-9]{2,3})?")
LEVEL = Text(r"0\.[0-9]{1,25}")
INDEX = Whole(9_999_999_999)
SCORE = Whole(MOST_SCORE)
TOTAL = Whole(MOST_TOTAL)
BAND = Whole(4)

SPAN: Kind = {"turn": INDEX, "start": INDEX, "end": INDEX}
QUOTE: Kind = {
    "segments": ListOf(SPAN, least=1),
    "words": HEX,
    "match": CODE,
    "relevance": Text("about|unread|elsewhere|other_person|instruction"),
    "polarity": Text("affirmed|denied|unclear"),
    "frequency": CODE,
    "timeframe": Text("recent|past|unstated"),
    "is_plain": Flag(),
}
REPLY: Kind = {
    "score": Maybe(SCORE),
    "confidence": Maybe(Whole(5, least=1)),
    "has_reason": Flag(),
    "has_unfound_quote": Flag(),
    "reader_differs": Flag(),
    "why_none": Maybe(Text("not_examined|unclear")),
}
SET: Kind = {
    "low": Maybe(SCORE),
    "high": Maybe(SCORE),
    "not_determinable": Flag(),
    "level": FRACTION,
}
BELIEF: Kind = {
    "scores": ListOf(FRACTION),
    "not_determinable": FRACTION,
    "sources": ListOf(CODE),
    "calibrated": Flag(),
    "set": Maybe(SET),
}
ITEM: Kind = {
    "quotes": ListOf(QUOTE),
    "allowed": ListOf(SCORE),
    "reply": Maybe(REPLY),
    "rules": ListOf(CODE),
    "score": Maybe(SCORE),
    "unknown_reason": Maybe(CODE),
    "belief": Maybe(BELIEF),
}
SCORES: Kind = {
    "accepted": Flag(),
    "quotes_checked": Flag(),
    "items": dict.fromkeys(ITEMS, ITEM),
    "total": {
        "minimum": TOTAL,
        "maximum": TOTAL,
        "exact": Maybe(TOTAL),
        "severity": Maybe(BAND),
        "severity_lower_bound": BAND,
        "severity_upper_bound": BAND,
        "interval": Maybe({"low": TOTAL, "high": TOTAL, "level": LEVEL}),
    },
}
SIGN: Kind = {
    "segments": ListOf(SPAN, least=1, most=1),
    "words": HEX,
    "kind": CODE,
    "polarity": CODE,
    "level": Text("none|low|moderate|high"),
    "source": CODE,
}
CERTIFICATE: Kind = {
    "version": Whole(1, least=1),
    "program": TAG,
    "result_schema": TAG,
    "rules": HEX,
    "prompts": TableOf(TAG),
    "models": TableOf(ListOf(NAME)),
    "assessment_id": TAG,
    "mode": CODE,
    "status": Text("complete|partial|failed"),
    "failures": ListOf(TAG),
    "transcript": {
        "sha256": HEX,
        "turns": ListOf(SPAN),
        "words": HEX,
        "speakers_assumed": Flag(),
    },
    "scores": Maybe(SCORES),
    "danger": {
        "level": CODE,
        "signal_count": INDEX,
        "turns_not_examined": INDEX,
        "signals": ListOf(SIGN),
    },
    "signed_by": Maybe(HEX),
}
FILE: Kind = {"certificate": CERTIFICATE, "sha256": HEX, "signature": Maybe(SIGNATURE)}


def fits(value: object, kind: Kind) -> bool:
    """Return whether a value of JSON is of a kind."""
    match kind:
        case Text(pattern):
            is_fit = isinstance(value, str) and re.fullmatch(pattern, value) is not None
        case Whole(most, least):
            # Not `isinstance`: true and false are whole numbers to it.
            is_fit = type(value) is int and least <= value <= most
        case Flag():
            is_fit = isinstance(value, bool)
        case Maybe(inner):
            is_fit = value is None or fits(value, inner)
        case ListOf(inner, least, limit):
            is_fit = (
                isinstance(value, list)
                and least <= len(value)
                and (limit is None or len(value) <= limit)
                and all(fits(one, inner) for one in value)
            )
        case TableOf(inner):
            is_fit = isinstance(value, dict) and all(
                fits(name, TAG) and fits(one, inner) for name, one in value.items()
            )
        case dict():
            is_fit = (
                isinstance(value, dict)
                and value.keys() == kind.keys()
                and all(fits(value[name], inner) for name, inner in kind.items())
            )
    return is_fit


def canonical(value: object) -> bytes:
    """Write a value as RFC 8785 has it; fractions, its one hard part, are texts here."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def read_file(content: bytes) -> Table:
    """Return the parts of a certificate's file, of which one form alone is accepted."""
    form = "a field is missing, unknown, or of another kind"
    try:
        parts: Table = json.loads(content.decode())
        written = json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refused(form) from None
    # What is written differs where there are blanks, escapes, or one field twice.
    check(fits(parts, FILE) and written == content, form)
    check(canonical(parts) == content, "it is not in canonical form (RFC 8785)")
    return parts


# The interview: every span is looked up in it.


class Interview:
    """The text, and where the participant's turns are in it."""

    def __init__(self, text: str, claimed: Table) -> None:
        """`claimed`: what the certificate says of the transcript."""
        content = text.encode()
        check(
            hashlib.sha256(content).hexdigest() == claimed["sha256"],
            "transcript: this is another one",
        )
        self.text = text
        self.key = hashlib.sha256(b"words of\0" + content).digest()
        self.words_left = MOST_WORDS_READ
        self.turns: list[Table] = claimed["turns"]
        self.numbers: list[int] = [turn["turn"] for turn in self.turns]
        edges = [0, *(turn[edge] for turn in self.turns for edge in ("start", "end")), len(text)]
        is_ordered = edges == sorted(edges) and self.numbers == sorted({*self.numbers})
        check(is_ordered and self.words_digest(self.turns) == claimed["words"], "transcript.turns")

    def words_digest(self, spans: Sequence[Table]) -> str:
        """Return a digest of words that only those who have the whole text can compute."""
        self.words_left -= sum(span["end"] - span["start"] for span in spans)
        check(self.words_left >= 0, "too many words in quotes to read them all")
        words = " ".join(
            f"{span['turn']} {self.text[span['start'] : span['end']]}" for span in spans
        )
        return hashlib.blake2b(words.encode(), digest_size=32, key=self.key).hexdigest()

    def check_said(self, quote: Table, place: str, *, by_others: bool = False) -> None:
        """Check that the words of a quote are the participant's, or with `by_others` anybody's."""
        for span in quote["segments"]:
            at = bisect_left(self.numbers, span["turn"])
            is_participant = self.numbers[at : at + 1] == [span["turn"]]
            if is_participant:
                first, last = self.turns[at]["start"], self.turns[at]["end"]
            else:
                # Other people's turns are between those of the participant.
                first = self.turns[at - 1]["end"] if at > 0 else 0
                last = self.turns[at]["start"] if at < len(self.turns) else len(self.text)
            is_inside = first <= span["start"] < span["end"] <= last
            check(
                is_inside and (is_participant or by_others), f"{place}: a span outside of its turn"
            )
        is_same = self.words_digest(quote["segments"]) == quote["words"]
        check(is_same, f"{place}: the words of a quote")


# The scores: each follows from the facts about its quotes and from the model's reply.


def broken_rules(reply: Table, quotes: list[Table], *, is_shared: bool = False) -> list[str]:
    """Return the rules of the clinical table that a reply breaks, in the table's order.

    `is_shared`: whether a quote of the item serves more items than one quote can.
    """
    score = reply["score"]
    is_scored = score is not None
    is_symptom = is_scored and score >= 1
    about = [quote for quote in quotes if quote["relevance"] in {"about", "unread"}]
    not_past = [quote for quote in quotes if quote["timeframe"] != "past"]
    is_affirmed = any(quote["polarity"] == "affirmed" for quote in not_past)
    is_denied = any(
        quote["relevance"] == "about" and quote["polarity"] == "denied" for quote in not_past
    )
    is_unclear = any(
        quote["relevance"] in {"about", "unread"} and quote["polarity"] == "unclear"
        for quote in not_past
    )
    may_be_present = any(
        (quote["polarity"] != "denied" and quote["timeframe"] != "past") or not quote["is_plain"]
        for quote in about
    )
    is_absent = quotes and not may_be_present
    table = {
        "na_needs_reason": not is_scored and not reply["has_reason"],
        "score_needs_evidence": is_symptom and not quotes,
        "quote_in_transcript": reply["has_unfound_quote"],
        "not_about_item": is_scored and quotes and not about,
        "zero_without_denial": is_scored and score == 0 and not is_denied,
        "contradicted_by_evidence": is_symptom and score >= 2 and is_absent,
        "one_without_presence": is_symptom and score == 1 and is_absent,
        "no_affirmed_evidence": is_symptom and is_unclear and not is_affirmed,
        "quote_shared": is_scored and is_shared,
        "na_with_high_confidence": not is_scored and quotes and reply["confidence"] == 5,
    }
    return [rule for rule, is_broken in table.items() if is_broken]


def allowed_scores(quotes: list[Table]) -> list[int]:
    """Return the scores that can stand on quotes."""
    allowed = []
    for score in range(MOST_SCORE + 1):
        reply = {"score": score, "has_reason": True, "has_unfound_quote": False}
        if not REASONS.keys() & {*broken_rules(reply, quotes)}:
            allowed.append(score)
    return allowed


def unknown_reason(item: Table, rules: Iterable[str], *, is_checked: bool) -> str | None:
    """Return why an item has no score, `None` where the reply's score stands."""
    reply, quotes = item["reply"], item["quotes"]
    if reply is None:
        return "scoring_failed"
    if reply["score"] is None:
        without_answer = "score_na_with_evidence" if quotes else "no_mention"
        return reply["why_none"] or without_answer
    if not is_checked:
        return REASONS["score_needs_evidence"]
    broken = next((rule for rule in rules if rule in REASONS), None)
    # Words that the rules cannot read carry a score only where the learned reader shares it.
    is_unread = {quote["relevance"] for quote in quotes} == {"unread"}
    if broken is None and reply["score"] > 0 and reply["reader_differs"] and is_unread:
        broken = "not_about_item"
    return None if broken is None else REASONS[broken]


def derived_item(item: Table, *, is_checked: bool, is_shared: bool) -> Table:
    """Return what of an item follows from its quotes and from the reply."""
    quotes, reply = item["quotes"], item["reply"]
    rules = broken_rules(reply, quotes, is_shared=is_shared) if reply and is_checked else []
    reason = unknown_reason(item, rules, is_checked=is_checked)
    return {
        "allowed": allowed_scores(quotes) if is_checked else [],
        "rules": rules,
        "unknown_reason": reason,
        "score": None if reason else reply["score"],
    }


def check_scores(scores: Table, interview: Interview) -> None:
    """Check the quotes of all items, each score, and the total."""
    items, is_checked = scores["items"], scores["quotes_checked"]
    is_failed = any(item["reply"] is None for item in items.values())
    check(not (scores["accepted"] and is_failed), "accepted")
    uses = Counter(
        str(quote["segments"])
        for item in items.values()
        if item["reply"] is not None and item["reply"]["score"] is not None
        for quote in item["quotes"]
    )
    for name, item in items.items():
        places = [str(quote["segments"]) for quote in item["quotes"]]
        is_once = len(places) == len(set(places))
        check(is_once if is_checked else not places, f"{name}.quotes")
        for quote in item["quotes"]:
            interview.check_said(quote, name)
        is_shared = any(uses[place] > MOST_USES for place in places)
        derived = derived_item(item, is_checked=is_checked, is_shared=is_shared)
        check(item == item | derived, f"{name} does not follow from its quotes and the reply")
    check_total(items.values(), scores["total"])
    beliefs = [item["belief"] for item in items.values()]
    check_interval(beliefs, scores["total"]["interval"])


def check_total(items: Iterable[Table], total: Table) -> None:
    """Check the bounds of the total: an unknown item may have any score."""
    scores = [item["score"] for item in items]
    known = [score for score in scores if score is not None]
    least = sum(known)
    most = least + MOST_SCORE * (len(scores) - len(known))
    is_exact = least == most
    # Bands of severity are five points wide; the last one begins at 20.
    lowest, highest = min(least // 5, 4), min(most // 5, 4)
    derived = {
        "minimum": least,
        "maximum": most,
        "exact": least if is_exact else None,
        "severity": lowest if is_exact else None,
        "severity_lower_bound": lowest,
        "severity_upper_bound": highest,
    }
    check(total == total | derived, "the total does not follow from the items")


# The beliefs: trusted as they are, but they have to agree with their sets and the interval.


def check_interval(beliefs: Sequence[Table | None], interval: Table | None) -> None:
    """Check beliefs, and the central interval of the total that follows from them."""
    totals = [1.0]
    for belief in beliefs:
        if belief is not None:
            shares = shares_of(belief)
            check_set(belief["set"], shares)
            totals = added(totals, shares)
    check((interval is not None) == all(beliefs), "total.interval")
    if interval is not None:
        outside = (1 - float(interval["level"])) / 2
        check_end(interval["low"], totals, outside)
        check_end(MOST_TOTAL - interval["high"], totals[::-1], outside)


def shares_of(belief: Table) -> list[float]:
    """Return the probabilities of the scores 0 to 3 and of not determinable."""
    shares = [float(share) for share in (*belief["scores"], belief["not_determinable"])]
    check(len(shares) == 5 and abs(sum(shares) - 1) < ROUNDING, "belief")
    return shares


def check_set(found: Table | None, shares: list[float]) -> None:
    """Check that a set holds the likeliest score, and not determinable where it has to."""
    if found is None:
        return
    *scores, not_determinable = shares
    low, high = found["low"], found["high"]
    check((low is None) == (high is None), "belief.set")
    inside = [] if low is None else scores[low : high + 1]
    check((low is None) == (not inside), "belief.set")
    check(max(inside or scores) == max(scores), "belief.set")
    is_open = not inside or not_determinable > min(inside)
    check(found["not_determinable"] == is_open, "belief.set")


def added(totals: list[float], shares: list[float]) -> list[float]:
    """Return the probabilities of totals with one more item, independent of the others.

    What is not determinable could be any score.
    """
    *scores, not_determinable = shares
    sums = [0.0] * (len(totals) + MOST_SCORE)
    for total, share in enumerate(totals):
        for score, one in enumerate(scores):
            sums[total + score] += share * (one + not_determinable / len(scores))
    return sums


def check_end(end: int, totals: list[float], outside: float) -> None:
    """Check that what lies before an end is no more than may be left out there, and no less."""
    before, up_to = sum(totals[:end]), sum(totals[: end + 1])
    check(before - ROUNDING <= outside < up_to + ROUNDING, "total.interval")


# The rest: danger, and who vouches for what cannot be derived.


def check_danger(danger: Table, interview: Interview) -> None:
    """Check that signs are words of the interview, and that the level is the highest of theirs."""
    signs = danger["signals"]
    for sign in signs:
        interview.check_said(sign, "danger", by_others=True)
    is_counted = len(signs) == min(danger["signal_count"], MOST_SIGNS)
    check(is_counted, "danger: the number of signs")
    levels = ["none", "low", "not_examined", "moderate", "high"]
    found = [sign["level"] for sign in signs]
    found.append("not_examined" if danger["turns_not_examined"] else "none")
    check(danger["level"] == max(found, key=levels.index), "danger")


def check_signature(parts: Table, key: str | None) -> str:
    """Check the signature, and return what to say of it; with a key, it has to be by that one."""
    signer, signature = parts["certificate"]["signed_by"], parts["signature"]
    check((signer is None) == (signature is None), "signed_by")
    check(key is None or key == signer, "signed_by")
    if signer is None:
        return "not signed"
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

        public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer))
        public.verify(bytes.fromhex(signature), canonical(parts["certificate"]))
    except Exception as error:  # noqa: BLE001  the library's own, and others for what is no key
        check(key is None and isinstance(error, ImportError), "signature")
        return "signature NOT CHECKED: `cryptography` is not installed"
    return f"signed by {signer}"


def verify(
    text: str, content: bytes, *, digest: str | None = None, key: str | None = None
) -> list[str]:
    """Return what is still on trust; raises `Refused` for what does not hold."""
    parts = read_file(content)
    certificate = parts["certificate"]
    sha256 = hashlib.sha256(canonical(certificate)).hexdigest()
    check(sha256 == parts["sha256"], "sha256")
    interview = Interview(text, certificate["transcript"])
    is_expected = digest is None or digest.lower() == sha256
    check(is_expected, "sha256: not the digest that was expected")
    notes = [check_signature(parts, None if key is None else key.lower())]
    if not digest and not key:
        notes.append("it is not authenticated: give the result's digest, or a key")
    if certificate["scores"] is not None:
        check_scores(certificate["scores"], interview)
    check_danger(certificate["danger"], interview)
    models = sorted({name for names in certificate["models"].values() for name in names})
    # A name could add lines of its own.
    shown = ", ".join(models).encode("ascii", "backslashreplace").decode()
    return [*notes, *TRUSTED.format(certificate["rules"], shown).splitlines()]


def main() -> int:
    """Check the files that the command line names; 1 for a refusal, 2 for no files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("transcript", "certificate", "--digest", "--key"):
        parser.add_argument(name)
    given = parser.parse_args()
    try:
        with open(given.transcript, "rb") as said, open(given.certificate, "rb") as file:  # noqa: PTH123
            text, content = said.read(MOST_FILE_BYTES), file.read(MOST_FILE_BYTES)
        notes = verify(text.decode(), content, digest=given.digest, key=given.key)
    except Refused as refused:
        print(f"REFUSED: {refused}")
        return 1
    except (OSError, UnicodeDecodeError):
        print("nothing checked: name two files, in UTF-8")
        return 2
    print("The certificate holds.", *notes, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
