"""Matches of hold'em: numbered deals, tables and bots, logs, luck adjustment."""
