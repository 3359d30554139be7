"""Models of an opponent, learnt from his hands."""
