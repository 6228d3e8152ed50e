"""The environment variables that set the fields of the settings."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ai_psychiatrist.config.groups import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable and the field it sets."""

    name: str
    group: str
    field: str
    info: FieldInfo
    model: type[BaseModel]

    @property
    def meaning(self) -> str:
        """The sentence under the field."""
        return _sentences(self.model)[self.field]

    def read(self, text: str) -> str | list[str]:
        """Return the value as the field's type reads it; lists are separated by commas."""
        if get_origin(self.info.annotation) is tuple:
            return [part.strip() for part in text.split(",") if part.strip()]
        return text.strip()


def variables() -> Iterator[Variable]:
    """Yield every environment variable in the order of the groups."""
    for group, info in Settings.model_fields.items():
        prefix = "" if group == "features" else f"{group.upper()}_"
        model = info.annotation
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            continue
        for field, field_info in model.model_fields.items():
            yield Variable(
                name=f"{prefix}{field.upper()}",
                group=group,
                field=field,
                info=field_info,
                model=model,
            )


@cache
def _sentences(model: type[BaseModel]) -> dict[str, str]:
    """Return field → the sentence under it.

    Read from the source when it is asked for: Pydantic would do so at each import, which takes
    longer than importing the rest of the settings.
    """
    definition = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: " ".join(str(sentence.value.value).split())
        for field, sentence in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(sentence, ast.Expr)
        and isinstance(sentence.value, ast.Constant)
    }
