"""C4.5 decision trees as Weka's J48 learns them.

Reading order: `tree.py` (a tree, its predictions, JSON), `grow.py` (gain ratio), `learn.py`
(`learn`, collapsing, pessimistic pruning).
"""
