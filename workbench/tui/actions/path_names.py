"""What a person types as the name of a file: whether a file can be called so, without anything being written."""

from __future__ import annotations

from pathlib import Path

from workbench.config.confinement import FREE, Confinement


def why_no_file(text: str, example: str, confinement: Confinement = FREE) -> str:
    """Why no file can be written there, in words, with `example` for what could be typed; "" when one can."""
    if not text.strip():
        return f"give a path, e.g. {example}"
    try:
        path = Path(text).expanduser()
        refused = confinement.why_no_file(path)
        if refused:
            return refused
        if path.is_dir():
            return f"{path} is a folder"
        if not path.absolute().parent.is_dir():
            return f"there is no folder {path.parent}"
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeError:
        return "half characters (surrogates) cannot stand in a file's name"
    except OSError as error:
        return f"no file can be called so: {(error.strerror or str(error)).lower()}"
    except (ValueError, RuntimeError) as error:  # NUL in a name; `~name` of nobody
        return f"no file can be called so: {error}"
    return ""
