"""Writes docs/reference/api.md and cli.md from the package: `python tools/make_reference.py`.

`tests/docs/test_reference.py` fails when the pages differ from what this makes.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from functools import cached_property
from pathlib import Path
from typing import Any

import typer

import counterplay as cp
from counterplay.app.cli import app

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- Written by tools/make_reference.py; change the docstrings instead. -->"
GROUPS = {
    "Games": ("load", "save_game", "Game", "CHANCE", "TERMINAL"),
    "Solving": ("solve", "resume", "Run"),
    "Strategies": ("Strategy", "Mixture"),
    "Exact measures": (
        "expected_value",
        "best_response",
        "BestResponse",
        "exploitability",
        "game_value",
        "kuhn_errors",
    ),
    "Robust responses": (
        "respond",
        "resume_response",
        "resume_frontier",
        "Response",
        "frontier",
        "Frontier",
        "confidence",
    ),
    "Matches and bots": (
        "play_match",
        "MatchResult",
        "bot",
        "Bot",
        "View",
        "Ending",
        "view",
        "ending",
        "settle",
    ),
    "Adapting to an opponent": (
        "Adaptive",
        "AdaptiveStanding",
        "play_adaptive",
        "AdaptiveBlock",
        "portfolio",
        "Portfolio",
        "SafePlayer",
    ),
    "The competition's protocol (ACPC)": (
        "play_acpc",
        "AcpcPlayer",
        "deal_acpc",
        "MatchPlan",
        "DealerLimits",
        "acpc_seat",
        "acpc_cards",
    ),
    "The paper": ("reproduce", "reproduce_all", "Outcome"),
}
SHARED = ("counterplay.core.base.display", "counterplay.core.match.result")
WIDTH = 100


def api_page() -> str:
    """All public names, by group; names that no group lists come last."""
    listed = {name for names in GROUPS.values() for name in names}
    rest = tuple(name for name in cp.__all__ if name not in listed)
    parts = [
        "# Python interface",
        NOTE,
        "`import counterplay as cp`. Players are 0 and 1. Exploitability is b1 + b2, the sum. "
        "Errors that a caller can make are "
        "`cp.CounterplayError`, with a message that says what to do.",
    ]
    for title, names in {**GROUPS, "Other": rest}.items():
        parts.append(f"## {title}")
        parts += [_entry(name, getattr(cp, name)) for name in names]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return _class(name, value)
    if callable(value):
        return f"### {name}\n\n{_code(name, value)}{_text(value)}"
    text = f"The number `{value!r}`: what `player()` of a state answers at {_node(name)}."
    return f"### {name}\n\n{text}"


def _node(name: str) -> str:
    return {"CHANCE": "a chance node", "TERMINAL": "the end of a game"}[name]


def _members(value: type) -> dict[str, Any]:
    """Its own, and those of classes that are only there to share them."""
    shared = [one for one in value.__mro__[1:] if one.__module__ in SHARED]
    return {key: member for one in (value, *shared) for key, member in vars(one).items()}


def _class(name: str, value: type) -> str:
    text = f"### {name}{_text(value)}"
    fields = _fields(value)
    if not fields and "__init__" in vars(value):
        text = f"### {name}\n\n{_code(name, value.__init__)}{_text(value)}"
    attributes = {
        key: member
        for key, member in _members(value).items()
        if not key.startswith("_") and key not in fields
    }
    for key, member in attributes.items():
        if isinstance(member, property | cached_property):
            function = member.fget if isinstance(member, property) else member.func
            kind = vars(value).get("__annotations__", {}).get(key) or _result(function)
            fields[key] = (kind, " ".join((inspect.getdoc(member) or "").split()))
    if fields:
        rows = [f"| `{key}` | {_cell(kind)} | {note} |" for key, (kind, note) in fields.items()]
        text += "\n\n| attribute | type | |\n|---|---|---|\n" + "\n".join(rows)
    for key, member in attributes.items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            text += f"\n\n{_code(f'{name}.{key}', function)}{_text(function)}"
    return text


def _fields(value: type) -> dict[str, tuple[str, str]]:
    """Name → type and the comment beside it, of a dataclass or a named tuple."""
    if not (dataclasses.is_dataclass(value) or hasattr(value, "_fields")):
        return {}
    source = textwrap.dedent(inspect.getsource(value))
    lines, body = source.splitlines(), ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    fields = {}
    for node in body.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and not node.target.id.startswith("_")
        ):
            own = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            comment = re.search(r"#\s*(.*)$", own, re.MULTILINE)
            fields[node.target.id] = (ast.unparse(node.annotation), comment[1] if comment else "")
    return fields


def _cell(kind: str) -> str:
    return f"`{kind}`".replace("|", "\\|") if kind else ""


def _result(function: Any) -> str:
    kind = inspect.signature(function).return_annotation
    return kind if isinstance(kind, str) else ""


def _text(value: Any) -> str:
    text = inspect.getdoc(value) or ""
    return f"\n\n{text}" if text else ""


def _code(name: str, function: Any) -> str:
    """A signature, an argument to a line where it is long."""
    signature = inspect.signature(function)
    parts, star = [], False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind == parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(_argument(parameter))
    result = signature.return_annotation
    tail = f" -> {result}" if isinstance(result, str) and result != "None" else ""
    line = f"{name}({', '.join(parts)}){tail}"
    if len(line) > WIDTH:
        line = f"{name}(\n    " + ",\n    ".join(parts) + f",\n){tail}"
    return f"```\n{line}\n```"


def _argument(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
    text = stars + parameter.name
    if isinstance(parameter.annotation, str):
        text += f": {parameter.annotation}"
    if parameter.default is parameter.empty:
        return text
    default = "nothing" if callable(parameter.default) else repr(parameter.default)
    return f"{text} = {default}"


def cli_page() -> str:
    """Every command with what `--help` says."""
    root: Any = typer.main.get_command(app)
    parts = ["# Command line", NOTE, root.help, *_commands("counterplay", root)]
    parts.append(
        "Exit codes: 0 done, 1 an experiment failed, 2 a mistake of the user's, in one sentence, "
        "130 stopped by Ctrl-C."
    )
    return "\n\n".join(parts) + "\n"


def _commands(path: str, group: Any) -> list[str]:
    parts = []
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            parts += _commands(f"{path} {name}", command)
            continue
        if hasattr(command, "with_names"):
            command = command.with_names()
        parts.append(f"## {path} {name}\n\n{inspect.cleandoc(command.help or '')}")
        rows = [_parameter(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            parts.append(
                "| argument or option | what it is | default |\n|---|---|---|\n" + "\n".join(rows)
            )
    return parts


def _parameter(parameter: Any) -> str:
    argument = parameter.param_type_name == "argument"
    name = (
        (parameter.metavar or parameter.name).upper()
        if argument
        else ", ".join([*parameter.opts, *parameter.secondary_opts])
    )
    note = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    value = parameter.default
    shown = (
        value not in (None, "")
        and not isinstance(value, bool)
        and not callable(value)
        and not parameter.required
    )
    default = (
        f"`{value}`"
        if shown
        else "required"
        if parameter.required
        else f"`{parameter.opts[0]}`"
        if value is True
        else ""
    )
    return f"| `{name}` | {note} | {default} |"


PAGES = {"api.md": api_page, "cli.md": cli_page}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
