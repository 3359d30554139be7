"""Layer 2: rules, a file per game; games and policies of other programs (`gambit`, `gambit_write`,
`openspiel`); and `players`, which resolves what a user writes to a player.

A file that sets `GAME` is found by the registry; no other file names it. Read `kuhn` first (plain
Python), then `ocp` (compiled rules).
"""
