"""What commands say: facts, a line each for people, one object with stable keys for machines.

A key is the name in snake_case. Where the name for people changes with the game or holds a remark,
`named` gives it a key of its own; where the text for people is more than the value, `Said` has
both.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

out = Console(soft_wrap=True, highlight=False, markup=False)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def go_on(command: str, folder: Path) -> str:
    """How to go on with what was stopped."""
    return f"go on with: counterplay {command} --resume {shlex.quote(str(folder))}"


class Name(str):
    """A name for people with a key for machines."""

    key: str


def named(text: str, key: str) -> Name:
    """`named("exploitability (b1 + b2)", "exploitability")`."""
    name = Name(text)
    name.key = key
    return name


class Said(NamedTuple):
    """A value, and how it is said to people."""

    text: str
    value: Any


def key_of(name: str) -> str:
    """The key of a fact: its own, or its name in snake_case."""
    if isinstance(name, Name):
        return name.key
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({key_of(name): value for name, value in facts.items()})
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        out.print(f"{name:<{width}}  {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, Said):
        return value.text
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else str(value)


def print_json(data: Any) -> None:
    """One line; numbers that JSON does not know are null."""
    print(json.dumps(plain(data), allow_nan=False))


def plain(value: Any) -> Any:
    """For JSON, which knows no infinity: None instead."""
    if isinstance(value, Said):
        return plain(value.value)
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
