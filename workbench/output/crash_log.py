"""Log internal errors: write the traceback to a file, without secrets from the environment."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from pathlib import Path

from adapters.lm.secrets import Scrubber
from sessions.errors import SessionError
from sessions.file.whole_files import private, state_folder
from workbench import __version__


def write(error: BaseException) -> Path:
    """Write the traceback of `error` to a new file and return its path; falls back to the temporary folder."""
    head = f"adapter-workbench {__version__}, Python {platform.python_version()}, {sys.platform}\n\n"
    text = Scrubber().scrubbed(head + "".join(traceback.format_exception(error)))
    name = time.strftime("error-%Y%m%d-%H%M%S-")
    try:
        return _new_file(private(state_folder()), name, text)
    except (OSError, SessionError):
        return _new_file(None, name, text)


def _new_file(folder: Path | None, name: str, text: str) -> Path:
    """Write a new file that only the user can read; `folder` None is the temporary folder."""
    handle, place = tempfile.mkstemp(".log", name, folder)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return Path(place)
