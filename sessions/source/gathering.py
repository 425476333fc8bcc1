"""Gather the full text of a signature: its class and all it needs, from the project's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field
from adapters.signatures.agents import react_instructions
from adapters.signatures.read.known_names import NOT_READ, known_module
from adapters.signatures.read.source_text import SourceText
from adapters.signatures.signature import Signature
from sessions.model.session import SignatureText, SourceLink, digest_of
from sessions.source.places import is_place, places_of
from sessions.source.project import Project, SourceGoneError, SourceRefusedError
from sessions.source.statements import ImportedName, ModuleText, Statement, read_module

MOST_STATEMENTS = 2_000
_KEPT_INSIDE = "it needs names of the function around it: move it to the top level"


@dataclass(frozen=True)
class Piece:
    """A gathered statement: `text` in the gathered text, `file[start:end]` in its file.

    The two differ if the file uses `models.Invoice`: the gathered text, without that module, uses `Invoice`.
    """

    file: Path
    names: tuple[str, ...]
    start: int
    end: int
    text: str
    is_as_written: bool


@dataclass(frozen=True)
class Gathered:
    """The text of a signature, its class name, and the sources of its pieces."""

    text: str
    class_name: str
    pieces: tuple[Piece, ...]
    files: tuple[Path, ...]

    @property
    def digest(self) -> str:
        return digest_of(self.text)


def gather(project: Project, file: Path, class_name: str | None, link: SourceLink | None = None) -> Gathered:
    """Gather the text of a signature from a resolved file, or a ReAct's inner signature if `link` requests it.

    `class_name` None selects the file's only signature. Raises `SourceGoneError` for a missing file or class, and
    `SourceRefusedError` for a source that cannot be read or must not be followed.
    """
    text = project.read(file)
    name = class_name or _only_class(project, file, text)
    gathering = _Gathering(project, file)
    found = gathering.at(name)
    return append_react(found, link, file) if link is not None and link.react else found


def append_react(found: Gathered, link: SourceLink, file: Path) -> Gathered:
    """Append the derivation of `dspy.ReAct(S, tools).react` or `.extract` to the text.

    Follows `dspy.predict.react.ReAct.__init__`.
    """
    signature = read_gathered(found, link.file)
    base, name = found.class_name, f"{found.class_name}{link.react.title()}"
    steps = ['.append("trajectory", dspy.InputField(), type_=str)']
    if link.react == "react":
        said = react_instructions(signature, link.tools)
        steps = [f'.delete("{one}")' for one in signature.output_fields] + steps
        steps += [
            '.append("next_thought", dspy.OutputField(), type_=str)',
            f'.append("next_tool_name", dspy.OutputField(), type_=Literal[{", ".join(map(json.dumps, link.tools))}])',
            '.append("next_tool_args", dspy.OutputField(), type_=dict[str, Any])',
            ".with_instructions(",
            *[f"    {json.dumps(line, ensure_ascii=False)}" for line in said.splitlines(keepends=True)],
            ")",
        ]
    lines = "\n".join(f"    {step}" for step in steps)
    own = f"{name} = (\n    {base}\n{lines}\n)\n"
    piece = Piece(file, (name,), 0, 0, own, False)
    text = f"{found.text.rstrip()}\n\n\nimport dspy\nfrom typing import Any, Literal\n\n{own}"
    return Gathered(text, name, (*found.pieces, piece), found.files)


def gather_text(text: str, class_name: str, file: str = "source.py") -> SignatureText:
    """Gather a class or place from the text of one file. Raises SignatureError and `SourceError`."""
    path = Path("/", Path(file).name)
    gathering = _Gathering(Project(Path("/")), path, follows=False)
    gathering.modules[path] = read_module(text)
    found = gathering.at(class_name)
    return SignatureText(found.text, found.class_name)


def read_gathered(found: Gathered, file: str) -> Signature:
    """Read the program's signature. Raises `SourceError`, naming the file, for unsupported notation."""
    try:
        return SignatureText(found.text, found.class_name).read()
    except SignatureError as error:
        # Name the statement's file, not line and column: they refer to the gathered text, which users never see.
        start, of, at = SourceText.of(found.text).line_starts[error.line - 1], found.files[0], 0
        for one in found.pieces:
            at = found.text.index(one.text.rstrip(), at)
            of = one.file if at <= start else of
        where = file if of == found.files[0] else f"{file}: {os.path.relpath(of, found.files[0].parent)}"
        message = error.message.replace(NOT_READ, "the project has no such file")
        raise SourceRefusedError(f"{where}: {message}", error.hint) from None


