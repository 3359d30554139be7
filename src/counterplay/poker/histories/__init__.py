"""Hands that were played: records, and the formats they are kept in."""
