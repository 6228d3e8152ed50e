"""Damage the text of a known answer in one way, as models do."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import TypeAlias

from tests.fakes.replies import ITEMS
from tests.fuzz.known_answers import SAID, Answer, Damaged, written

Damage: TypeAlias = Callable[[Random, Answer], Damaged]
IsPlace: TypeAlias = Callable[[list[str], int], bool]


def changed_text(change: Callable[[Random, str], str], **flags: bool) -> Damage:
    """Damage the written text; what the answer says stays the same."""

    def damage(draw: Random, value: Answer) -> Damaged:
        return Damaged(text=change(draw, written(draw, value)), value=value, **flags)

    return damage


def changed_lines(change: Callable[[Random, str], str], **flags: bool) -> Damage:
    """Damage a text of many lines."""

    def damage(draw: Random, value: Answer) -> Damaged:
        text = json.dumps(value, ensure_ascii=False, indent=draw.choice((0, 2)))
        return Damaged(text=change(draw, text), value=value, **flags)

    return damage


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\s+')


def tokens(text: str) -> list[str]:
    """Return the marks, texts and spaces of valid JSON."""
    return _TOKEN.findall(text)


def changed_at(draw: Random, text: str, is_place: IsPlace, new: str) -> str:
    """Replace one token among those at which a condition holds; `{}` is the token itself."""
    found = tokens(text)
    places = [at for at in range(len(found)) if is_place(found, at)]
    if not places:
        return text
    at = draw.choice(places)
    found[at] = new.replace("{}", found[at])
    return "".join(found)


def _before(found: list[str], at: int) -> str:
    return next((token for token in reversed(found[:at]) if not token.isspace()), "")


def _after(found: list[str], at: int) -> str:
    return next((token for token in found[at + 1 :] if not token.isspace()), "")


def _is(*marks: str) -> IsPlace:
    return lambda found, at: found[at] in marks


def _ends_object(found: list[str], at: int) -> bool:
    return found[at] == "}" and _before(found, at) != "{"


def _ends_list(found: list[str], at: int) -> bool:
    return found[at] == "]" and _before(found, at) != "["


def _parts_members(found: list[str], at: int) -> bool:
    return found[at] == "," and _after(found, found.index(_after(found, at), at)) == ":"


def _parts_elements(found: list[str], at: int) -> bool:
    return found[at] == "," and not _parts_members(found, at)


def is_number(found: list[str], at: int) -> bool:
    return found[at].isdigit()


def is_element(found: list[str], at: int) -> bool:
    return found[at].startswith('"') and _after(found, at) != ":" and _before(found, at) in ",["


def _parts_items(found: list[str], at: int) -> bool:
    return found[at] == "," and _after(found, at).strip('"') in ITEMS


def _ends_item_list(found: list[str], at: int) -> bool:
    return found[at] == "]" and _after(found, at) == ","


def replaced(is_place: IsPlace, new: str) -> Callable[[Random, str], str]:
    return lambda draw, text: changed_at(draw, text, is_place, new)


def everywhere(pattern: str, new: str) -> Callable[[Random, str], str]:
    def change(_: Random, text: str) -> str:
        return "".join(
            re.sub(pattern, new, token) if not token.startswith('"') else token
            for token in tokens(text)
        )

    return change


def each_string(change: Callable[[str], str]) -> Callable[[Random, str], str]:
    def changed(_: Random, text: str) -> str:
        return "".join(change(token) if token.startswith('"') else token for token in tokens(text))

    return changed


def _said(draw: Random, value: Answer, texts: tuple[str, ...]) -> Answer:
    """Return the answer with one of these texts in an evidence list or a reason."""
    item, text = draw.choice(ITEMS), draw.choice(texts)
    held = value[item]
    if isinstance(held, dict):
        name = draw.choice(("evidence", "reason"))
        return value | {
            item: held | {name: [*draw.sample(SAID, 1), text] if name == "evidence" else text}
        }
    return value | {item: [*draw.sample(SAID, draw.randint(0, 2)), text, *draw.sample(SAID, 1)]}


_QUOTATIONS = (
    'he said "no" to me',
    'they call it "the blues", I think',
    'I said, "I am done" and left',
    'and then "stop" again and "go"',
    'it is ("so to speak") gone',
)


def _quotations(draw: Random, value: Answer) -> Damaged:
    said = _said(draw, value, _QUOTATIONS)
    return Damaged(text=written(draw, said).replace('\\"', '"'), value=said)


def _apostrophes(draw: Random, value: Answer) -> Damaged:
    said = _said(draw, value, ("I don't know", "it's what I've got", "I can't and I won't"))
    text = each_string(lambda token: f"'{token[1:-1]}'")(draw, written(draw, said))
    return Damaged(text=text, value=said)


def _raw_breaks(draw: Random, value: Answer) -> Damaged:
    said = _said(draw, value, ("first line\nsecond line", "a\ttab", "one\n\nthree"))
    return Damaged(text=written(draw, said).replace("\\n", "\n").replace("\\t", "\t"), value=said)


def _markdown_escapes(draw: Random, value: Answer) -> Damaged:
    return Damaged(text=written(draw, value).replace("PHQ8_", "PHQ8\\_"), value=value)


def _constants(draw: Random, value: Answer) -> Damaged:
    item = draw.choice(ITEMS)
    held = value[item]
    with_null = value | {item: held | {"score": None} if isinstance(held, dict) else None}
    return Damaged(
        text=everywhere(r"\bnull\b", "None")(draw, written(draw, with_null)), value=with_null
    )


def _unknown_words(draw: Random, value: Answer) -> Damaged:
    word = draw.choice(("", "unknown", "n/a", "Unknown"))
    texts = {
        item: held | {"score": word} if isinstance(held, dict) and held["score"] == "N/A" else held
        for item, held in value.items()
    }
    return Damaged(text=written(draw, texts), value=value)


def _numbers_as_texts(_: Random, value: Answer) -> Damaged:
    return Damaged(text=re.sub(r": (\d)\b", r': "\1"', json.dumps(value)), value=value)


def _cut(draw: Random, value: Answer) -> Damaged:
    text = written(draw, value)
    return Damaged(
        text=text[: draw.randrange(1, len(text))], value=value, is_whole=False, is_cut=True
    )


def _in_unclosed_thinking(draw: Random, value: Answer) -> Damaged:
    text = f"<think>I would say\n{written(draw, value)}\n"
    return Damaged(text=text, value=value, is_whole=False, is_cut=True)


def _key_twice(draw: Random, value: Answer) -> Damaged:
    item = draw.choice(ITEMS)
    text = written(draw, value)
    other = json.dumps(value[draw.choice(ITEMS)], ensure_ascii=False)
    return Damaged(text=f'{{"{item}": {other}, {text[1:]}', value=value, is_whole=False)


def _marks_lost(number: int) -> Damage:
    def damage(draw: Random, value: Answer) -> Damaged:
        text = written(draw, value)
        for _ in range(number):
            places = [mark.start() for mark in re.finditer('"', text)]
            at = draw.choice(places[1:-1])
            text = text[:at] + text[at + 1 :]
        # What is left can be valid: then nothing tells that it once was another answer.
        return (
            damage(draw, value)
            if _is_valid(text)
            else Damaged(text=text, value=value, is_whole=False)
        )

    return damage


def _is_valid(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _bracket_lost(draw: Random, value: Answer) -> Damaged:
    text = changed_at(draw, written(draw, value), _is("{", "}", "[", "]"), "")
    return Damaged(text=text, value=value, is_whole=False)


def _bracket_moved(draw: Random, value: Answer) -> Damaged:
    found = tokens(written(draw, value))
    at = draw.choice([at for at in range(1, len(found) - 1) if found[at] in "{}[]"])
    mark = found.pop(at)
    to = max(1, min(len(found) - 1, at + draw.choice((-4, -3, -2, 2, 3, 4, 6))))
    found.insert(to, mark)
    return Damaged(text="".join(found), value=value, is_whole=False)


def _in_parts(draw: Random, value: Answer) -> Damaged:
    at = draw.randrange(1, 7)
    items = list(value.items())
    parts = (written(draw, dict(items[:at])), written(draw, dict(items[at:])))
    return Damaged(
        text=draw.choice(("\n", "\n\nAnd:\n", ",\n")).join(parts), value=value, is_whole=False
    )


def _as_list(draw: Random, value: Answer) -> Damaged:
    return Damaged(text=f"[{written(draw, value)}]", value=value, is_whole=False)


def _as_text(draw: Random, value: Answer) -> Damaged:
    return Damaged(text=json.dumps(written(draw, value)), value=value)


def _closed_early(draw: Random, value: Answer) -> Damaged:
    return Damaged(text=changed_at(draw, written(draw, value), _parts_items, "}{}"), value=value)


KEY = re.compile(r'"(\w+)"(?=\s*:)')
_COMMENT = "most days, I think"

DAMAGE: dict[str, Damage] = {
    "none": changed_text(lambda _, text: text),
    "comma before }": changed_text(replaced(_ends_object, ",{}")),
    "comma before ]": changed_text(replaced(_ends_list, ",{}")),
    "comma left out between members": changed_text(replaced(_parts_members, " ")),
    "comma left out between lines": changed_lines(replaced(_parts_elements, "")),
    "comma doubled between members": changed_text(replaced(_parts_members, ",,")),
    "comma doubled in a list": changed_text(replaced(_parts_elements, ",,"), is_whole=False),
    "comma after the end": changed_text(lambda _, text: text + ","),
    "Python's repr": lambda _, value: Damaged(text=repr(value), value=value),
    "single marks, apostrophes inside": _apostrophes,
    "typographic marks": changed_text(each_string(lambda token: f"“{token[1:-1]}”")),
    "typographic single marks": changed_text(each_string(lambda token: f"‘{token[1:-1]}’")),
    "keys without marks": changed_text(lambda _, text: KEY.sub(r"\1", text)),
    "keys in single marks": changed_text(lambda _, text: KEY.sub(r"'\1'", text)),
    "constants of Python": _constants,
    "// after a value": changed_lines(replaced(is_number, f"{{}} // {_COMMENT}\n")),
    "# after a value": changed_lines(replaced(is_number, f"{{}} # {_COMMENT}\n")),
    "/* */ after a value": changed_text(replaced(is_number, f"{{}} /* {_COMMENT} */")),
    "// after a comma": changed_lines(replaced(_parts_members, f"{{}} // {_COMMENT}")),
    "# after a comma": changed_lines(replaced(_parts_items, f"{{}} # {_COMMENT}")),
    "comment at the top": changed_text(lambda _, text: f"{{ // {_COMMENT}\n{text[1:]}"),
    "zero-width spaces": changed_text(everywhere(r"([{},:\[])", "\u200b\\1\ufeff")),
    "hard spaces": changed_text(everywhere(r" ", "\u00a0")),
    "quotation inside": _quotations,
    "line breaks inside": _raw_breaks,
    "escapes of Markdown": _markdown_escapes,
    "escaped apostrophes": changed_text(each_string(lambda token: token.replace("'", "\\'"))),
    "closed too early": _closed_early,
    "stray ]": changed_text(replaced(_ends_item_list, "{}]")),
    "} for ]": changed_text(replaced(_ends_item_list, "}")),
    "] left out before the next key": changed_text(replaced(_ends_item_list, "")),
    "brackets after the end": changed_text(
        lambda draw, text: text + draw.choice(("}", "]", "}]}", "\n}"))
    ),
    "written once more as text": _as_text,
    "byte order mark": changed_text(lambda _, text: f"\ufeff{text}"),
    "CRLF": changed_lines(lambda _, text: text.replace("\n", "\r\n")),
    "numbers as texts": _numbers_as_texts,
    "unknown in words": _unknown_words,
    "assigned to a name": changed_text(lambda _, text: f"result = {text}"),
    "cut off": _cut,
    "last bracket lost": changed_text(lambda _, text: text[:-1], is_whole=False, is_cut=True),
    "some bracket lost": _bracket_lost,
    "bracket moved": _bracket_moved,
    "still thinking": _in_unclosed_thinking,
    "value left out": changed_text(replaced(is_number, ""), is_whole=False),
    "number spaced": changed_text(replaced(is_number, "{} 000"), is_whole=False),
    "not a number": changed_text(replaced(is_number, "NaN"), is_whole=False),
    "key twice": _key_twice,
    "mark lost": _marks_lost(1),
    "two marks lost": _marks_lost(2),
    "ellipsis": changed_text(replaced(_ends_item_list, ", ...{}"), is_whole=False),
    "colon lost": changed_text(replaced(_is(":"), " "), is_whole=False),
    "in two objects": _in_parts,
    "in a list": _as_list,
}
