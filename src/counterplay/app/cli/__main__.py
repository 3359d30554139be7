"""`python -m counterplay.app.cli`: the command line, run by this Python."""

from counterplay.app.cli import main

main()
