"""The same program under dspy of other releases, installed in environments that know nothing of the workbench."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "support" / "captured_program.py"
RELEASES = ("2.6.27", "3.0.4")
INSTALL_S = 600
RUN_S = 300

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A release of dspy and a Python that has it."""
    folder = tmp_path_factory.mktemp(f"dspy-{request.param}")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "-q", "--no-compile", f"dspy=={request.param}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    if done.returncode:
        pytest.skip(f"dspy {request.param} cannot be installed here: {done.stderr.strip()[-200:]}")
    return request.param, python


def ran(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=RUN_S)


def test_a_program_is_captured_whole_and_what_differs_is_that_release(
    release: tuple[str, Path], tmp_path: Path
) -> None:
    version, python = release
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    shutil.copy(PROGRAM, tmp_path / "program.py")
    workbench = (sys.executable, "-m", "workbench")
    plain = ran(str(python), "program.py", "3", cwd=tmp_path)
    captured = ran(*workbench, "capture", "-o", "prompts", "--", str(python), "program.py", "3", cwd=tmp_path)
    assert plain.returncode == captured.returncode == 3, captured.stderr
    assert plain.stdout == captured.stdout
    assert "workbench capture: 14 calls, 6 sessions in prompts" in captured.stderr
    checked: dict[str, Any] = json.loads(ran(*workbench, "check", "prompts", "--json", cwd=tmp_path).stdout)
    assert len(checked["fixtures"]) == 13
    drifts = [drift for one in checked["fixtures"] for drift in one["drift"]]
    assert drifts  # each of these releases writes some prompts otherwise than the one we stand for
    assert [one for one in drifts if f"dspy {version} then" not in one["versions"]] == []
    assert all(f"dspy {version} then" in line for line in captured.stderr.splitlines() if " · chat: " in line)
