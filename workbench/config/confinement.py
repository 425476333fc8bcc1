"""Decide which files, programs and models the user of the app may reach.

On their own machine users may reach everything. A participant of `workbench serve` has a folder and the offline models.
All code that touches files, programs or models asks here and reports why not; `workbench.serving.walls` enforces the
same below the app.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

OFFLINE = "offline/"


class Confinement(NamedTuple):
    """Limits for a participant; without `folder` there are none.

    With `folder`, files are read and written only inside it, and programs are not started. `models` are the full names
    of models allowed besides the offline models, only at their providers' own addresses.
    """

    folder: Path | None = None
    models: tuple[str, ...] = ()
    runs_mb: int = 0
    """The size limit of the stored runs in megabytes; with 0 they are lost with the page."""

    def why_no_file(self, path: Path) -> str:
        """Return why a file may not be opened or written, after resolving links, or ""."""
        if self.folder is None:
            return ""
        try:
            real, top = os.path.realpath(path), os.path.realpath(self.folder)
        except (OSError, ValueError) as error:
            return f"not a file name: {error}"
        if os.path.commonpath([real, top]) == top:
            return ""
        return "in this class files stay in your own folder; give a name without a path, such as mine.session.json"

    def why_no_name(self, text: str, example: str) -> str:
        """Return why no file can be written at the path `text`, or ""; the message suggests `example`."""
        if not text.strip():
            return f"enter a path such as {example}"
        try:
            path = Path(text).expanduser()
            refused = self.why_no_file(path)
            if refused:
                return refused
            if path.is_dir():
                return f"{path} is a folder"
            if not path.absolute().parent.is_dir():
                return f"no such folder: {path.parent}"
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except UnicodeError:
            return "a file name cannot contain unpaired surrogates"
        except OSError as error:
            from adapters.errors import reason_of  # only for this

            return f"not a valid file name: {reason_of(error)}"
        except (ValueError, RuntimeError) as error:  # NUL in a name; `~name` of an unknown user
            return f"not a valid file name: {error}"
        return ""

    def why_no_program(self) -> str:
        """Return why no program of this machine may be started, or ""."""
        return "" if self.folder is None else "in this class no programs are started: text is edited here"

    def why_no_model(self, model: str, address: str | None = None) -> str:
        """Return why a model may not be called at the `address` in a file (None: no address), or ""."""
        if self.folder is None or model.startswith(OFFLINE):
            return ""
        if model not in self.models:
            more = f" and {', '.join(self.models)}" if self.models else ""
            return f"{model}: in this class the offline models{more} answer; choose offline/exact or one of its kin"
        return "" if address is None else f"{model}: in this class a model is called at its provider's own address only"

    @property
    def hands_out(self) -> bool:
        """Tell whether files leave the folder only as downloads."""
        return self.folder is not None

    @property
    def offered_models(self) -> tuple[str, ...] | None:
        """The models to choose from besides the offline models; None for all."""
        return None if self.folder is None else self.models


FREE = Confinement()
"""The absence of limits on the user's own machine."""


class Allowed(NamedTuple):
    """The hosts and variables that the user allowed for a request."""

    hosts: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()


NOTHING_MORE = Allowed()
"""No API key for an address that a session names, and no variable in its headers."""
