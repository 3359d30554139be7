"""Layer 1: games as arrays, and strategies of them.

Read in this order: `rules` (the ways to write a game), `tree` (`HistoryTree`), `sequence`
(`SequenceForm`), `access` (the questions that kernels ask a form), `representation`, `game` and
`strategy`. `states` and `expand` build trees; `compiled`, `rules_form`, `infoset_table` and
`hash_strategy` play compiled rules without one; `restricted` has the RNR and DBR transforms;
`registry` loads games by name; `checks` looks for errors in rules.
"""
