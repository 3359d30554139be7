"""Limit betting: rules and public tree (`betting.py`), then rows of a strategy (`rows.py`)."""
