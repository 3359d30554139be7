"""The command line: `commands` has the entry point and lists all commands, `options` the shared
options, `display` the output and the run folders; the other files are groups of commands."""

from counterplay.app.cli.commands import app, main

__all__ = ["app", "main"]
