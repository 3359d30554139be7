"""Players of hold'em.

Reading order: `bot.py` (the interface), `registry.py` (bots by name), `table.py` (bots that play a
table of probabilities), `simple.py`, `shipped.py` (trained strategies in files), and the packages
`poki` and `sparbot`.
"""
