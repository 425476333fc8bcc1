"""What the tabs of the editors are called, and the mark behind each: a count, or that something is wrong."""

from __future__ import annotations

from workbench.state.document import State
from workbench.state.live import LiveSignature, history_field
from workbench.tui.widgets.tab_line import TabName


def tab_names(state: State, live: LiveSignature) -> list[TabName]:
    """The editors' tabs."""
    drafts = {place.kind for place in state.drafts}
    inputs = 0
    if live.signature is not None:
        inputs = len(live.signature.input_fields) - (history_field(live.signature) is not None)

    def named(id: str, name: str, kind: str, count: int, short: str = "") -> TabName:
        return TabName(id, name, "✗" if kind in drafts else str(count or ""), kind in drafts, short)

    return [
        TabName("signature", "Signature", "✗" if live.problem is not None else "", wrong=True, short="Sign"),
        named("inputs", "Inputs", "input", inputs),
        named("demos", "Demos", "demo", len(state.session.demos)),
        named("history", "History", "history", len(state.case.history), "Hist"),
        named("tools", "Tools", "tool", len(state.session.tools)),
        named("variants", "Variants", "variant", len(state.session.variants), "Var"),
    ]
