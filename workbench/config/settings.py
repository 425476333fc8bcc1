"""Settings for all sessions: the keys of the config file, their meaning, and the current values.

`docs/configuration.md` and `workbench config --example` are generated from `KEYS`. This does not import textual.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from adapters.formats import catalog
from adapters.lm import config_file
from adapters.lm.addresses import why_no_address
from adapters.lm.config_file import ConfigError, ConfigFile
from adapters.lm.servers import EXAMPLE
from workbench.output.exit_codes import nearest, no_such

THEMES = tuple(
    (
        "workbench-dark workbench-light workbench-dark-projected workbench-light-projected ansi-dark "
        "ansi-light atom-one-dark atom-one-light catppuccin-frappe catppuccin-latte catppuccin-macchiato "
        "catppuccin-mocha dracula flexoki gruvbox monokai nord rose-pine rose-pine-dawn rose-pine-moon "
        "solarized-dark solarized-light textual-dark textual-light tokyo-night"
    ).split()
)
"""Our themes, then textual's; a test compares them, because importing textual would slow down every command."""

MOST_MEGABYTES = 100_000

Source = Literal["default", "file", "environment"]


@dataclass(frozen=True)
class Settings:
    """The current settings. Each field is a key of the config file, which `KEYS` describes."""

    theme: str = "workbench-dark"
    model: str = "offline/exact"
    columns: tuple[str, ...] = ("chat", "json", "xml")
    editor: str = "vi"
    compact: bool = False
    remember_layout: bool = True
    keep_runs: int = 200
    fetched_models: bool = True
    servers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    keymap: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Key:
    """A key of the file: its type, purpose and an example.

    `check` converts a value to its final type, or raises ValueError with the problem and a remedy. `variables` are
    environment variables that set the key, too; they override the file if `environment_wins`.
    """

    name: str
    takes: str
    about: str
    example: str
    check: Callable[[Any], Any]
    variables: tuple[str, ...] = ()
    environment_wins: bool = True


@dataclass(frozen=True)
class Origin:
    """The origin of a setting; `place` is "" for a default, `FILE:LINE`, or the variable's name."""

    source: Source
    place: str = ""


@dataclass(frozen=True)
class InForce:
    """The current settings, the config file (without a path if there is no home folder), and each setting's origin."""

    settings: Settings
    file: ConfigFile
    origins: Mapping[str, Origin]


def load() -> InForce:
    """Load the settings: environment over file over default (for `editor`, file over environment).

    Raises ConfigError, which names file, line, problem and the nearest name.
    """
    read = config_file.read(config_file.config_path(os.environ))
    for name in read.data:
        if name not in BY_NAME:
            near = nearest(name, BY_NAME)
            question = f"; did you mean {near}?" if near else "."
            listed = ", ".join(BY_NAME)
            raise ConfigError(f"{read.place_of(name)}: there is no setting {name!r}{question} There are: {listed}")
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for key in KEYS:
        origins[key.name] = Origin("default")
        in_file = in_environment = None
        try:
            if key.name in read.data:
                in_file = key.check(read.data[key.name]), Origin("file", read.place_of(key.name))
        except _InTableError as error:
            raise ConfigError(f"{read.place_of(key.name, *error.keys)}: {key.name}: {error}") from None
        except ValueError as error:
            raise ConfigError(f"{read.place_of(key.name)}: {key.name}: {error}") from None
        variable = next((name for name in key.variables if os.environ.get(name)), None)
        try:
            if variable is not None:
                in_environment = key.check(os.environ[variable]), Origin("environment", variable)
        except ValueError as error:
            raise ConfigError(f"the variable {variable}: {error}") from None
        order = (in_environment, in_file) if key.environment_wins else (in_file, in_environment)
        found = next((one for one in order if one is not None), None)
        if found is not None:
            values[key.name], origins[key.name] = found
    return InForce(Settings(**values), read, MappingProxyType(origins))


def example() -> str:
    """Return a config file with all keys commented out, each with its purpose."""
    sections = []
    for key in KEYS:
        about = f"{key.about} Default: {_default(key).strip('`')}.{_variables(key)}"
        lines = [f"# {line}" for line in textwrap.wrap(about, 96)]
        lines += [f"#{line}" for line in key.example.split("\n")]
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


def reference() -> str:
    """Return a Markdown table of the keys."""
    rows = [f"| `{key.name}` | {key.takes} | {key.about}{_variables(key)} | {_default(key)} |" for key in KEYS]
    return "\n".join(["| key | takes | for | default |", "|---|---|---|---|", *rows]) + "\n"


