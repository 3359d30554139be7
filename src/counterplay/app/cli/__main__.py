"""`python -m counterplay.app.cli`: the command line of this very Python."""

from counterplay.app.cli import main

main()
