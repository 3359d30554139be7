"""Options that several commands share, and the class of all commands.

A help text may have the name of a list in braces, such as `{bots}`: it is filled in from the
registries when help is shown, since that imports every solver and asks the installed packages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from counterplay.app.cli.display import err
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.registry import is_user_defined
from counterplay.core.parallel.ray_cluster import enter, leave

MOST = 10**18  # of anything that is counted
LOCAL = "local"
_ADDRESS = re.compile(r"(ray://)?[\w.\-\[\]]+:\d+")  # after --ray


def integer(text: Any) -> int:
    """A whole number, also as 1e6, 1_000_000 or 1,000,000."""
    try:
        number = Decimal(str(text).replace("_", "").replace(",", ""))
        if number != number.to_integral_value() or abs(number) > MOST:
            raise InvalidOperation
        return int(number)
    except (InvalidOperation, ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a whole number, such as 1000000 or 1e6"
        ) from None


def iterations(text: str) -> Any:
    """How many, with this help."""
    return typer.Option("-n", "--iterations", help=text, parser=integer)


PLAYER = (
    "a strategy file, the folder of a run or response, a model (.json), file.py:Name, uniform, or "
    "a bot: {bots}"
)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bits.")]
GameOf = Annotated[
    str | None,
    typer.Option("--game", help="Which game; see `counterplay games`. Not needed with a file."),
]
NewRun = Annotated[
    Path | None,
    typer.Option("--out", help="Run folder to create (default: a new one under runs/)."),
]
Responder = Annotated[str, typer.Option("--player", help="Who responds: 1, 2 or both.")]
ResponseAlgorithm = Annotated[
    str | None,
    typer.Option(
        "-a",
        "--algorithm",
        help="Full width: {full_width_responses}. Sampling: {sampling_responses}. Without it: rnr, "
        "in hold'em mcrnr.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="The solver inside. Full width: {full_width_solvers}. Sampling: {sampling_solvers}. "
        "Without it: cfr+, for sampling mccfr, in hold'em what solve takes."
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(help="Hold'em: where boards are walked: cuda, cpu, or auto (the default)."),
]
Flops = Annotated[
    int | None,
    typer.Option(help="Hold'em: estimate it from so many flops, with a 95% interval."),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Spread the work over a Ray cluster: at host:port, or one that is found or started "
        "here.",
    ),
]


def use_ray(address: str | None) -> dict[str, Any]:
    """Connect for the rest of the command (`Commands.invoke`); what a solver that samples is
    told."""
    if address is None:
        return {}
    enter(None if address == LOCAL else address)
    return {"pool": "ray"}


def with_address(words: list[str]) -> list[str]:
    """A command line in which `--ray` has a value: `local` where none was typed."""
    found = []
    for k, word in enumerate(words):
        found.append(word)
        if word == "--":
            return found + words[k + 1 :]
        if word == "--ray":
            following = words[k + 1] if k + 1 < len(words) else ""
            if not _ADDRESS.fullmatch(following):
                found[-1] = f"--ray={LOCAL}"
    return found


def _solvers(sampled: bool) -> list[str]:
    from counterplay.core.solvers.algorithms import solver_names

    return solver_names(sampled)


def _responses(sampled: bool) -> list[str]:
    from counterplay.core.responses.algorithms import RESPONSES

    return [name for name, spec in RESPONSES.items() if spec.sampled == sampled]


def _bots() -> list[str]:
    from counterplay.poker.bots.registry import BOTS

    return sorted(BOTS)


def _confidences() -> list[str]:
    from counterplay.core.responses.algorithms import KINDS

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


class Commands(TyperGroup):
    """Ctrl-C in a command that has nothing to say about it ends with one sentence, and any command
    leaves the cluster it was on."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("stopped; nothing was kept.")
            raise typer.Exit(130) from None
        finally:
            leave()


def given(context: typer.Context) -> dict[str, str]:
    """What the user typed, by the name of the parameter: how it is written."""
    found = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT"):
            long = [text for text in parameter.opts if text.startswith("--")]
            found[str(parameter.name)] = long[0] if long else str(parameter.name).upper()
    return found


def refuse_others(context: typer.Context, allowed: Iterable[str], why: str) -> None:
    """An option that would do nothing is refused: all that was typed but `allowed`."""
    idle = [text for name, text in given(context).items() if name not in allowed]
    if idle:
        raise BadParameter(f"{why}; leave out {', '.join(idle)}")


def refuse_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """The same the other way round: `names` would do nothing here."""
    refuse_others(context, set(given(context)) - set(names), why)


def refuse_but_limits(
    context: typer.Context, game: str | None, also: Iterable[str] = (), what: str = "run"
) -> None:
    """With --resume only limits count, and a user-defined game, which no file runs."""
    allowed = ["resume", "iterations", "seconds", "target", "ray", "as_json", *also]
    allowed += ["game"] if is_user_defined(game) else []
    refuse_others(context, allowed, f"--resume takes everything but the limits from the {what}")


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """`["epsilon=0.6"]` -> `{"epsilon": 0.6}`."""
    return dict(_read_option(text) for text in texts or [])


def _read_option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadParameter(f"write an option as name=value, such as epsilon=0.6, not {text!r}")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()


def walk_options(backend: str | None, flops: int | None, seed: int | None = None) -> dict[str, Any]:
    """What was asked for of a walk by the boards of hold'em."""
    asked = {"backend": backend, "flops": flops, "seed": seed}
    return {name: value for name, value in asked.items() if value is not None}
