"""Results that are read back from files: whole ones are shown, others are refused by name."""

import json

import pytest
from tests.fakes.shown_results import DANGEROUS, result_json

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.page.views import sheet_view
from ai_psychiatrist.results.reading import result_of


@pytest.mark.parametrize("kept", [-1, 5])
def test_an_evaluation_that_keeps_no_round_of_its_own_is_refused(kept: int) -> None:
    """Else another narrative would be shown as the one that was kept, or none could be."""
    result = json.loads(result_json(DANGEROUS))
    result["evaluation"]["iteration"] = kept
    with pytest.raises(InputError, match="evaluation is missing or wrong"):
        result_of(json.dumps(result).encode(), field="result.json")


def test_a_sign_of_danger_without_its_words_is_shown_with_its_sentence() -> None:
    result = json.loads(result_json(DANGEROUS))
    sign = result["risk"]["signals"][0]
    sign["text"] = ""
    read = result_of(json.dumps(result).encode(), field="result.json")
    assert sign["sentence"] in sheet_html(sheet_view(read, None))
