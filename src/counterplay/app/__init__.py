"""The applications: `cli` (commands), `web` (pages for the browser) and `reproduction` (the
experiments of the paper)."""
