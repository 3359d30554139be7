"""The adaptive player of hold'em: a portfolio of responses with a tracker of the opponent, or a
single response learnt online.

Read `player`, then `tracker`, `bandit`, `response`, `portfolio`, `belief`; `play` is a match of it,
`bot` registers it.
"""
