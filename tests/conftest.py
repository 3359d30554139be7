"""Shared by all tests."""

from hypothesis import settings

# The first example of a property may compile a kernel, which takes as long as it takes.
settings.register_profile("counterplay", deadline=None)
settings.load_profile("counterplay")

pytest_plugins = ["support.command"]  # the fixture `inside`
