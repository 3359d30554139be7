"""Tables: a game between a person and a strategy or a bot, kept on disk move by move."""
