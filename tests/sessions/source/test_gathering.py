"""What a signature needs is gathered from the project's own files, and nothing else is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.signatures import notation
from sessions.source.gathering import Gathered, gather, gather_text, read_gathered
from sessions.source.project import Project, SourceGoneError, SourceRefusedError
from sessions.source.statements import read_module

MODELS = '''"""The models."""
import enum
import os
from pydantic import BaseModel, Field

LIMIT = 10

# What is owed.
class Item(BaseModel):
    name: str
    price: float = Field(ge=0, le=LIMIT)

class Unused(BaseModel):
    secret: str

class Kind(str, enum.Enum):
    A = "a"
    B = "b"

class Invoice(BaseModel):
    """An invoice."""
    items: list["Item"]
    kind: Kind

    def total(self) -> float:
        return sum(Unused(secret=os.name) for _ in self.items)
'''
QA = '''import dspy
import json
from app.models import Invoice as Bill
from .base import Base

def helper() -> None:
    """Never needed."""

class Other(dspy.Signature):
    """Other."""
    a: str = dspy.InputField()
    b: str = dspy.OutputField()

class Answer(Base):
    """Answer it."""
    bill: Bill = dspy.OutputField(desc="what is owed")

json.dumps(helper())
'''
BASE = '''import dspy
class Base(dspy.Signature):
    """Base."""
    note: str = dspy.InputField()
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "app").mkdir()
    for name, text in {"models": MODELS, "qa": QA, "base": BASE, "__init__": ""}.items():
        (tmp_path / "app" / f"{name}.py").write_text(text)
    return tmp_path


def taken(folder: Path, name: str | None = "Answer", file: str = "app/qa.py") -> Gathered:
    project = Project.of(folder)
    return gather(project, project.resolved(folder / file), name)


def fields(found: Gathered) -> dict[str, str]:
    return {name: str(one.annotation) for name, one in notation.read(found.text, found.class_name).fields.items()}


def test_only_the_class_and_what_it_needs_comes_along(project: Path) -> None:
    found = taken(project)
    assert list(fields(found)) == ["note", "bill"]
    for left_out in ("Unused(BaseModel)", "helper", "Other", "json", "import os"):
        assert left_out not in found.text
    assert "# What is owed.\nclass Item(BaseModel):" in found.text
    assert "Bill = Invoice" in found.text and "LIMIT = 10" in found.text
    assert [one.name for one in found.files] == ["qa.py", "base.py", "models.py"]


def test_a_module_of_which_all_is_needed_stays_to_the_character(project: Path) -> None:
    assert taken(project, "Base", "app/base.py").text == BASE
    assert taken(project, None, "app/base.py").class_name == "Base"


def test_a_module_that_many_sessions_share_is_split_once(project: Path) -> None:
    read_module.cache_clear()
    first, second = taken(project), taken(project)
    assert first == second
    assert read_module.cache_info().misses == len(first.files)


@pytest.mark.parametrize(
    "lines",
    [
        "from app import models\n{models.Invoice}",
        "import app.models\n{app.models.Invoice}",
        "import app.base, app.models, app\n{app.models.Invoice}",
        "from . import models as m\n{m.Invoice}",
        "from app.everything import Invoice\n{Invoice}",
        "from app.everything import *\n{Invoice}",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.models import Invoice\n{'Invoice'}",
        "from app.models import Invoice\nBills = list[Invoice]\n{Bills}",
    ],
)
def test_every_way_of_importing_from_the_projects_own_modules_is_followed(project: Path, lines: str) -> None:
    (project / "app" / "everything.py").write_text("from .models import *\nfrom .again import more\n")
    (project / "app" / "again.py").write_text("more = 3\n")
    imports, _, name = lines.rpartition("\n")
    source = f"import dspy\n{imports}\nclass Q(dspy.Signature):\n    a: str = dspy.InputField()\n"
    source += f"    b: {name[1:-1]} = dspy.OutputField()\n"
    (project / "app" / "q.py").write_text(source)
    found = taken(project, "Q", "app/q.py")
    signature = notation.read(found.text, "Q")
    assert "Invoice" in str(signature.fields["b"].annotation)
    assert "Unused(BaseModel)" not in found.text


def test_an_import_that_leads_nowhere_is_named_with_its_file(project: Path) -> None:
    (project / "app" / "qa.py").write_text(QA.replace("Invoice as Bill", "Invoce as Bill"))
    with pytest.raises(
        SourceRefusedError, match=r"`from app.models import Invoce as Bill` in app/qa.py, line 3: app/mod"
    ):
        taken(project)
    (project / "app" / "qa.py").write_text(QA.replace(".base", ".bas"))
    with pytest.raises(
        SourceRefusedError, match=r"`from .bas import Base` in app/qa.py, line 4: the project has no such"
    ):
        taken(project)


def test_a_class_or_a_file_that_is_gone_is_answered_with_the_nearest(project: Path) -> None:
    with pytest.raises(SourceGoneError, match=r"app/qa.py has no class Answr \(did you mean Answer\?\)"):
        taken(project, "Answr")
    with pytest.raises(SourceGoneError, match=r"app/qas.py: no such file \(did you mean app/qa.py\?\)"):
        taken(project, "Answer", "app/qas.py")


def test_one_name_for_two_things_is_refused(project: Path) -> None:
    (project / "app" / "base.py").write_text(BASE.replace("note: str", "note: Bill") + "class Bill(str):\n    pass\n")
    with pytest.raises(SourceRefusedError, match="is defined twice: in app/"):
        taken(project)


def test_circles_of_imports_end(project: Path) -> None:
    (project / "app" / "a.py").write_text("from app.b import X\n")
    (project / "app" / "b.py").write_text("from app.a import X\n")
    (project / "app" / "qa.py").write_text("import dspy\nfrom app.a import X\nclass Answer(X):\n    pass\n")
    with pytest.raises(SourceRefusedError, match="in a circle"):
        taken(project)
    loop = MODELS.replace("import os", "import os\nfrom app.loop import Answer")
    (project / "app" / "models.py").write_text(loop)
    (project / "app" / "qa.py").write_text(QA)
    assert list(fields(taken(project))) == ["note", "bill"]


def test_a_text_of_its_own_is_cut_without_any_file() -> None:
    cut = gather_text(QA.replace("from .base import Base\n", "").replace("(Base)", "(dspy.Signature)"), "Answer").text
    assert "Other" not in cut and "helper" not in cut and "json" not in cut
    assert cut.startswith("import dspy\nfrom app.models import Invoice as Bill\n\n\nclass Answer")


INNER = """
def build():
    import dspy
    class Answer(dspy.Signature):
        question: str = dspy.InputField()
        answer: str = dspy.OutputField()
