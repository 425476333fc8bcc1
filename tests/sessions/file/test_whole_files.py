"""A file is replaced in one step, whatever stops the write."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.file import whole_files


def test_a_full_disk_leaves_the_old_content_and_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as caught:
        whole_files.write(path, b"new")
    assert whole_files.explain(caught.value) == ("no space left on device", "free some space; the file is as it was")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes() == b"old"


def test_a_link_stays_and_its_file_is_replaced_with_the_same_permissions(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "report.html", tmp_path / "report.html"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to("far/report.html")
    whole_files.write(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        whole_files.write(pipe, b"new")
        assert os.read(reader, 100) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_file_that_an_open_descriptor_leads_to_is_added_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    with log.open("ab") as opened:
        whole_files.write(f"/dev/fd/{opened.fileno()}", b"new\n")
    assert log.read_bytes() == b"before\nnew\n"


def test_a_read_only_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        whole_files.write(path, b"new")
    assert path.read_bytes() == b"old"


def test_of_two_that_make_a_file_at_once_the_second_fails(tmp_path: Path) -> None:
    place = tmp_path / "new.json"

    def pieces(content: bytes, while_written: bytes = b"") -> Iterator[bytes]:
        if while_written:
            whole_files.create(str(place), [while_written])
        yield content

    with pytest.raises(FileExistsError):
        whole_files.create(str(place), pieces(b"second", b"first"))
    assert place.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["new.json"], "no temporary file is left"


def test_a_file_is_new_also_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*names: str) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    place = tmp_path / "new.json"
    whole_files.create(str(place), [b"first"])
    with pytest.raises(FileExistsError):
        whole_files.create(str(place), [b"second"])
    assert place.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["new.json"]
