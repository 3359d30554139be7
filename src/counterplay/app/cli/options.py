"""Options that several commands share, and the classes of the commands.

A help text may contain the name of a list in braces, such as `{bots}`. It is filled in from the
registries only when help is shown, since that imports every solver.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from counterplay.app.cli.display import err
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.registry import runs_user_code

MOST = 10**18  # of any count
LOCAL = "local"
_ADDRESS = re.compile(r"(ray://)?[\w.\-\[\]]+:\d+")  # after --ray


def integer(text: Any) -> int:
    """Parses a whole number, also written as 1e6, 1_000_000 or 1,000,000."""
    try:
        number = Decimal(str(text).replace("_", "").replace(",", ""))
        if number != number.to_integral_value() or abs(number) > MOST:
            raise InvalidOperation
        return int(number)
    except (InvalidOperation, ValueError, OverflowError):
        message = f"{text!r} is not a whole number, such as 1000000 or 1e6"
        raise typer.BadParameter(message) from None


def iterations_option(text: str) -> Any:
    """The option -n with this help."""
    return Option("-n", "--iterations", help=text, parser=integer)


def seconds_option(text: str) -> Any:
    """The option -s with this help."""
    return Option("-s", "--seconds", help=text)


PLAYER = (
    "a strategy file, the folder of a run or response, a model (.json), file.py:Name, uniform, or "
    "a bot: {bots}"
)
AsJson = Annotated[bool, Option("--json", help="Print one JSON object.")]
Seed = Annotated[int, Option(help="Seed of all random numbers; the same seed, the same bits.")]
GameOf = Annotated[
    str | None, Option("--game", help="The game; see `counterplay games`. Not needed with a file.")
]
Iterations = Annotated[int | None, iterations_option("Stop after so many iterations in total.")]
Seconds = Annotated[float | None, seconds_option("Stop after so many seconds of solving.")]
NewRun = Annotated[
    Path | None, Option("--out", help="Run folder to create (default: a new one under runs/).")
]
Resume = Annotated[Path | None, Option(help="Continue the run in this folder.")]
SolverOptions = Annotated[
    list[str] | None,
    Option("-o", "--option", help="An option of the algorithm, such as epsilon=0.6 or c=2."),
]
Responder = Annotated[str, Option("--player", help="The seat that responds: 1, 2, ... or both.")]
MaxRisk = Annotated[float | None, Option(help="Hold'em: the same in mb/g, the mean of the seats.")]
ResponseName = Annotated[
    str | None,
    Option(
        "-a",
        "--algorithm",
        help="Full width: {full_width_responses}. Sampling: {sampling_responses}. Default: rnr, in "
        "hold'em mcrnr.",
    ),
]
Engine = Annotated[
    str | None,
    Option(
        help="The solver inside. Full width: {full_width_solvers}. Sampling: {sampling_solvers}. "
        "Default: lp where it takes about a second, else cfr+; for sampling mccfr, in hold'em "
        "as in solve."
    ),
]
Adversary = Annotated[
    str,
    Option(
        help="Hold'em: whom it is robust against, an adversary with the buckets of the responder "
        "(abstract) or one that sees its cards (real)."
    ),
]
Backend = Annotated[
    str | None,
    Option(help="Hold'em: device that traverses the boards: cuda, cpu or auto (the default)."),
]
Flops = Annotated[
    int | None, Option(help="Hold'em: estimate from so many flops, with a 95% interval.")
]
Ray = Annotated[
    str | None,
    Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Distribute the work over the Ray cluster at host:port; without an address over one "
        "that is running or started here.",
    ),
]


def use_ray(address: str | None) -> dict[str, Any]:
    """Connects to the cluster until the command ends (`Commands.invoke`); returns the options of a
    sampling solver."""
    if address is None:
        return {}
    from counterplay.core.parallel.ray_cluster import enter

    enter(None if address == LOCAL else address)
    return {"pool": "ray"}


def with_address(words: list[str]) -> list[str]:
    """The command line with a value after each `--ray`: `local` where none was typed."""
    end = words.index("--") if "--" in words else len(words)
    completed = list(words)
    for k in range(end):
        following = words[k + 1] if k + 1 < len(words) else ""
        if words[k] == "--ray" and not _ADDRESS.fullmatch(following):
            completed[k] = f"--ray={LOCAL}"
    return completed


class _Lists(dict[str, str]):
    """The lists that help texts may name, as text; each is imported when it is looked up."""

    def __missing__(self, name: str) -> str:
        return ", ".join(_items(name))


def _items(name: str) -> Iterable[str]:
    if name == "bots":
        from counterplay.poker.bots.registry import BOTS

        return sorted(BOTS)
    if name == "confidences":
        from counterplay.core.responses.algorithms import KINDS

        return KINDS
    kind, _, registry = name.rpartition("_")
    sampled = {"full_width": False, "sampling": True}[kind]
    if registry == "solvers":
        from counterplay.core.solvers.algorithms import solver_names

        return solver_names(sampled)
    from counterplay.core.responses.algorithms import RESPONSES

    return [name for name, spec in RESPONSES.items() if spec.sampled == sampled]


class Command(TyperCommand):
    """A command whose help may name lists in braces, and whose `--ray` needs no address. An option
    with one value is given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = with_address(args)
        typed = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in typed:  # of several values the last one would count
            several = getattr(option, "multiple", True) or getattr(option, "is_flag", True)
            if not several and typed.count(option) > 1:
                raise BadParameter(f"{max(option.opts, key=len)} is given twice; give it once")
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def with_names(self) -> Command:
        """Fills in the lists that the help texts name."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text and "{" in text:
                parameter.help = text.format_map(_Lists())  # type: ignore[attr-defined]
        return self

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super(Command, self.with_names()).format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        return super(Command, self.with_names()).shell_complete(ctx, incomplete)


class Commands(TyperGroup):
    """Ends Ctrl-C that no command handled with one sentence, and disconnects from the cluster."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if any("\0" in word for word in args):
            raise BadParameter("a word of the command contains a null byte")
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("stopped; nothing was saved.")
            raise typer.Exit(130) from None
        finally:
            cluster = sys.modules.get("counterplay.core.parallel.ray_cluster")
            if cluster is not None:  # otherwise the command did not use it
                cluster.leave()


