"""What every other package builds on; nothing here knows about games.

`errors`, then files (`disk`: whole or absent; `files`: formats; `version` and `store`: cached
results, found by a hash of what made them), `registry` (objects by name), `memory`, `progress`, and
presentation: `display`, `plotting`.
"""
