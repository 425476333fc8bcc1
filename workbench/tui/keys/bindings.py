"""Every key of the app, by name, so that a keymap can change it and help can list it."""

from __future__ import annotations

from textual.binding import Binding

RUN = Binding.Group("Run")
FILE = Binding.Group("File")
EDIT = Binding.Group("Edit")
VIEW = Binding.Group("View")
KEEP = Binding.Group("Keep")


def _binding(
    key: str, action: str, description: str, tooltip: str, group: Binding.Group, *, priority: bool = False
) -> Binding:
    id = f"app.{action.partition('(')[0]}"
    return Binding(key, action, description, id=id, tooltip=tooltip, group=group, priority=priority)


APP_BINDINGS: tuple[Binding, ...] = (
    _binding("f5,ctrl+j", "send_all", "Send", "Send every column to its model", RUN, priority=True),
    _binding("f8", "send_column", "Send column", "Send the column that has the focus", RUN, priority=True),
    _binding(
        "shift+f5,f17",
        "send_otherwise",
        "Send otherwise",
        "Several times, with a deadline, or raw: kept unread",
        RUN,
        priority=True,
    ),
    _binding("escape", "cancel", "Cancel", "Cancel what is being sent", RUN),
    _binding("ctrl+l", "choose_model", "Model", "Choose the model", RUN, priority=True),
    _binding(
        "shift+f8,f20",
        "set_up_column",
        "Column",
        "The column's model, its variant, further columns for other models",
        RUN,
        priority=True,
    ),
    _binding(
        "alt+c,shift+f3",
        "add_column",
        "Add column",
        "One more column: another adapter, another model, other wordings",
        RUN,
        priority=True,
    ),
    _binding("ctrl+s", "save", "Save", "Save the session", FILE, priority=True),
    _binding("f12", "save_as", "Save as", "Save the session under another name", FILE, priority=True),
    _binding(
        "ctrl+n",
        "new_session",
        "New session",
        "Empty, with the form of its signature open; in a list a new row",
        FILE,
    ),
    _binding("ctrl+o", "open", "Open", "Open a session or an example", FILE, priority=True),
    _binding("ctrl+q", "leave", "Quit", "Leave; unsaved work is asked about", FILE, priority=True),
    _binding("ctrl+z", "undo", "Undo", "Undo the last change, wherever it was", EDIT, priority=True),
    _binding("ctrl+y", "redo", "Redo", "Redo what was undone", EDIT, priority=True),
    _binding(
        "ctrl+backslash,alt+e", "edit_outside", "Editor", "The focused text in your own editor", EDIT, priority=True
    ),
    _binding("ctrl+t", "cases", "Cases", "Choose, add, rename, copy or delete a case", EDIT, priority=True),
    _binding("ctrl+f", "find", "Find", "A text in any pane: prompts, replies, signature, demos", VIEW, priority=True),
    _binding(
        "ctrl+right_square_bracket,alt+j",
        "jump",
        "Jump",
        "A letter on everything: type it to go there",
        VIEW,
        priority=True,
    ),
    _binding("f2", "focus_editors", "Edit", "To the editors; again: the next tab", VIEW, priority=True),
    _binding("f3", "focus_prompts", "Prompts", "To the prompts; again: the next column", VIEW, priority=True),
    _binding("f4", "focus_replies", "Replies", "To the replies; again: the next column", VIEW, priority=True),
    _binding(
        "f6", "lesson", "Lesson", "How this prompt is built and its reply read, piece by piece", VIEW, priority=True
    ),
    _binding(
        "f7",
        "look",
        "Look closer",
        "Card, true request, calls, reply × parser, differences, tokens",
        VIEW,
        priority=True,
    ),
    _binding(
        "f11", "signature_view", "Form", "The signature as a form, beside its source, or as source", VIEW, priority=True
    ),
    _binding(
        "shift+f11,f23",
        "program",
        "Program",
        "The linked program's class and this one: whose text stands",
        EDIT,
        priority=True,
    ),
    _binding("shift+f7,f19", "past_runs", "Runs", "What was sent for this case; two compared", VIEW, priority=True),
    _binding("f10", "maximize_pane", "Maximise", "The focused pane alone, or all of them again", VIEW, priority=True),
    _binding(
        "shift+f6,f18",
        "project",
        "Projector",
        "For a room to read: large headings, one thing at a time, the most contrast; again: as before",
        VIEW,
        priority=True,
    ),
    _binding("ctrl+g", "copy_menu", "Copy", "Copy a prompt, a message, a reply or the request", KEEP, priority=True),
    _binding(
        "ctrl+r",
        "record",
        "Record",
        "Keep prompt and reply of this column: checks compare with it",
        KEEP,
        priority=True,
    ),
    _binding("shift+f4,f16", "rate", "Rate", "Good or bad, and a note, kept with the reply", KEEP, priority=True),
    _binding(
        "f9",
        "check",
        "Check",
        "Compare everything recorded with what is made now; accept what changed, or leave it",
        KEEP,
        priority=True,
    ),
    _binding(
        "shift+f9,f21",
        "break_replies",
        "Break replies",
        "Good replies broken in a hundred ways: which parser survives?",
        KEEP,
        priority=True,
    ),
    _binding("ctrl+p", "command_palette", "Commands", "Everything by name: type a part of it", VIEW, priority=True),
    _binding("f1", "help", "Help", "What this pane is for, and every key", VIEW, priority=True),
)

ACTIONS = frozenset(one.action.partition("(")[0] for one in APP_BINDINGS)
ON_A_DIALOG = frozenset({"help", "command_palette"})
ON_A_PAGE = frozenset(
    {"help", "command_palette", "look", "send_all", "send_column", "undo", "redo", "save", "leave", "project"}
)
ON_A_LESSON = frozenset({"help", "command_palette", "lesson", "leave", "project"})
ON_A_REVIEW = frozenset({"help"})
ON_A_STRESS = frozenset({"help"})
"""The actions of the app that its keys still mean on a screen in front of the panes: those that concern what is seen.
A screen names its own as `APP_ACTIONS`; without that it is a dialog."""

WITHOUT_KEY = {
    "Theme": "chosen once in a while",
    "Compact spacing": "chosen once in a while",
    "Decisions": "`t` on an output in the form (F11) sets one; few signatures have any",
    "Record every column": "ctrl+r records the one that was looked at; all at once is meant rarely",
    "Restore an earlier version": "needed rarely, and never in a hurry",
    "Bench": "its runs are made outside, and looked at once in a while",
    "Remove this value": "a key that empties a field would be pressed by mistake",
    "More room": "the mouse drags the line; the layout is remembered",
    "Go to": "F2, F3, F4 and the letters of jump mode go there",
    "Look closer": "F7, and there a number",
    "Copy": "ctrl+g, and there a letter",
    "Export": "a form is chosen by its name",
    "Case": "ctrl+t, and there by its name",
    "Predictor": "a line of the Signature tab, with the arrow keys",
    "Show column": "one of many, chosen by its name",
    "Hide column": "one of many, chosen by its name",
    "Move column": "one of many, chosen by its name",
    "Column": "shift+F8, and there by its name",
    "Send": "shift+F5, and there by its name",
    "Continue": "it changes inputs and history at once, and is chosen by its name",
    "Follow the teacher": "of a class alone: a click on the last line, where it stands",
    "Ask anew": "a matter of trust is not decided by a key",
}
"""Why what the palette offers has no key of its own, by the beginning of its name."""
WITHOUT_KEY_IN_A_CLASS = {"Download": "what is taken along is chosen by its name, once in a while"}
"""The same, of what there is in a class alone."""
