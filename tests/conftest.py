"""Shared by all tests: the compiled code of the suite lives in its own cache (named after the sources, as for users)."""
