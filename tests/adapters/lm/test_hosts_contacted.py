"""Nothing but the provider is ever contacted: all that a process looks up or connects to while it asks each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from provider_server import PROVIDERS, Provider, ProviderServer
from provider_wires import Reply

ROOT = Path(__file__).parents[3]

# Told to every Python process before it runs anything: what is looked up or connected to goes into a file.
WATCH = """
import os, sys

def watch(event, given):
    if event in ("socket.getaddrinfo", "socket.connect", "socket.sendto"):
        place = given[0] if event == "socket.getaddrinfo" else given[1]
        with open(os.environ["HOSTS_SEEN"], "a") as file:
            file.write(f"{place[0] if isinstance(place, tuple) else place}\\n")

sys.addaudithook(watch)
"""

SEND = """
import sys
from adapters import lm
try:
    for _ in lm.open(sys.argv[1], timeout=20).stream({"messages": [{"role": "user", "content": "Rain?"}]}):
        pass
except lm.ProviderError as error:
    print(error)
"""


def hosts_of(provider: Provider, folder: Path, reply: Reply) -> set[str]:
    """What a process of its own looks up or connects to while it asks `provider`."""
    (folder / "sitecustomize.py").write_text(WATCH)
    seen = folder / "hosts"
    seen.touch()
    with ProviderServer(provider, reply) as server:
        environment = {
            "PATH": "",
            "HOME": str(folder),
            "PYTHONPATH": f"{folder}:{ROOT}",
            "HOSTS_SEEN": str(seen),
            **provider.environment(server.url),
        }
        done = subprocess.run(
            [sys.executable, "-c", SEND, provider.model], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("", ""), json.dumps([done.stdout, done.stderr])
        assert server.requests
    return set(seen.read_text().split())


ALONE = ("unshare", "--net", "--map-root-user", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
"""Runs what follows in a network of its own that has nothing but the loopback."""

ASK_EACH = """
import json, os
from adapters import lm
from provider_server import PROVIDERS, ProviderServer
from provider_wires import Reply
said = {}
for provider in PROVIDERS:
    with ProviderServer(provider, Reply(("It rains ", "a lot."))) as server:
        os.environ.update(provider.environment(server.url))
        try:
            chunks = lm.open(provider.model, timeout=20).stream({"messages": [{"role": "user", "content": "Rain?"}]})
            said[provider.name] = "".join(chunk.text for chunk in chunks)
        except lm.ProviderError as error:
            said[provider.name] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def alone() -> tuple[str, ...]:
    tools = [shutil.which(name) for name in ("unshare", "ip")]
    if None in tools or subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("no network namespace can be made here: unshare or ip is missing, or not permitted")
    return ALONE


@pytest.mark.slow
def test_every_provider_answers_where_there_is_no_other_host(alone: tuple[str, ...], tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/support'}",
    }
    words = [*alone, sys.executable, "-c", ASK_EACH]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {one.name: "It rains a lot." for one in PROVIDERS}
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_nobody_but_the_provider_is_contacted(provider: Provider, tmp_path: Path) -> None:
    assert hosts_of(provider, tmp_path, Reply(("It rains ", "a lot."))) == {"127.0.0.1"}