def shown(value: Any) -> str:
    """Write a value as short TOML."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {shown(one)}" for name, one in value.items()) or "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(shown(one) for one in value)}]"
    return str(value) if isinstance(value, int) else f'"{value}"'


def _default(key: Key) -> str:
    value = getattr(Settings(), key.name)
    return "none" if isinstance(value, Mapping) else f"`{shown(value)}`"


def _variables(key: Key) -> str:
    if not key.variables:
        return ""
    names = " or ".join(f"`${name}`" for name in key.variables)
    return f" {names} {'sets it too, over the file' if key.environment_wins else 'sets it where the file does not'}."


class _InTableError(ValueError):
    """An invalid entry of a table."""

    def __init__(self, message: str, *keys: str) -> None:
        self.keys = keys
        super().__init__(message)


def _theme(value: Any) -> str:
    name = _text(value)
    if name not in THEMES:
        raise ValueError(no_such("theme", name, THEMES))
    return name


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected text in quotes, got {_kind(value)}")
    return value


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {_kind(value)}")
    return value


def _megabytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_MEGABYTES:
        raise ValueError(f"expected a number from 0 to {MOST_MEGABYTES:,}, got {_kind(value)}")
    return value


def _columns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f'expected a list of adapters such as ["chat", "json"], got {_kind(value)}')
    for one in value:
        if one not in catalog.NAMES:
            catalog.make(str(one))  # an adapter registered by a package, or an error with the nearest name
    if len(set(value)) < len(value):
        raise ValueError("the same adapter appears twice")
    return tuple(value)


def _servers(value: Any) -> Mapping[str, str]:
    for provider, address in _table(value, EXAMPLE).items():
        said = why_no_address(address)
        if said:
            raise _InTableError(f"{provider}: {said}; write it as in {EXAMPLE}", provider)
    return MappingProxyType(dict(value))


def _keymap(value: Any) -> Mapping[str, str]:
    """Return keys by binding id, also from nested tables: an unquoted `app.save` is a table `app` in TOML."""
    found: dict[str, str] = {}
    rest: list[tuple[tuple[str, ...], Any]] = [((), _table(value, '"app.send_all" = "f5"'))]
    while rest:
        keys, one = rest.pop(0)
        if isinstance(one, dict):
            rest += [((*keys, name), inner) for name, inner in one.items()]
        elif isinstance(one, str) and all(part.strip() for part in one.split(",")):
            found[".".join(keys)] = ",".join(part.strip() for part in one.split(","))
        else:
            said = f'expected keys in quotes such as "f5" or "f5,ctrl+j", got {_kind(one)}'
            raise _InTableError(f"{'.'.join(keys)}: {said}", *keys)
    return MappingProxyType(found)


def _table(value: Any, example: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table with lines such as {example}, got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table", str: "text"}
    if value == "":
        return "empty text"
    return kinds.get(type(value), "a date or time") + (f" ({value!r})" if isinstance(value, (str, int, float)) else "")


KEYS: tuple[Key, ...] = (
    Key(
        "theme",
        "the name of a theme",
        "The colours of the app; on a terminal of 16 colours the default is `ansi-dark`.",
        'theme = "workbench-light"',
        _theme,
        ("WORKBENCH_THEME",),
    ),
    Key(
        "model",
        "the name of a model",
        "The model of a new session.",
        'model = "openai/gpt-6-luna"',
        _text,
        ("WORKBENCH_MODEL",),
    ),
    Key(
        "columns",
        "a list of adapters",
        "The columns of a new session, in this order.",
        'columns = ["chat", "json", "baml"]',
        _columns,
    ),
    Key(
        "editor",
        "a command",
        "The command that opens the focused text outside the app.",
        'editor = "code --wait"',
        _text,
        ("VISUAL", "EDITOR"),
        environment_wins=False,
    ),
    Key("compact", "true or false", "Less empty space on the screen.", "compact = true", _yes_or_no),
    Key(
        "remember_layout",
        "true or false",
        "Restore sizes, hidden columns and collapsed parts at the next start.",
        "remember_layout = false",
        _yes_or_no,
    ),
    Key(
        "keep_runs",
        "a number of megabytes",
        "The disk space for everything sent, which `alt+h` and `workbench runs` search. The oldest runs make room; 0 "
        "keeps none.",
        "keep_runs = 0",
        _megabytes,
    ),
    Key(
        "fetched_models",
        "true or false",
        "Use the table of models that `workbench models --refresh` fetched last. Without one, or with "
        "`LITELLM_LOCAL_MODEL_COST_MAP=True`, the packaged table is used.",
        "fetched_models = false",
        _yes_or_no,
    ),
    Key(
        "servers",
        "a table: provider = address",
        "Servers of your own that speak OpenAI's protocol, by litellm's provider. A variable PROVIDER_API_BASE wins "
        "over the file.",
        '[servers]\nhosted_vllm = "http://localhost:8000/v1"',
        _servers,
    ),
    Key(
        "keymap",
        'a table: "binding id" = "keys"',
        "Other keys for what the app does; several are separated by commas. `workbench config --keys` lists the ids.",
        '[keymap]\n"app.send_all" = "f5,ctrl+j"',
        _keymap,
    ),
)
"""The keys in the order of the documentation; tables last, as TOML requires."""

BY_NAME: Mapping[str, Key] = MappingProxyType({key.name: key for key in KEYS})
