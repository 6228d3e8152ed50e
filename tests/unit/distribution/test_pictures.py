"""The pictures of "How sure is it?" show what the code computes."""

import pytest
from docs.images import how_sure


@pytest.mark.parametrize("name", how_sure.PICTURES)
def test_pictures_are_drawn_from_the_code_as_it_is(name: str) -> None:
    kept = (how_sure.FOLDER / f"{name}.svg").read_text("utf-8")
    assert how_sure.PICTURES[name]() == kept, "make house"