def limited(limit):
    class Other(dspy.Signature):
        question: str = dspy.InputField(max_length=limit)
def judge(question, rubric):
    class Judge(dspy.Signature):
        question: str = dspy.InputField()
        rubric = dspy.InputField()
        mark: int = dspy.OutputField()
@app.cell
def _(dspy, mo):
    class Cell(dspy.Signature):
        question: str = dspy.InputField()
        answer: str = dspy.OutputField()
def nested():
    class Part(BaseModel):
        whole: list["Whole"]
    class Whole(BaseModel):
        parts: list[Part]
    class Tree(dspy.Signature):
        question: str = dspy.InputField()
        answer: Whole = dspy.OutputField()
"""


@pytest.mark.parametrize("place", ["build.Answer", "_.Cell"])
def test_a_class_in_a_function_is_found_by_its_place(place: str) -> None:
    assert list(gather_text(INNER, place).read().fields) == ["question", "answer"]


def test_a_field_may_have_the_name_of_a_parameter_of_the_function_around_its_class() -> None:
    assert list(gather_text(INNER, "judge.Judge").read().fields) == ["question", "rubric", "mark"]


def test_classes_in_a_function_may_name_each_other() -> None:
    assert "class Part(BaseModel)" in gather_text(INNER, "nested.Tree").text


def test_a_place_that_needs_more_than_itself_is_not_sent_elsewhere() -> None:
    with pytest.raises(SourceGoneError, match=r"no signature at limited\.Other \(it needs names of the function"):
        gather_text(INNER, "limited.Other", "qa.py")


@pytest.mark.parametrize(
    ("name", "hint"), [("Answer", "did you mean build.Answer?"), ("Other", "it needs names of the function around it")]
)
def test_a_class_in_a_function_is_not_said_to_be_missing(name: str, hint: str) -> None:
    with pytest.raises(SourceGoneError, match=rf"qa\.py has no class {name} \({re.escape(hint)}"):
        gather_text(INNER, name, "some/qa.py")


def test_a_name_is_looked_for_as_it_is_written() -> None:
    with pytest.raises(SourceGoneError, match="has no class Answer"):
        gather_text(INNER, "Answer(", "some/qa.py")


OF_ANOTHER = "import dspy\nfrom kinds import Kind\nclass Q(dspy.Signature):\n    kind: Kind = dspy.OutputField()\n"
A_BASE = 'class Own(dspy.Signature):\n    """\n    n: int = f()\n    """\n'


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (OF_ANOTHER.replace("class Q(dspy.Signature", f"{A_BASE}class Q(Own"), "kinds.py: "),
        (OF_ANOTHER.replace("\n", "\r"), "kinds.py: "),
        ("import dspy\nclass Q(dspy.Signature):\n    'Doc\\\r\\\r\\\r'\n    n: int = f()\n", ""),
    ],
)
def test_the_file_of_a_class_that_cannot_be_read_is_named(text: str, where: str, tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text("from pydantic import BaseModel\nclass Kind(BaseModel):\n    n: int = f()\n")
    (tmp_path / "qa.py").write_bytes(text.encode())
    with pytest.raises(SourceRefusedError, match=f"^qa.py: {where}unknown name `f`"):
        read_gathered(gather(Project(tmp_path), tmp_path / "qa.py", "Q"), "qa.py")
