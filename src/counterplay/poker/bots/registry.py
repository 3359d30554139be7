"""Bots by name. A new bot is a file that sets `BOT`, and its test."""

from __future__ import annotations

from counterplay.core.base.registry import Registry
from counterplay.poker.bots.spec import BotSpec

BOTS: Registry[BotSpec] = Registry("bot", lambda spec: isinstance(spec, BotSpec))
