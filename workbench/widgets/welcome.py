"""The first launch in a few lines: what is where, and the keys to begin with. Escape puts it away for good."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from workbench.widgets.plain import lines

NARROW = 90
KEY, SAID, QUIET = "$text-accent bold", "$foreground 85%", "$foreground 60%"

STEPS = (
    ("F5", "sends it: the model is built in"),
    ("F4", "the replies; edit one, it is read anew"),
    ("F6", "explains all of it, piece by piece"),
    ("F11", "the signature as a form, without Python"),
    ("^p", "everything by name: New session, …"),
    ("F1", "help for where you are, and every key"),
)


class Welcome(Widget, can_focus=False):
    """Stands in the left pane until it is put away."""

    DEFAULT_CSS = """
    Welcome {
        height: auto; margin: 1 1 0 1; padding: 0 1; background: $panel; border-left: outer $accent;
    }
    """

    def render(self) -> Content:
        if self.size.width and self.app.size.width < NARROW:
            brief = (("F5", "sends"), ("F6", "explains"), ("F11", "form"), ("^p", "everything"), ("F1", "help"))
            parts = [part for key, said in brief for part in ((f"{key} ", KEY), (f"{said}   ", SAID))]
            return lines(("Welcome. ", "bold"), *parts, ("esc puts this away", QUIET))
        steps = [part for key, said in STEPS for part in ((f"\n{key:>4}  ", KEY), (said, SAID))]
        head = "Here is what prompts are made of; beside it, those that each adapter makes."
        return lines(("Welcome. ", "bold"), (head, SAID), *steps, ("\n esc  puts this away", QUIET))
