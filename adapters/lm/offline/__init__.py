"""Models that need no key, no network and no litellm. They read only the messages, as a real model does."""

from __future__ import annotations

from adapters.lm.offline.model import NAMES, OfflineLM

__all__ = ["NAMES", "OfflineLM"]
