"""Games as Gambit's files have them, written by hand."""

from __future__ import annotations

#: Myerson's card game: Fred raises or folds, Alice meets or passes without seeing the card.
POKER = r"""EFG 2 R "A simple \"poker\" game" { "Fred" "Alice" }
"What stands here is a comment.
It may have several lines."

c "ROOT" 1 "(0,1)" { "Red" 1/2 "Black" 0.500 } 0
p "" 1 1 "(1,1)" { "Raise" "Fold" } 0
p "" 2 1 "(2,1)" { "Meet" "Pass" } 0
t "" 1 "Big win" { 2, -2 }
t "" 2 "Win" { 1 -1 }
t "" 2
p "" 1 2 "(1,2)" { "Raise" "Fold" } 0
p "" 2 1 0
t "" 3 "Big loss" { -2, 2 }
t "" 2
t "" 4 "Loss" { -1, 1 }
"""

#: An outcome on the way adds to that of the end; two sets of one name; an action named twice.
FEE = """EFG 2 R "fee" { "" "" } p "" 1 1 "s" { "in" "in" } 5 "fee" { -1 1/2 }
p "" 2 1 "s" { "x" "" } 0 t "" 1 "" { 3 0 } t "" 0
t "" 2 "" { .5 -1e0 }"""

#: By payoffs, and by outcomes: the same game, in which the first player's choice changes fastest.
PLAIN = 'NFG 1 R "table" { "Row" "Column" } { 3 2 }\n\n1 2 3 4 5 6 -1 -2 -3 -4 1/2 0.25\n'
OUTCOMES = """NFG 1 R "table" { "Row" "Column" }
{ { "1" "2" "3" } { "1" "2" } }
"a comment"
{ { "a" 1, 2 } { "b" 3, 4 } { "c" 5 6 } { "d" -1 -2 } { "e" -3, -4 } { "f" 1/2, 0.25 } }
1 2 3 4 5 6
"""
