"""The keys of a prompt."""

from __future__ import annotations

from textual.binding import Binding

_PROMPT = Binding.Group("Prompt")


def _key(key: str, action: str, description: str, id: str, tooltip: str) -> Binding:
    return Binding(key, action, description, show=False, id=id, tooltip=tooltip, group=_PROMPT)


PROMPT_BINDINGS: tuple[Binding, ...] = (
    _key("down", "row(1)", "Next row", "prompt.down", "To the row below"),
    _key("up", "row(-1)", "Row above", "prompt.up", "To the row above"),
    _key("right,n", "piece(1)", "Next piece", "prompt.next", "To the next piece of text"),
    _key("left,N", "piece(-1)", "Piece before", "prompt.before", "To the piece before"),
    _key("pagedown", "page(1)", "Page down", "prompt.page_down", "A page further down"),
    _key("pageup", "page(-1)", "Page up", "prompt.page_up", "A page up"),
    _key("ctrl+down,]", "message(1)", "Next message", "prompt.message", "To the next message"),
    _key("ctrl+up,[", "message(-1)", "Message before", "prompt.message_before", "To the message before"),
    _key("home", "edge(False)", "First", "prompt.first", "To the first piece"),
    _key("end", "edge(True)", "Last", "prompt.last", "To the last piece"),
    _key("enter", "choose", "Go to its editor", "prompt.choose", "To the editor that made it"),
    _key("v", "form", "Raw / JSON", "prompt.form", "The prompt as sections, as raw text with its blanks, or as JSON"),
    _key(
        "o",
        "quiet",
        "Open all / fold",
        "prompt.quiet",
        "Fold what all columns have alike, and demos; or open all of it",
    ),
    _key("space", "fold", "Fold", "prompt.fold", "Show all of a long value, or fold it again"),
)
