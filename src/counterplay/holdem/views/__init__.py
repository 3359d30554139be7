"""Views of the cards: which bucket a holding has on a board. One file each; `registry.py` finds
them by name."""
