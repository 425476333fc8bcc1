"""What the documents say of the program, made by the program: run `python docs/regenerate.py` after changing it.

A generated part stands between `<!-- NAME -->` and `<!-- /NAME -->`. A test holds every one to what this makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import key_lists
import parity
import prompt_history
import session_schema

from adapters.lint.linting import LINTS
from adapters.mutations import CATALOGUE
from adapters.replies.flags.glossary import FLAGS, SECTIONS
from adapters.replies.patterns import LAST, PATTERNS
from sessions import examples
from sessions.bench.results import BenchRun
from sessions.checking import expectations
from sessions.model.parameters import PARAMETERS
from sessions.model.replies import keys_of
from sessions.stress import grid
from workbench.cli.commands import SUMMARIES
from workbench.config import settings
from workbench.exporting.forms import FORMS
from workbench.output.survival_words import SIGNS as SURVIVAL_SIGNS
from workbench.output.survival_words import WORDS as SURVIVAL_WORDS
from workbench.tui.keys import APP_BINDINGS, keys

ROOT = Path(__file__).parents[1]
SIGNS = {"right_square_bracket": "]", "left_square_bracket": "[", "backslash": "\\", "pagedown": "page down"}
SCOPES = {
    "one": "one column of one case",
    "columns": "the columns of one case",
    "cases": "one column, every case",
    "all": "every column of every case",
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, in which no cell can end."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def key_names(keys: str) -> str:
    """`F5`, `ctrl+j` of `f5,ctrl+j`."""
    return ", ".join(f"`{_key_name(one.strip())}`" for one in keys.split(","))


def _key_name(key: str) -> str:
    parts = [SIGNS.get(part, part) for part in key.split("+")]
    return "+".join(part.upper() if re.fullmatch(r"f\d+", part) else part for part in parts)


def app_keys() -> str:
    rows = [
        (key_names(one.key), one.description, one.tooltip) for one in APP_BINDINGS if one.action in key_lists.ESSENTIAL
    ]
    return table(("key", "is", "does"), rows)


def every_key() -> str:
    """Every binding by its group, with the id that the config file takes."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for one in keys({}):
        groups.setdefault(one["group"], []).append((f"`{one['id']}`", key_names(one["keys"]), one["about"]))
    return "\n\n".join(f"## {name}\n\n{table(('id', 'keys', 'does'), rows)}" for name, rows in groups.items())


def without_key() -> str:
    rows = [(f"{name} …", reason) for name, reason in key_lists.WITHOUT_KEY.items()]
    rows += [(f"{name} … (in a class)", reason) for name, reason in key_lists.WITHOUT_KEY_IN_A_CLASS.items()]
    return table(("in the palette", "why it has no key"), rows)


def commands() -> str:
    return table(("command", "does"), [(f"`{name}`", summary) for name, summary in SUMMARIES.items()])


def exports() -> str:
    rows = [(f"`{one.name}`", one.about, SCOPES[one.scope], f"`{one.file}`") for one in FORMS.values()]
    return table(("`--as`", "what it is", "what goes in", "usual name"), rows)


def flags() -> str:
    firsts = {first: name for name, first in SECTIONS.items()}
    sections: dict[str, list[tuple[str, str]]] = {}
    for name, meaning in FLAGS.items():
        section = firsts.get(name) or next(reversed(sections))
        sections.setdefault(section, []).append((f"`{name}`", _cell(meaning)))
    return "\n\n".join(f"### {name}\n\n{table(('flag', 'meaning'), rows)}" for name, rows in sections.items())


def patterns() -> str:
    rows = [(f"`{one.name}`", _cell(one.cause), _cell(one.threads or "-"), OUTCOMES[one.outcome]) for one in PATTERNS]
    rows += [(f"`{name}`", _cell(cause), "-", OUTCOMES["refused"]) for name, (cause, _) in LAST.items()]
    return table(("cause", "meaning", "public threads", "of"), rows)


OUTCOMES = {"refused": "parse errors", "parsed": "parsed replies", "any": "both"}