def given(context: typer.Context) -> dict[str, str]:
    """The parameters that the user typed: name, and how it is written."""
    typed = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT"):
            long = [text for text in parameter.opts if text.startswith("--")]
            typed[str(parameter.name)] = long[0] if long else str(parameter.name).upper()
    return typed


def refuse_others(context: typer.Context, allowed: Iterable[str], why: str) -> None:
    """Refuses every typed option but `allowed`, since it would have no effect."""
    idle = [text for name, text in given(context).items() if name not in allowed]
    if idle:
        raise BadParameter(f"{why}; leave out {', '.join(idle)}")


def refuse_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Refuses the typed options among `names`, since they would have no effect."""
    refuse_others(context, set(given(context)) - set(names), why)


def refuse_but_limits(
    context: typer.Context, game: str | None, also: Iterable[str] = (), what: str = "run"
) -> None:
    """Refuses everything but limits beside --resume; a user-defined game must be typed again, since
    no file may run code."""
    allowed = ["resume", "iterations", "seconds", "target", "ray", "as_json", *also]
    allowed += ["game"] if runs_user_code(game) else []
    refuse_others(context, allowed, f"--resume takes everything but the limits from the {what}")


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """`["epsilon=0.6"]` -> `{"epsilon": 0.6}`."""
    options: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise BadParameter(f"write an option as name=value, such as epsilon=0.6, not {text!r}")
        try:
            options[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            options[name] = value
    return options


def measure_options(
    backend: str | None, flops: int | None, seed: int | None = None
) -> dict[str, Any]:
    """The options of a hold'em evaluation that were given."""
    options = {"backend": backend, "flops": flops, "seed": seed}
    return {name: value for name, value in options.items() if value is not None}
