"""What all results have in common: frozen, made of the domain's values, and shown without words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails

from ai_psychiatrist.domain.shape import without_words


class Result(BaseModel):
    """A part of what a caller gets; made from the domain's values by their names.

    Its `repr` and `str` hold numbers, codes and how many there are of everything else: a result
    that is printed, logged or shown in a traceback tells nothing that was said.
    """

    model_config = ConfigDict(
        frozen=True,
        use_attribute_docstrings=True,
        from_attributes=True,
        hide_input_in_errors=True,
        # Built with the first result that is made, and the parts with the whole alone.
        defer_build=True,
    )

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse it; Pydantic's own refusal would repeat the value."""
            error = InitErrorDetails(type="frozen_instance", loc=(name,), input=None)
            raise ValidationError.from_exception_data(type(self).__name__, [error], hide_input=True)

    def __str__(self) -> str:
        """Show it as `repr` does."""
        return repr(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Yield what can be shown of each field."""
        for name, value in self:
            shown = value if isinstance(value, Result) else without_words(value)
            if shown is not None:
                yield name, shown