def _ending_in(name: str, text: str) -> list[str]:
    return [one for one in places_of(text) if one.rpartition(".")[2] == name]


def _only_class(project: Project, file: Path, text: str) -> str:
    from adapters.signatures import notation  # loads pydantic's fields

    try:
        names = notation.class_names(text)
    except SignatureError as error:
        raise SourceRefusedError(f"{project.name(file)}: {error}") from None
    if len(names) == 1:
        return names[0]
    if not names:
        raise SourceGoneError(f"{project.name(file)} has no signature", "class X(dspy.Signature)")
    choices = ", ".join(f"{project.name(file)}:{one}" for one in names)
    raise SourceRefusedError(f"{project.name(file)} has {len(names)} signatures", f"name one: {choices}")


@dataclass(frozen=True)
class _Meaning:
    """The meaning of a name: a binding in a file of the project, or an import from elsewhere."""

    file: Path | None
    name: str
    imported: str = ""


@dataclass
class _Gathering:
    """The state of gathering a signature."""

    project: Project
    file: Path
    follows: bool = True
    modules: dict[Path, ModuleText] = field(default_factory=dict)
    taken: dict[Path, dict[int, Statement]] = field(default_factory=dict)
    """Taken statements by file and start offset."""
    imports: dict[str, _Meaning] = field(default_factory=dict)
    """Imports from elsewhere, by the name they bind."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Names of objects that are defined under another name: alias to definition."""
    meanings: dict[str, _Meaning] = field(default_factory=dict)
    order: list[Path] = field(default_factory=list)
    renamed: dict[Path, dict[str, str]] = field(default_factory=dict)
    """By file: dotted names such as `models.Invoice`, and their names in the gathered text."""

    def module(self, file: Path) -> ModuleText:
        if file not in self.modules:
            text = self.project.read(file)
            try:
                self.modules[file] = read_module(text)
            except SignatureError as error:
                raise SourceRefusedError(f"{self.project.name(file)}: {error}") from None
        return self.modules[file]

    def at(self, name: str) -> Gathered:
        """Gather a top-level class, or a place inside other code. Raises `SourceError`."""
        return self.gather_place(name) if is_place(name) else self.whole(name)

    def whole(self, class_name: str) -> Gathered:
        module = self.module(self.file)
        meant = self._find(self.file, class_name)
        if meant is None:
            raise SourceGoneError(
                f"{self.project.name(self.file)} has no class {class_name}", self._nearest(class_name)
            )
        assert meant.file is not None
        self._take(meant.file, meant.name)
        if meant.name != class_name:
            self._name(class_name, meant, self.file)
        pieces = tuple(self._pieces())
        wanted = {one.bound for one in module.imports}
        is_whole = len(self.taken[self.file]) == len(module.statements) and wanted <= set(self.imports)
        is_whole &= self.order == [self.file] and not self.renamed
        text = module.text if is_whole else self._written(module, pieces)
        return Gathered(text, class_name, pieces, tuple(self.modules))

    def gather_place(self, name: str) -> Gathered:
        """Gather a signature inside other code of the file. Raises `SourceGoneError` for an unknown name."""
        module = self.module(self.file)
        places = places_of(module.text)
        place = places.get(name)
        if place is None:
            import difflib  # only for the hint

            near = difflib.get_close_matches(name, places, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else "`workbench capture` finds where it went"
            if self._is_kept_inside(name.rpartition(".")[2]):
                hint = _KEPT_INSIDE
            raise SourceGoneError(f"{self.project.name(self.file)} has no signature at {name}", hint)
        local = {bound for one in place.statements for bound in one.statement.names}
        self.taken.setdefault(self.file, {})
        for one in place.statements:
            self._need_all(self.file, one.statement, local)
        if self.file not in self.order:
            self.order.append(self.file)
        if any(one.head for one in place.statements):
            self.imports.setdefault("dspy", _Meaning(None, "dspy", "import dspy"))
        names = self.renamed.get(self.file, {})
        pieces = list(self._pieces())
        for one in place.statements:
            of = one.statement
            text = one.written(self._renamed(module.text, of, names)[0])
            pieces.append(Piece(self.file, of.names, of.start, of.end, text, False))
        return Gathered(self._written(module, tuple(pieces)), place.class_name, tuple(pieces), tuple(self.modules))

    def _is_kept_inside(self, name: str) -> bool:
        """Return whether the file has an indented class of this name that cannot be gathered."""
        text = self.module(self.file).text
        return not _ending_in(name, text) and bool(re.search(rf"^[ \t]+class {re.escape(name)}\b", text, re.MULTILINE))

    def _nearest(self, name: str) -> str:
        inner = _ending_in(name, self.module(self.file).text)
        if inner:
            return f"did you mean {' or '.join(inner[:3])}?"
        if self._is_kept_inside(name):
            return _KEPT_INSIDE
        names = [one.names[0] for one in self.module(self.file).statements if one.is_class and one.names]
        import difflib

        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4) or list(names[:1] if len(names) == 1 else ())
        if near:
            return f"did you mean {near[0]}?"
        return f"there is {', '.join(names[:8])}" if names else "it has no class"

    # what a name means

    def _find(self, file: Path, name: str, seen: tuple[tuple[Path, str], ...] = ()) -> _Meaning | None:
        """Resolve a module's name: its own statement, another file's, or an import from elsewhere."""
        if (file, name) in seen or len(seen) > 50:
            raise SourceRefusedError(f"{self.project.name(file)}: `{name}` is imported in a circle")
        module = self.module(file)
        if module.statements_of(name):
            return _Meaning(file, name)
        imported = next(reversed(module.imports_of(name)), None)
        if imported is not None:
            return self._imported(file, imported, (*seen, (file, name)))
        for owner, level in module.stars:
            other = self._module_of(owner, level, file)
            found = None if other is None else self._find(other, name, (*seen, (file, name)))
            if found is not None:
                return found
        return None

    def _imported(self, file: Path, imported: ImportedName, seen: tuple[tuple[Path, str], ...]) -> _Meaning:
        if imported.name is not None:
            owner = self._module_of(imported.module, imported.level, file)
            if owner is not None:
                found = self._find(owner, imported.name, seen)
                if found is not None:
                    return found
                if self._submodule(file, imported) is None:
                    said = f"`{imported.text}` in {self.project.name(file)}, line {imported.line}"
                    raise SourceRefusedError(f"{said}: {self.project.name(owner)} has no {imported.name}")
            elif imported.level and self._submodule(file, imported) is None and self.follows:
                said = f"`{imported.text}` in {self.project.name(file)}, line {imported.line}"
                raise SourceRefusedError(f"{said}: the project has no such module")
        return _Meaning(None, imported.bound, imported.text)

    def _module_of(self, name: str, level: int, file: Path) -> Path | None:
        """Find the project's file of a module, or None for modules known to the notation or from elsewhere."""
        if not self.follows or (not level and known_module(name) is not None):
            return None
        try:
            return self.project.module(name, level, file)
        except SourceRefusedError as error:
            said = f"an import of {'.' * level}{name} in {self.project.name(file)}"
            raise SourceRefusedError(f"{said}: {error.message}", error.hint) from None

    def _submodule(self, file: Path, imported: ImportedName) -> Path | None:
        """Find the project module bound by `from app import models` or `import app.models`."""
        inside = imported.module if imported.name is None else ".".join(filter(None, [imported.module, imported.name]))
        return self._module_of(inside, imported.level, file)

    # taking

    def _take(self, file: Path, name: str) -> None:
        """Take the statements that bind a name, and everything they need."""
        module = self.module(file)
        mine = self.taken.setdefault(file, {})
        for statement in module.statements_of(name):
            if statement.start in mine:
                continue
            mine[statement.start] = statement
            for bound in statement.names:
                self._name(bound, _Meaning(file, bound), file)
            if sum(map(len, self.taken.values())) > MOST_STATEMENTS:
                raise SourceRefusedError(
                    f"{self.project.name(file)}: more than {MOST_STATEMENTS} statements are needed"
                )
            self._need_all(file, statement)
        if file not in self.order:
            self.order.append(file)

    def _need_all(self, file: Path, statement: Statement, local: Collection[str] = ()) -> None:
        for name in statement.uses:
            if name in local:
                continue
            meant = self._find(file, name)
            imported = self.module(file).imports_of(name)
            # The members of a module of the project are taken instead of the module.
            if meant is None or any(self._find_module(file, one) is not None for one in imported):
                continue
            if meant.file is None:
                self.imports[name] = meant
            else:
                self._take(meant.file, meant.name)
            self._name(name, meant, file)
        for _, _, dotted in statement.attributes:
            self._need_dotted(file, dotted)

    def _find_module(self, file: Path, imported: ImportedName) -> Path | None:
        if imported.name is not None:
            owner = self._module_of(imported.module, imported.level, file)
            if owner is not None and self._find(owner, imported.name) is not None:
                return None
        return self._submodule(file, imported)

    def _need_dotted(self, file: Path, dotted: str) -> None:
        """Take the project's object for `models.Invoice` or `app.models.Invoice`, under its own name."""
        first, _, rest = dotted.partition(".")
        for imported in self.module(file).imports_of(first):
            members = rest.split(".")
            if imported.name is None and imported.bound == imported.module.partition(".")[0]:
                inner = imported.module.split(".")[1:]
                if members[: len(inner)] != inner:
                    continue
                members = members[len(inner) :]
            owner = self._find_module(file, imported)
            if owner is None or not members:
                continue
            meant = self._find(owner, members[0])
            if meant is None or meant.file is None:
                said = f"`{dotted}` in {self.project.name(file)}: {self.project.name(owner)} has no such name"
                raise SourceRefusedError(said)
            self._take(meant.file, meant.name)
            self._name(meant.name, meant, file)
            full = dotted[: len(dotted) - len(".".join(members))] + members[0]
            self.renamed.setdefault(file, {})[full] = meant.name
            return

    def _name(self, name: str, meant: _Meaning, file: Path) -> None:
        """Register a name's meaning. Raises `SourceRefusedError` if it already has another."""
        before = self.meanings.setdefault(name, meant)
        if before != meant:
            one, other = (self.project.name(of.file) if of.file else of.imported for of in (before, meant))
            said = f"`{name}` in {self.project.name(file)} is defined twice: in {one} and in {other}"
            raise SourceRefusedError(said, "rename one of the two")
        if meant.file is not None and name != meant.name:
            self.aliases[name] = meant.name

    # writing

    def _pieces(self) -> Iterator[Piece]:
        for file in self.order:
            module = self.module(file)
            for start in sorted(self.taken[file]):
                statement = self.taken[file][start]
                text, changed = self._renamed(module.text, statement, self.renamed.get(file, {}))
                yield Piece(file, statement.names, statement.start, statement.end, text, not changed)

    def _renamed(self, text: str, statement: Statement, names: Mapping[str, str]) -> tuple[str, bool]:
        made = text[statement.start : statement.end]
        places = [(start, end, names[dotted]) for start, end, dotted in statement.attributes if dotted in names]
        for start, end, name in sorted(set(places), reverse=True):
            made = made[: start - statement.start] + name + made[end - statement.start :]
        return made, bool(places)

    def _written(self, module: ModuleText, pieces: tuple[Piece, ...]) -> str:
        parts: list[str] = []
        head = [f"from __future__ import {name}" for name in dict.fromkeys(module.futures)]
        head += dict.fromkeys(meant.imported for meant in self.imports.values())
        # Sorted: `__future__`, plain imports, then the others, one line for each module.
        plain = [line for line in head if line.startswith("import ")]
        by_owner: dict[str, list[str]] = {}
        for line in head:
            if line not in plain:
                owner, _, name = line.removeprefix("from ").partition(" import ")
                by_owner.setdefault(owner, []).append(name)
        froms = [f"from {owner} import {', '.join(names)}" for owner, names in by_owner.items()]
        future = [line for line in froms if line.startswith("from __future__")]
        if head:
            others = [line for line in froms if line not in future]
            parts.append("\n".join([*future, *plain, *others]) + "\n")
        for piece in pieces:
            parts.append(piece.text.rstrip() + "\n")
            parts += [f"{alias} = {name}\n" for alias, name in self.aliases.items() if name in piece.names]
        return "\n\n".join(parts)
