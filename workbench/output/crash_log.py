"""Where a mistake of ours is written down: one file with the traceback, without the secrets of the environment."""

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
from sessions.file.state_folder import state_folder
from workbench import __version__


def write(error: BaseException) -> Path:
    """Writes the traceback of `error` to a new file and returns its path; to the temporary folder if need be."""
    head = f"adapter-workbench {__version__}, Python {platform.python_version()}, {sys.platform}\n\n"
    text = Scrubber().text(head + "".join(traceback.format_exception(error)))
    name = time.strftime("error-%Y%m%d-%H%M%S") + f"-{os.getpid()}.log"
    try:
        folder = state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, SessionError):
        path = Path(tempfile.gettempdir()) / name
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path
