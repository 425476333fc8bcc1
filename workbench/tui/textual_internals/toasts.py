"""Toasts that go before their time, for which Textual has no public name."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.notifications import SeverityLevel


def take_back(app: App[Any], title: str, severity: SeverityLevel) -> None:
    """Ends the toasts of this title and severity: what they say is no longer so."""
    for one in [note for note in app._notifications if (note.title, note.severity) == (title, severity)]:
        app._unnotify(one)
