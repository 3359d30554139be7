"""Tables: hands between a person and a strategy or a bot, written to disk move by move.

Read in this order: `table` (hands, versions, winnings, journal), `tree_games` with `game_boards`
and `holdem` (hands and what a player sees of them), `tables` (all open tables, and the requests
about them).
"""
