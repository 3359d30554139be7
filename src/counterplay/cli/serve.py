"""The command `serve`: the table in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterplay.base.errors import BadParameter
from counterplay.cli.support import check_can_write

USUAL = ("runs", "results")  # served where nobody says what, if they are there


def serve(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN|STRATEGY|FOLDER]...",
            help="What to look into (default: runs and results, where they are).",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen at; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port (default: 8642, or the next free one)."),
    ] = None,
    keep: Annotated[
        Path, typer.Option("--out", help="Where tables and the hands played at them are kept.")
    ] = Path("tables"),
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a page in the browser: play, watch it learn, explore strategies, exploit, follow runs.

    For example: counterplay serve runs
    """
    from counterplay.web.serve import Wish, serve

    found = places or [Path(name) for name in USUAL if Path(name).is_dir()]
    for place in found:
        if not place.exists():
            raise BadParameter(f"{place}: no such file or folder")
    check_can_write(keep)
    serve(Wish(tuple(found), keep, host, port, browser))
