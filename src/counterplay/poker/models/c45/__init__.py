"""C4.5 decision trees as Weka's J48 learns them.

Reading order: `tree.py` (a tree and its predictions), `grow.py` (gain ratio), `learn.py` (`learn`,
collapsing, pessimistic pruning), `file.py` (JSON).
"""
