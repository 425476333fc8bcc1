"""What the tabs of the editors are called, and the mark behind each: a count, or that something is wrong."""

from __future__ import annotations

from workbench.state.derived import ReadSignature, history_field
from workbench.state.document import State
from workbench.tui.widgets.tab_line import TabName


def tab_names(state: State, read: ReadSignature) -> list[TabName]:
    """The editors' tabs."""
    drafts = {place.kind for place in state.drafts}
    inputs = 0
    if read.signature is not None:
        inputs = len(read.signature.input_fields) - (history_field(read.signature) is not None)

    def named(id: str, name: str, kind: str, count: int, short: str = "") -> TabName:
        return TabName(id, name, "✗" if kind in drafts else str(count or ""), kind in drafts, short)

    return [
        TabName("signature", "Signature", "✗" if read.problem is not None else "", wrong=True, short="Sign"),
        named("inputs", "Inputs", "input", inputs),
        named("demos", "Demos", "demo", len(state.session.demos)),
        named("history", "History", "history", len(state.case.history), "Hist"),
        named("tools", "Tools", "tool", len(state.session.tools)),
        named("variants", "Variants", "variant", len(state.session.variants), "Var"),
    ]
