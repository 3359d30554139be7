"""The option `--ray [ADDRESS]` of commands whose work can be spread over a cluster."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from counterplay.base.cluster import enter

LOCAL = "local"
#: After `--ray`: an address, not what the command itself is about.
_ADDRESS = re.compile(r"(ray://)?[\w.\-\[\]]+:\d+")

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
