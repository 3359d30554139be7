"""Matches of hold'em.

Read `match` (`HoldemMatch`, the `Match` of hold'em), `deals` (numbered deals, and kernels for two
strategy tables), `referee` (bots in Python), `log` (hand histories) and `luck_adjustment` (AIVAT).
"""
