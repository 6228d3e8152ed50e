"""The environment variables that set the fields of the settings."""

from collections.abc import Iterator
from dataclasses import dataclass
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

    @property
    def meaning(self) -> str:
        """What the field says of itself, in a sentence."""
        return self.info.description or ""

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
            name = f"{prefix}{field.upper()}"
            yield Variable(name=name, group=group, field=field, info=field_info)
