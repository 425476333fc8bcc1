"""Read the files of a session's own project that may be followed.

Links are untrusted. A link is followed only to a `.py` file of the session's own project, after all symbolic links are
resolved. The file is read as text, up to a size limit, and never run.
"""

from __future__ import annotations

import io
import os
import stat
import tokenize
from pathlib import Path

from adapters.errors import reason_of
from adapters.late_dataclasses import dataclass, field
from adapters.signatures.read.source_text import LENGTH_LIMIT
from sessions.file.whole_files import did_you_mean

MARKS = (".git", "pyproject.toml")
"""Entries that mark the top folder of a project."""
MOST_FILES = 200
"""The maximum number of files read for a signature."""
BYTES_LIMIT = 4 * LENGTH_LIMIT
NO_CODE_OF_THE_PROJECT = frozenset({"site-packages", "dist-packages", "node_modules"})


class SourceError(ValueError):
    """The program cannot be read: a reason that names the file, and a hint on what works."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message + (f" ({hint})" if hint else ""))


class SourceRefusedError(SourceError):
    """The link must not, or cannot, be followed."""


class SourceEditedError(SourceError):
    """The session has edits of its own, which pulling the program's text would discard."""


class SourceGoneError(SourceError):
    """The file or the class is missing; the hint names the nearest."""


def folder_of_project(folder: Path) -> Path:
    """Find the nearest parent folder with `.git` or `pyproject.toml`, else the folder itself, resolved."""
    start = Path(os.path.realpath(folder))
    for one in (start, *start.parents):
        if any((one / mark).exists() for mark in MARKS):
            return one
    return start


@dataclass
class Project:
    """A snapshot of a project's files, each read once. `top` contains no symbolic link."""

    top: Path
    texts: dict[Path, str] = field(default_factory=dict)
    """The texts of the files read so far, by resolved path."""
    encodings: dict[Path, str] = field(default_factory=dict)
    """The encodings that these files declare (PEP 263)."""

    @classmethod
    def of(cls, folder: Path) -> Project:
        """Return the project of a session in this folder."""
        return cls(folder_of_project(folder))

    def name(self, file: Path) -> str:
        """Return the name of a file in messages: relative to the project, with `/`."""
        return file.relative_to(self.top).as_posix() if file.is_relative_to(self.top) else str(file)

    def resolved(self, file: Path) -> Path:
        """Resolve a path. Raises `SourceRefusedError` if it is not one of the project's `.py` files."""
        shown = self.name(Path(os.path.normpath(file)))
        try:
            real = Path(os.path.realpath(file))
        except (OSError, ValueError) as error:
            raise SourceRefusedError(f"{shown!r} is not a valid file name: {error}") from None
        if not real.is_relative_to(self.top):
            led = "leads" if os.path.islink(file) or real != Path(os.path.abspath(file)) else "is"
            hint = "links are followed only inside the session's own project"
            raise SourceRefusedError(f"{shown} {led} outside of the project {self.top}", hint)
        if real.suffix != ".py":
            raise SourceRefusedError(f"{shown}: expected a .py file", "a link names Python source")
        if NO_CODE_OF_THE_PROJECT.intersection(real.relative_to(self.top).parts):
            raise SourceRefusedError(f"{shown} is a package of others, not the project's own code")
        return real

    def read(self, file: Path) -> str:
        """Return the text of a resolved file. Raises `SourceGoneError` and `SourceRefusedError`."""
        if file in self.texts:
            return self.texts[file]
        if len(self.texts) >= MOST_FILES:
            raise SourceRefusedError(f"{self.name(file)}: more than {MOST_FILES} files would be read for one signature")
        name = self.name(file)
        # Non-blocking, so that opening a FIFO returns at once; it is rejected below.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(file, flags)
            with os.fdopen(descriptor, "rb") as opened:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise SourceRefusedError(f"{name}: expected an ordinary file")
                if status.st_size > BYTES_LIMIT:
                    raise SourceRefusedError(
                        f"{name} is too large: {status.st_size:,} bytes, of at most {BYTES_LIMIT:,}"
                    )
                content = opened.read(BYTES_LIMIT + 1)
        except (FileNotFoundError, NotADirectoryError):
            near = did_you_mean(str(file)).replace(f"{self.top}{os.sep}", "")
            raise SourceGoneError(f"{name}: no such file", near) from None
        except IsADirectoryError:
            raise SourceRefusedError(f"{name}: expected an ordinary file") from None
        except OSError as error:
            raise SourceRefusedError(f"{name} cannot be read: {reason_of(error)}") from None
        if len(content) > BYTES_LIMIT:
            raise SourceRefusedError(f"{name} is too large: more than {BYTES_LIMIT:,} bytes")
        encoding = self._declared(content, name)
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            shown = "UTF-8" if encoding.startswith("utf-8") else encoding
            raise SourceRefusedError(f"{name}: byte {error.start} is not {shown}") from None
        except LookupError:  # such as rot13, which does not decode to text
            raise SourceRefusedError(f"{name}: {encoding} is not a text encoding") from None
        self.texts[file], self.encodings[file] = text, encoding
        return text

    def _declared(self, content: bytes, name: str) -> str:
        """Detect the encoding of Python source as `tokenize` does."""
        try:
            return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        except SyntaxError as error:
            if "missing" in str(error):  # the first lines are not UTF-8: decoding reports the byte
                return "utf-8"
            raise SourceRefusedError(f"{name}: {error}") from None

    def encoded(self, file: Path, text: str) -> bytes:
        """Encode the new text of a file with its declared encoding. Raises `SourceRefusedError`."""
        encoding, name = self.encodings[file], self.name(file)
        try:
            content = text.encode(encoding)
        except UnicodeEncodeError as error:
            said = f"{name}: {text[error.start]!r} does not exist in {encoding}, the encoding that the file declares"
            raise SourceRefusedError(said, "declare utf-8 there, or write an escape") from None
        if self._declared(content, name) != encoding or content.decode(encoding) != text:
            raise SourceRefusedError(f"{name}: its encoding declaration would change", "edit it in the program")
        return content

    def module(self, name: str, level: int, importing: Path) -> Path | None:
        """Find the project's file of an imported module, or None for modules from elsewhere.

        `importing` is the importing file and `level` the number of dots of a relative import. Raises
        `SourceRefusedError` for a file outside of the project.
        """
        parts = name.split(".") if name else []
        above = [one for one in importing.parents if one.is_relative_to(self.top)]
        if level:  # a relative import searches its own package, others the package roots
            folders = above[level - 1 : level]
        else:
            folders = [one for one in above if not (one / "__init__.py").exists()]
            folders = list(dict.fromkeys([*folders, self.top, self.top / "src"]))
        for folder in folders:
            for file in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
                if (parts or file.name == "__init__.py") and os.path.lexists(file):
                    return self.resolved(file)
        return None
