"""A column while its model thinks: that stands where the reply will, dimmed, and is gone with its first word."""

from __future__ import annotations

import threading

from open_app import Desk, at_the_desk
from scripted_lm import ScriptedLM

from adapters.formats.catalog import make
from adapters.lm.protocol import Chunk
from adapters.running import runner
from adapters.running.events import Listener
from adapters.running.runs import Run
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.state.document import State

SESSION = Session(
    SignatureText("question -> answer"), columns=(Column("chat", "chat"),), cases=(Case("c", {"question": "Rain?"}),)
)
PATIENCE_S = 60


def test_what_the_model_thinks_stands_in_the_column_until_the_reply_comes() -> None:
    thought, word = threading.Event(), threading.Event()

    def send(state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        steps = [
            Chunk(reasoning="Let me look at the [b]sky[/b] \x1b[31m."),
            lambda: thought.wait(PATIENCE_S),
            "[[ ## answer ## ]]\nYes",
            lambda: word.wait(PATIENCE_S),
            "\n\n[[ ## completed ## ]]",
        ]
        signature = state.session.signature.read()
        return runner.run(
            make("chat"), ScriptedLM(steps), signature, [], {"question": "Rain?"}, fallback=False, listeners=[listener]
        )

    async def act(desk: Desk) -> None:
        (column,) = desk.main.columns.all
        desk.main.app.action_send_all()  # type: ignore[attr-defined]
        await desk.until(lambda: column.reply.raw.startswith("Let me look"), "for the thought")
        assert column.reply.has_class("-thinking")
        await desk.until(lambda: "◌ thinking" in desk.verdict("chat"), "for the line above it")
        assert "\x1b" not in column.reply.text and "[b]sky[/b]" in column.reply.text
        thought.set()
        await desk.until(lambda: column.reply.raw.startswith("[[ ## answer"), "for the reply")
        assert not column.reply.has_class("-thinking")
        word.set()
        await desk.sent()
        assert column.reply.raw == "[[ ## answer ## ]]\nYes\n\n[[ ## completed ## ]]"
        assert "✓" in desk.verdict("chat")

    at_the_desk(act, session=SESSION, send=send)
