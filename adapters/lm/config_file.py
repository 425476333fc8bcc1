"""Read the user's config file and find the lines of its keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import dataclass, field
from adapters.user_folders import user_folder

LARGEST = 1_000_000
"""Maximum size of a config file in bytes."""
MOST_CANDIDATES = 200
"""Maximum number of lines tried when searching for the line of a key."""


class ConfigError(ValueError):
    """An unreadable config file; the message names the file and, if known, the line."""


@dataclass(frozen=True)
class ConfigFile:
    """A config file: `text` and decoded TOML `data`, both empty if missing; `path` is None without a home folder."""

    path: Path | None
    text: str = field(default="", repr=False)
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        return bool(self.text) or (self.path is not None and self.path.is_file())

    def place_of(self, *keys: str) -> str:
        """Return `FILE:LINE` of the nested key `keys`; of line 1 if it is not found."""
        return f"{self.path}:{_line_of(self.text, keys)}"


def config_path(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return `$XDG_CONFIG_HOME/adapter-workbench/config.toml`, by default below `~/.config`; None without a home."""
    folder = user_folder("XDG_CONFIG_HOME", ".config", environment)
    return None if folder is None else folder / "config.toml"


def read(path: Path | None) -> ConfigFile:
    """Read the file at `path`; empty if it is missing. Raises ConfigError."""
    if path is None:
        return ConfigFile(None)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        return ConfigFile(path)
    except OSError as error:
        from adapters.errors import reason_of  # only for this

        raise ConfigError(f"{path}: {reason_of(error)}") from None
    if len(content) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST:,} bytes, so it is not a config file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    try:
        return ConfigFile(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)\Z", str(error))  # else at the end of the document
        line = int(found[1]) if found else text.count("\n") + 1
        raise ConfigError(f"{path}:{line}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply for a config file") from None


@lru_cache(maxsize=256)
def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """Find the line that sets a key: the lines before it are valid TOML without the key, with later lines it is set."""
    lines = text.splitlines(keepends=True)
    candidates = [number for number, line in enumerate(lines) if keys[-1] in line][:MOST_CANDIDATES]
    for number in candidates:
        if _has("".join(lines[:number]), keys) is False and any(
            _has("".join(lines[: end + 1]), keys) for end in range(number, min(number + MOST_CANDIDATES, len(lines)))
        ):
            return number + 1
    return 1


def _has(text: str, keys: tuple[str, ...]) -> bool | None:
    """Return whether TOML has a value under `keys`; None for invalid TOML (an incomplete multi-line value)."""
    try:
        data: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True
