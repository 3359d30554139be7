"""Limit betting: rules, their public tree (`betting.py`), and rows of a strategy (`rows.py`)."""
