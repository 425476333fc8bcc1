"""Whatever a file holds, an import is a session that can be saved, or one clear error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.errors import SignatureError
from sessions.errors import SessionError
from sessions.file import store
from sessions.imports import sources
from tests.sessions.strategies import values

texts = st.one_of(
    st.text(max_size=8), st.sampled_from(["Answer:", "${answer}", "class", "[[ ## a ## ]]", "\ud800", "\x1b["])
)
anything = st.one_of(values, texts)
fields = st.lists(st.fixed_dictionaries({"prefix": texts | values, "description": texts | values}), max_size=3)
states = st.fixed_dictionaries(
    {
        "demos": st.lists(st.dictionaries(texts, anything, max_size=3), max_size=3) | anything,
        "signature": st.fixed_dictionaries({"instructions": texts, "fields": fields}) | anything,
    },
    optional={
        "lm": st.dictionaries(st.sampled_from(["model", "temperature", "stop", "n"]), anything),
        "train": anything,
    },
)
messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": anything}),
    max_size=4,
)
SYSTEM = "Your input fields are:\n1. `{}` ({}): d\nYour output fields are:\n1. `{}` (str): e\n"
system = st.builds(SYSTEM.format, texts | st.just("a"), texts | st.just("int"), texts | st.just("b"))
calls = st.fixed_dictionaries(
    {"messages": messages, "outputs": st.lists(texts, max_size=2) | anything},
    optional={"kwargs": anything, "model": anything},
) | st.fixed_dictionaries(
    {"messages": st.builds(lambda text: [{"role": "system", "content": text}], system), "outputs": st.just(["x"])}
)
rows = st.lists(st.dictionaries(texts, anything, max_size=3), max_size=3)
NAME_THAT_PYTHON_NORMALISES = "Your input fields are:\n1. `a` (int): d\nYour output fields are:\n1. `ª` (str): e\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *(kind for kind in sources.KINDS if kind != "signature")])
@example(data={"messages": [{"role": "system", "content": NAME_THAT_PYTHON_NORMALISES}], "outputs": ["x"]})
@given(data=st.one_of(states, messages, calls, rows, anything, st.dictionaries(texts, states, max_size=2)))
@settings(
    max_examples=3 * settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_any_json_is_a_session_that_can_be_saved_or_a_clear_error(kind: Any, data: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(data))
    try:
        made = sources.load(str(file), kind)
        text = store.dumps(made.session)
    except (SessionError, SignatureError):
        return
    assert store.dumps(store.loads(text)) == text


@given(text=st.text(alphabet='ab,;"\n\r\t\x00\ufeff\x85é', max_size=40))
@settings(
    max_examples=3 * settings().max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_any_table_is_a_session_or_a_clear_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(text.encode())
    try:
        made = sources.load(str(file))
    except (SessionError, SignatureError):
        return
    assert made.session.demos and store.loads(store.dumps(made.session)) == made.session
