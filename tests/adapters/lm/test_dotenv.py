"""A project's `.env`: read and never run, and of it only keys, and addresses that are not trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.lm import dotenv


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("A=1", {"A": "1"}),
        ("export A = 1 # why", {"A": "1"}),
        ("A='x # y'", {"A": "x # y"}),
        ('A="x \\"y\\"\\n"', {"A": 'x "y"\n'}),
        ("A=$(touch pwned)", {"A": "$(touch pwned)"}),
        ("A=${HOME}", {"A": "${HOME}"}),
        ("# A=1", {}),
        ("no assignment", {}),
        ("A='open\nB=2", {"B": "2"}),
        ("A='-----BEGIN\nKEY-----'\nB=2", {"A": "-----BEGIN\nKEY-----", "B": "2"}),
        (f"A=x{' ' * 60_000}y\nB=2", {"B": "2"}),
        ("A=", {"A": ""}),
    ],
)
def test_lines_are_taken_as_they_stand(line: str, values: dict[str, str]) -> None:
    assert dotenv.parse(line) == values


def test_only_keys_and_addresses_count(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "OPENAI_API_KEY=sk-canary-1234567890\nHTTPS_PROXY=http://evil\nSSL_CERT_FILE=/x\nPYTHONPATH=/x\nPATH=/x\n"
        "OPENAI_API_BASE=http://127.0.0.1:1/v1\nANTHROPIC_BASE_URL=http://u:p@host\nGROQ_API_KEY=\n"
    )
    project = dotenv.read(tmp_path)
    assert project.keys == {"OPENAI_API_KEY": "sk-canary-1234567890"}
    assert project.addresses == {"openai": "http://127.0.0.1:1/v1"}
    assert "canary" not in repr(project)


def test_the_users_own_environment_comes_first() -> None:
    project = dotenv.ProjectEnvironment({"A_API_KEY": "of the file", "B_API_KEY": "b"}, {"openai": "http://file"})
    environment = {"A_API_KEY": "of the user", "B_API_KEY": ""}
    assert project.lend_keys(environment) == ("B_API_KEY",)
    assert environment == {"A_API_KEY": "of the user", "B_API_KEY": "b"}
    assert dotenv.address_of("openai", project, {}) == "http://file"
    assert dotenv.address_of("openai", project, {"OPENAI_API_BASE": "http://user"}) is None


def test_a_file_that_is_none_is_nothing(tmp_path: Path) -> None:
    nothing = dotenv.ProjectEnvironment()
    assert dotenv.read(tmp_path) == nothing
    (tmp_path / ".env").mkdir()
    assert dotenv.read(tmp_path) == nothing
    (tmp_path / ".env").rmdir()
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=\xff\xff")
    assert dotenv.read(tmp_path) == nothing
    (tmp_path / ".env").write_text("OPENAI_API_KEY=x\n" + "#" * dotenv.LARGEST)
    assert dotenv.read(tmp_path) == nothing


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        ("OLLAMA_HOST=gpu", "http://gpu:11434"),
        ("OLLAMA_HOST=0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("OLLAMA_BASE_URL=http://gpu:1", "http://gpu:1"),
        ("OLLAMA_HOST=gpu\nOLLAMA_API_BASE=http://other:2", "http://other:2"),
        ("OLLAMA_HOST=user:secret@gpu", None),
        ("OLLAMA_HOST=gpu:port", None),
        ("OLLAMA_HOST=", None),
    ],
)
def test_ollamas_address_counts_under_both_of_its_names(lines: str, address: str | None, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(lines)
    project = dotenv.read(tmp_path)
    assert [dotenv.address_of(name, project, {}) for name in ("ollama", "ollama_chat")] == [address] * 2
    assert dotenv.address_of("ollama_chat", project, {"OLLAMA_HOST": "mine"}) is None, "the user's own comes first"
