"""Players of hold'em: simple ones, tables, Poki, Sparbot, and whatever acts."""
