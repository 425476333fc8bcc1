"""What the focused pane is for, and every key that works now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Markdown

from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This page")

START = """\
A **signature** says what goes in and what is to come out. An **adapter** turns it, with demos, history and inputs, into
chat messages, and a model's reply back into typed values. Here you see both, side by side for every adapter.

1. **Edit** on the left: every keystroke renders every prompt again.
2. **{app.send_all|F5}** sends. The offline models need no key and no network, and some of them misbehave on purpose
   (`{app.choose_model|ctrl+l}`).
3. **Read** below each prompt what the parser took, repaired and ignored. Edit the reply: it is read again.
4. **{app.lesson|F6}** explains prompt and reply piece by piece. **{app.look|F7}** looks closer: the
   true request, every call, other parsers.
5. **{app.record|ctrl+r}** records it, **{app.save|ctrl+s}** saves it, **{app.check|F9}** (or `workbench
   check`) tells you when something drifts.
6. **{app.find|ctrl+f}** finds a text in any pane, **{app.jump|ctrl+]}** goes to anything by its letter,
   **{app.command_palette|ctrl+p}** knows everything by name.
"""


class HelpScreen(ModalScreen[None]):
    APP_ACTIONS: ClassVar[frozenset[str]] = frozenset()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", id="help.close", tooltip="Close the help", group=_GROUP)
    ]

    def __init__(self, pane_help: str, bindings: Iterable[ActiveBinding], key_names: dict[str, str]) -> None:
        super().__init__()
        self._pane_help = pane_help
        self._active = tuple(bindings)
        self._key_names = key_names

    def compose(self) -> ComposeResult:
        keys = keys_of(self.app)
        with Vertical(classes="dialog -large") as dialog:
            dialog.border_title = content(" Help ")
            with VerticalScroll():
                if self._pane_help:
                    yield Markdown(keys(self._pane_help))
                yield Markdown(keys("## The workbench\n\n" + START))
                yield PlainStatic(self._keys(), classes="dialog-text")
            hint = keys("↑↓ scroll   {help.close|esc} closes")
            yield PlainStatic(lines((hint, "$foreground 60%")), classes="dialog-hint")

    def _keys(self) -> Content:
        """Every key that works now, and the id by which the config file gives it another one."""
        groups: dict[str, dict[str, tuple[str, str]]] = {}
        for _, binding, _, tooltip in self._active:
            if not binding.id or binding.system:
                continue
            group = binding.group.description if binding.group is not None else "This pane"
            keys, _ = groups.setdefault(group, {}).get(binding.id, ("", ""))
            key = self._key_names.get(binding.key, binding.key)
            groups[group][binding.id] = (f"{keys} {key}".strip(), tooltip or binding.description)
        parts: list[tuple[str, str] | str] = []
        for group, rows in groups.items():
            parts.append((f"\n{group}\n", "bold $text-accent"))
            for id, (keys, said) in rows.items():
                parts += [(f"  {keys:<18}", "bold"), said, (f"  {id}\n", "$foreground 40%")]
        return lines(*parts)
