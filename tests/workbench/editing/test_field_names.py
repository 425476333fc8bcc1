"""A field's new name goes everywhere its values are."""

from dataclasses import replace

from sessions.model.session import Case, Demo, Session, SignatureText, Variant
from workbench.editing.field_names import rename_field
from workbench.state.document import Place, State

SESSION = Session(
    SignatureText("q -> a"),
    demos=(Demo({"q": "1", "a": "2"}), Demo({"other": 1})),
    cases=(
        Case(
            "one",
            {"x": 0, "q": "3"},
            ({"q": "4"},),
            {"fields": {"q.b[0]": {"equals": 1}, "qq": {}}, "columns": {"chat": {"fields": {"q": {}}}}},
        ),
    ),
    variants=(Variant("v", "fields.q.desc", "text"),),
)


def test_values_expectations_variants_and_drafts_follow() -> None:
    place = Place("input", "one", field="q")
    made = rename_field(State(SESSION, 0, {place: "half"}), "query -> a", "q", "query")
    assert made.session.demos[0].values == {"query": "1", "a": "2"}
    assert made.session.demos[1] is SESSION.demos[1]
    assert list(made.case.inputs) == ["x", "query"]
    assert made.case.history == ({"query": "4"},)
    assert made.case.expect["fields"] == {"query.b[0]": {"equals": 1}, "qq": {}}
    assert made.case.expect["columns"] == {"chat": {"fields": {"query": {}}}}
    assert made.session.variants[0].of == "fields.query.desc"
    assert made.drafts == {place._replace(field="query"): "half"}


def test_what_stands_under_the_new_name_already_is_not_overwritten() -> None:
    both = replace(SESSION, demos=(Demo({"q": 1, "query": 2}),))
    assert rename_field(State(both), "query -> a", "q", "query").session.demos[0].values == {"q": 1, "query": 2}
