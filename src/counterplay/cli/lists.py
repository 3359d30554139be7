"""Names in help come from the registries: `{bots}` in a text stands for all of them.

They are looked up when help is shown, since that imports every solver and asks the installed
packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand

from counterplay.cli.cluster import with_address


def _solvers(sampled: bool) -> list[str]:
    from counterplay.solvers.algorithms import solver_names

    return solver_names(sampled)


def _responses(sampled: bool) -> list[str]:
    from counterplay.responses.algorithms import RESPONSES

    return [name for name, spec in RESPONSES.items() if spec.sampled == sampled]


def _bots() -> list[str]:
    from counterplay.opponents.bots.registry import BOTS

    return sorted(BOTS)


def _confidences() -> list[str]:
    from counterplay.responses.confidence import KINDS

    return list(KINDS)


LISTS: dict[str, Callable[[], list[str]]] = {
    "bots": _bots,
    "confidences": _confidences,
    "full_width_solvers": lambda: _solvers(False),
    "sampling_solvers": lambda: _solvers(True),
    "full_width_responses": lambda: _responses(False),
    "sampling_responses": lambda: _responses(True),
}


class _Names(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ", ".join(LISTS[key]())


class Command(TyperCommand):
    """A command whose help may have names of `LISTS` in braces, and whose `--ray` needs no
    address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        found: list[str] = super().parse_args(ctx, with_address(args))
        return found

    def with_names(self) -> Command:
        """The same command, its help filled in."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text and "{" in text:
                parameter.help = text.format_map(_Names())  # type: ignore[attr-defined]
        return self

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.with_names()
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        self.with_names()
        return super().shell_complete(ctx, incomplete)
