"""Matches of hold'em.

Read `match` (`HoldemMatch`, the `Match` of hold'em, and its hand histories), `deals` (numbered
deals, and kernels for two strategy tables), `referee` (bots in Python) and `luck_adjustment`
(AIVAT).
"""
