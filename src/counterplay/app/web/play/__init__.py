"""Tables: hands between a person and a strategy or a bot, written to disk move by move.

Read in this order: `table` (hands, versions, winnings), `journal` (its file), `boards` and
`game_boards` (what a player sees), `tree_games` and `holdem` (the hands), `holdem_review`,
`opponents`, `tables` (all open tables), `routes`.
"""
