"""Shared by all tests."""

import gc
import signal

from hypothesis import settings

# The first example of a property may compile a kernel, which takes as long as it takes.
settings.register_profile("counterplay", deadline=None)
settings.load_profile("counterplay")

# A shell starts background jobs with Ctrl-C ignored, and so do they their children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled kernels leave millions of objects that stay: the collector looks through them seldom.
gc.set_threshold(20_000, 20, 50)

pytest_plugins = ["support.command"]  # the fixture `inside`
