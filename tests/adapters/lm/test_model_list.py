"""What can be chosen as a model: litellm's list without litellm, searched, and servers of the user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.lm import model_list, servers
from adapters.lm.offline import NAMES

ROOT = Path(__file__).parents[3]


def test_litellms_list_is_read_without_importing_litellm() -> None:
    program = (
        "import sys\nfrom adapters.lm import model_list\n"
        "names = {one.name for one in model_list.litellm_models()}\n"
        "assert {'openai/gpt-4o-mini', 'anthropic/claude-sonnet-4-5', 'groq/openai/gpt-oss-20b'} <= names\n"
        "assert len(names) > 1000 and 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_a_price_that_is_not_known_is_none() -> None:
    by_name = {one.name: one for one in model_list.litellm_models()}
    assert by_name["openai/gpt-4o-mini"].input_price == 0.15
    unknown = [one for one in by_name.values() if one.input_price is None]
    assert unknown
    assert all(one.input_price != 0 for one in by_name.values())


def test_every_word_is_found_as_it_stands_or_by_its_letters() -> None:
    listed = model_list.litellm_models()
    assert model_list.search(listed, "gpt-4o-mini openai/")[0].name == "openai/gpt-4o-mini"
    assert "anthropic/claude-sonnet-4-5" in [one.name for one in model_list.search(listed, "cld snnt 4-5")[:5]]
    assert model_list.search(listed, "no-such-model-anywhere") == ()
    assert [one.name for one in model_list.search(model_list.offline_models(), "single quotes")] == ["offline/sloppy"]


def test_a_page_pasted_where_a_name_belongs_costs_no_more_than_a_long_name() -> None:
    class Counted(str):
        lowered = 0

        def lower(self) -> str:
            Counted.lowered += 1
            return super().lower()

    entries = [model_list.ModelEntry(Counted("openai/gpt-4o"), "openai", Counted("a model"))]
    assert model_list.search(entries, "word " * 20_000) == ()
    assert model_list.search(entries, " ".join([f"word{number}" for number in range(20_000)])) == ()
    assert Counted.lowered < 200


def test_every_offline_model_says_what_it_imitates() -> None:
    assert [one.name for one in model_list.offline_models()] == list(NAMES)
    assert all(one.description for one in model_list.offline_models())


def test_servers_are_those_of_the_environment_the_config_file_and_the_usual_places(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('theme = "nord"\n[servers]\nhosted_vllm = "http://gpu:8000/v1"\nopenai_like = "http://x/v1"\n')
    found = {one.provider: (one.address, one.source) for one in servers.known({"OLLAMA_API_BASE": "http://o:1"}, path)}
    assert found == {
        "hosted_vllm": ("http://gpu:8000/v1", "config"),
        "openai_like": ("http://x/v1", "config"),
        "ollama_chat": ("http://o:1", "environment"),
        "lm_studio": ("http://localhost:1234/v1", "usual"),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("servers = 1", "config.toml:1: servers: expected a table"),
        ("\n[servers]\na = 1", "config.toml:3: servers: a: it is not a text; write it as in hosted_vllm"),
        ('[servers]\na = "http://u:p@h"', "config.toml:2: servers: a: it contains a user name"),
        ('[servers]\na = "http://[h"', "config.toml:2: .*hosted_vllm"),
        ('[servers]\na = "b', "config.toml:2: not TOML"),
        ('\na = {"(at line 7, " = 1, "(at line 7, " = 2}', "config.toml:2: not TOML"),
        ("a = " + "[" * 100_000, "config.toml: nested too deeply"),
    ],
)
def test_a_config_file_that_is_none_is_an_error_that_names_the_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(servers.ServersError, match=said):
        servers.known({}, path)


def test_a_server_that_does_not_answer_is_none() -> None:
    from loopback_server import refused_port

    nobody = servers.Server("hosted_vllm", "vLLM", f"http://127.0.0.1:{refused_port()}/v1", "config")
    assert servers.models_at(nobody) is None
