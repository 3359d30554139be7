"""Poki, the formula-based player of Davidson and Billings (2002): a re-creation from published descriptions."""
