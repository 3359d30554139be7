"""`python -m counterplay.cli`: the command line of this very Python."""

from counterplay.cli import main

main()
