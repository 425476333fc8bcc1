"""Edit the focused text in the user's editor, suspending the app."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from textual.app import SuspendNotSupported

from workbench.tui.host import Host
from workbench.tui.widgets.text.editor import Editor
from workbench.tui.widgets.text.plain import plain_notify

SUFFIX = {"python": ".py", "json": ".json", "text": ".txt"}


def command(configured: str = "") -> list[str]:
    """Return the editor command from the config or environment.

    Raises ValueError for unbalanced quotes.
    """
    named = (configured, os.environ.get("VISUAL", ""), os.environ.get("EDITOR", ""))
    return next(filter(None, map(shlex.split, named)), ["vi"])


def edit_outside(host: Host) -> None:
    """Open the focused text in the user's editor; the saved text becomes a single edit that can be undone."""
    refused = host.confinement.why_no_program()
    if refused:
        plain_notify(host.app, refused, severity="warning")
        return
    editor = host.main.focused
    if not isinstance(editor, Editor) or editor.read_only:
        said = "Focus a text first: {app.focus_editors|F2}, or {app.focus_replies|F4} for a reply."
        plain_notify(host.app, host.key_words(said), severity="warning")
        return
    try:
        before = editor.raw.encode("utf-8")
    except UnicodeEncodeError:
        plain_notify(
            host.app, "The text contains an unpaired surrogate, which a file cannot store.", severity="warning"
        )
        return
    said, after = "", None
    try:
        words = command(host.preferences.settings.editor if host.preferences.settings is not None else "")
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            path = Path(folder) / f"text{SUFFIX[editor.syntax]}"
            path.write_bytes(before)
            with host.app.suspend():
                # Textual restores the app only if nothing raises in here; ctrl+c reaches the editor and the app
                on_interrupt = signal.signal(signal.SIGINT, lambda *_: None)
                try:
                    done = subprocess.run([*words, str(path)], check=False)
                    said = f"{words[0]} ended with {done.returncode}" if done.returncode else ""
                    after = path.read_bytes().decode("utf-8")
                except UnicodeDecodeError:
                    said = f"{words[0]} saved a text that is not UTF-8"
                except (OSError, ValueError) as error:
                    said = f"{words[0]}: {error.strerror if isinstance(error, OSError) else error}"
                finally:
                    signal.signal(signal.SIGINT, on_interrupt or signal.SIG_DFL)
    except (SuspendNotSupported, OSError, ValueError) as error:
        said = str(error)
    if after is not None and not said:
        # as if the user had typed it, without the final line break that editors add
        if after.endswith("\n") and not editor.raw.endswith("\n"):
            after = after[:-1]
        if after != editor.raw:
            editor.select_all()
            editor.type_over(after, *editor.selection)
    if said:
        plain_notify(host.app, f"{said.rstrip('.')}. Your text is unchanged.", title="Not edited", severity="error")
