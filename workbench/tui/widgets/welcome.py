"""The first launch in a few lines: what is where, and the keys to begin with. Escape puts it away for good."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import lines

NARROW = 90
KEY, SAID, QUIET = "$text-accent bold", "$foreground 85%", "$foreground 60%"

STEPS = (
    ("{app.send_all|F5}", "sends it: the model is built in"),
    ("{app.focus_replies|F4}", "the replies; edit one, it is read anew"),
    ("{app.lesson|F6}", "explains all of it, piece by piece"),
    ("{app.signature_view|F11}", "the signature as a form, without Python"),
    ("{app.command_palette|^p}", "everything by name: New session, …"),
    ("{app.help|F1}", "help for where you are, and every key"),
)

BRIEF = (
    ("{app.send_all|F5}", "sends"),
    ("{app.lesson|F6}", "explains"),
    ("{app.signature_view|F11}", "form"),
    ("{app.command_palette|^p}", "everything"),
    ("{app.help|F1}", "help"),
)


class Welcome(Widget, can_focus=False):
    """Stands in the left pane until it is put away."""

    DEFAULT_CSS = """
    Welcome {
        /* no margin at the sides: it would make the panes beside it narrower, too */
        height: auto; margin-top: 1; padding: 0 1; background: $panel; border-left: outer $accent;
    }
    """

    def render(self) -> Content:
        keys = keys_of(self.app)
        if self.size.width and self.app.size.width < NARROW:
            parts = [part for key, said in BRIEF for part in ((keys(f"{key} "), KEY), (f"{said}   ", SAID))]
            return lines(("Welcome. ", "bold"), *parts, (keys("{app.cancel|esc} puts this away"), QUIET))
        steps = [part for key, said in STEPS for part in ((f"\n{keys(key):>4}  ", KEY), (said, SAID))]
        head = "Here is what prompts are made of; beside it, those that each adapter makes."
        return lines(
            ("Welcome. ", "bold"), (head, SAID), *steps, (f"\n{keys('{app.cancel|esc}'):>4}  puts this away", QUIET)
        )
