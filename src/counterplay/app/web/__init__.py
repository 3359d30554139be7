"""The browser interface that `counterplay serve` starts: play, watch a learner, explore, exploit,
runs.

Read in this order: `serve` (socket and server), `app` (pages and routes), `access` (which requests
are allowed), `http` (replies and request fields), `catalog` (served files), `strategies` (games,
strategies and opponents by key); then the pages: `play/`, `learning`, `explore`, `exploit`, `runs`.
The scripts of the pages are in `static/`.
"""
