"""What a file says of a game, or of a way to get games from elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from counterplay.core.base.errors import BadParameter


@dataclass(frozen=True)
class GameSpec:
    """`make(...)` returns rules; its parameters are the parameters of the game."""

    name: str
    make: Callable[..., Any]
    summary: str
    examples: tuple[str, ...]
    arguments: Callable[[Any], str] | None = (
        None  # of the canonical name, where they follow from the rules
    )

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise BadParameter(
                f"the name of a game is a word in small letters, such as kuhn, not {self.name!r}"
            )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Canonical name and rules for given arguments."""
        signature = inspect.signature(self.make)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise BadParameter(
                f"{self.name}: {error}; write it like {' or '.join(self.examples)}"
            ) from None
        bound.apply_defaults()
        rules = self.make(*bound.args, **bound.kwargs)
        if self.arguments is not None:
            return f"{self.name}({self.arguments(rules)})", rules
        parts = []
        for name, value in bound.arguments.items():
            default = signature.parameters[name].default
            if default is inspect.Parameter.empty:
                parts.append(f"{value}")
            elif value != default:
                parts.append(f"{name}={value}")
        canonical = f"{self.name}({','.join(parts)})" if parts else self.name
        return canonical, rules


@dataclass(frozen=True)
class GameSource:
    """Games that are written elsewhere. `name`: what stands before a colon, as in
    `open_spiel:hex`, or the ending of a file."""

    name: str
    read: Callable[[str], Any]  # the rules, from what follows the colon or the file's path
    example: str


def yes_or_no(value: Any, what: str) -> bool:
    """`value` if it is a bool, else `BadParameter`."""
    if not isinstance(value, bool):
        raise BadParameter(f"{what} must be True or False, not {value!r}")
    return value
