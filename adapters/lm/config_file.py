"""The user's config file: where it is, what it holds, and on which line a key stands."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from adapters.user_folders import user_folder

LARGEST = 1_000_000
"""Bytes; a config file of that size is none."""
MOST_CANDIDATES = 200
"""Lines that are tried when the line of a key is looked for."""


class ConfigError(ValueError):
    """A config file that cannot be read as one; the message names the file and, if any, the line."""


@dataclass(frozen=True)
class ConfigFile:
    """`data` is the decoded TOML of `text`; both are empty without a file. `path` is None without a place for one."""

    path: Path | None
    text: str = field(default="", repr=False)
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        return bool(self.text) or (self.path is not None and self.path.is_file())

    def line_of(self, *keys: str) -> int:
        """The line, from 1, on which the key under `keys` is set; 1 for one that is not found."""
        return _line_of(self.text, keys)

    def place_of(self, *keys: str) -> str:
        """`FILE:LINE` of a key."""
        return f"{self.path}:{self.line_of(*keys)}"


def config_path(environment: Mapping[str, str] | None = None) -> Path | None:
    """`$XDG_CONFIG_HOME/adapter-workbench/config.toml`, by default below `~/.config`; None without a home."""
    folder = user_folder("XDG_CONFIG_HOME", ".config", environment)
    return None if folder is None else folder / "config.toml"


def read(path: Path | None) -> ConfigFile:
    """The file at `path`, empty when there is none. Raises ConfigError."""
    if path is None:
        return ConfigFile(None)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        return ConfigFile(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    if len(content) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST:,} bytes, which is no config file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    try:
        return ConfigFile(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}:{_line_in(str(error), text)}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply for a config file") from None


def _line_in(message: str, text: str) -> int:
    """The line that tomllib names, `… (at line 3, column 7)` or `(at end of document)`."""
    _, found, after = message.rpartition("(at line ")
    digits = after.partition(",")[0]
    return int(digits) if found and digits.isdecimal() else text.count("\n") + 1


@lru_cache(maxsize=256)
def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """A key is set on the line after the longest beginning of the file that is TOML and does not have it yet."""
    lines = text.splitlines(keepends=True)
    candidates = [number for number, line in enumerate(lines) if keys[-1] in line][:MOST_CANDIDATES]
    for number in candidates:
        if _has("".join(lines[:number]), keys) is False and any(
            _has("".join(lines[: end + 1]), keys) for end in range(number, min(number + MOST_CANDIDATES, len(lines)))
        ):
            return number + 1
    return 1


def _has(text: str, keys: tuple[str, ...]) -> bool | None:
    """Return whether TOML has a value under `keys`; None for what is no TOML (the beginning of a longer value)."""
    try:
        data: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True
