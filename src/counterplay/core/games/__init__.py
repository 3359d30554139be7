"""Layer 2: rules, a file per game. A file that sets `GAME` is found by the registry; nothing
else needs to know it."""
