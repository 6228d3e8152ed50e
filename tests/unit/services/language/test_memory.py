from ai_psychiatrist.services.language.memory import (
    LONGEST_REMEMBERED,
    forget_clauses,
    remembered,
)


def test_short_texts_are_read_once_and_long_ones_not_kept() -> None:
    read: list[str] = []

    @remembered(4)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    short, long = "x" * LONGEST_REMEMBERED, "x" * (LONGEST_REMEMBERED + 1)
    lengths = [length(text) for text in (short, short, long, long)]

    assert lengths == [len(short), len(short), len(long), len(long)]
    assert read == [short, long, long]
    assert length.cache_info().currsize == 1

    forget_clauses()
    assert length.cache_info().currsize == 0
