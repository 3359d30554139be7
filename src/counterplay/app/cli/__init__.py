"""Layer 6: the command line, a file per group of commands."""

from counterplay.app.cli.commands import app, main

__all__ = ["app", "main"]
