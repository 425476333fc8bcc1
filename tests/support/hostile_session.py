"""Sessions that say hostile things wherever a session can say something."""

from __future__ import annotations

from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText, Tool, Variant
from tests.support.hostile import HOSTILE

SHORT = {name: text for name, text in HOSTILE.items() if len(text) < 1_000}
LONG = {name: text for name, text in HOSTILE.items() if len(text) >= 1_000}


def session_of(texts: dict[str, str]) -> Session:
    """A session that says these texts wherever a session can say something: one case and one demo each."""
    everything = " ".join(texts.values())[:2_000]
    source = (
        f"import dspy\n\nclass S(dspy.Signature):\n    question: str = dspy.InputField(desc={everything!r})\n"
        "    notes: list[str] = dspy.InputField()\n    history: dspy.History = dspy.InputField()\n"
        "    answer: str = dspy.OutputField()\n"
    )
    demos, cases = [], []
    for name, text in texts.items():
        values = {"question": text, "notes": [text], "answer": text}
        replies = {"chat": Reply(f"[[ ## answer ## ]]\n{text}", model=text[:50])}
        cases.append(Case(name + text[:80], {**values, "unknown [/x]": text}, history=(values,), replies=replies))
        demos += [Demo(values), Demo({text[:50] + "x": text})]
    return Session(
        SignatureText(source, instructions=everything),
        demos=tuple(demos),
        columns=(Column("chat", "chat"), Column(everything[:60] or "x", "json")),
        cases=tuple(cases),
        tools=tuple(
            [
                Tool(f"tool_{number}", text, "town: str", ({"result": text},))
                for number, text in enumerate(texts.values())
            ]
        ),
        variants=tuple([Variant(text[:40] or "x", "instructions", text) for text in texts.values()]),
        model=everything[:80] or "x",
        name=everything[:200],
    )