def lints() -> str:
    return table(("lint", "meaning"), [(f"`{name}`", _cell(meaning)) for name, meaning in LINTS.items()])


def session_keys() -> str:
    """The keys of every part of a session file."""
    parts = [
        f"### {'The file' if name == 'file' else f'A part `{name}`'}\n\n{_outside_code(about)}\n\n"
        + table(("key", "holds"), [(key, _outside_code(said)) for key, said in rows])
        for name, about, rows in session_schema.tables()
    ]
    return "\n\n".join(parts)


def results_keys() -> str:
    """The keys of a line of a results file."""
    said = session_schema.sayings(BenchRun)
    return table(
        ("key", "holds"), [(f"`{one.name}`", _outside_code(said[one.field])) for one in keys_of(BenchRun).values()]
    )


def parameters() -> str:
    return table(("parameter", "takes"), [(f"`{name}`", takes) for name, takes in PARAMETERS.items()])


def tests_of_a_value() -> str:
    return ", ".join(f"`{word}`" for word in expectations.TESTS)


def survival_figures() -> str:
    """How many broken replies of each bundled example have each verdict, by adapter."""
    tables = []
    for name in examples.NAMES:
        session = examples.load(name)
        found = grid.grid_of(session, session.cases[0], grid.every_adapter(session))
        rows = [
            (f"{SURVIVAL_SIGNS[verdict]} {SURVIVAL_WORDS[verdict]}", *[_count(one, verdict) for one in found.columns])
            for verdict in grid.VERDICTS
        ]
        tables.append(f"### {name}\n\n{table(('', *[one.id for one in found.columns]), rows)}")
        tables += [_cell(f"{one.id}: {one.problem}") for one in found.columns if one.problem]
    return "\n\n".join(tables)


def _count(column: grid.Survival, verdict: grid.Verdict) -> str:
    return str(column.counts[verdict]) if column.good is not None else "-"


def mutations() -> str:
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in CATALOGUE.values():
        groups.setdefault(one.group, []).append((_cell(one.name), _cell(one.imitates)))
    return "\n\n".join(f"### {name}\n\n{table(('mutation', 'imitates'), rows)}" for name, rows in groups.items())


def _cell(text: str) -> str:
    """Text with what Markdown would take for its own or for HTML written out."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def _outside_code(text: str) -> str:
    """Text that may hold code between backticks, which Markdown shows as it is."""
    return "`".join(part if place % 2 else _cell(part) for place, part in enumerate(text.split("`")))


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/bench.md": {"results": results_keys},
    "README.md": {"keys": app_keys, "commands": commands},
    "docs/keys.md": {"every key": every_key, "without a key": without_key},
    "docs/configuration.md": {
        "settings": lambda: settings.reference().rstrip("\n"),
        "example": lambda: f"```toml\n{settings.example()}```",
    },
    "docs/diagnosis.md": {"patterns": patterns},
    "docs/differences.md": {"parity": parity.table},
    "docs/exports.md": {"forms": exports},
    "docs/flags.md": {"flags": flags, "lints": lints},
    "docs/releases.md": {"history": prompt_history.page},
    "docs/stress.md": {"figures": survival_figures, "mutations": mutations},
    "docs/session.md": {"keys": session_keys, "parameters": parameters, "tests": tests_of_a_value},
}
"""By document and name of the part, what makes it."""
SCHEMA_FILE = ROOT / "sessions" / "session.schema.json"


def schema_text() -> str:
    return json.dumps(session_schema.schema(), indent=2, ensure_ascii=False) + "\n"


def regenerated(document: str, text: str) -> str:
    """The document's text with its generated parts made anew. Raises ValueError for a part it has no place for."""
    for name, make in PARTS[document].items():
        opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, found, rest = text.partition(opening)
        _, end, after = rest.partition(closing)
        if not (found and end):
            raise ValueError(f"{document} has no {opening} … {closing}")
        text = f"{before}{opening}\n{make()}\n{closing}{after}"
    return text


def main() -> None:
    for document in PARTS:
        path = ROOT / document
        path.write_text(regenerated(document, path.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
