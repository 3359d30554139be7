"""Looking into a strategy: information sets with values and regrets, holdings on a board."""
