"""Any two-player (or larger) game: its forms, solvers, responses, evaluation and matches.

Nothing here knows of poker. Read `forms/`, then `solvers/`, `evaluation/`, `responses/`, `match/`.
"""
