"""Parts of files: whole at the end or not there, and none of a killed writer stays for good."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine_bridge.child.part_file import written_whole

_KILLED = """
import os, signal, sys
from pathlib import Path
from engine_bridge.child.part_file import written_whole
with written_whole(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _parts(folder: Path) -> list[Path]:
    return list(folder.glob(".tunedeck-*.part"))


def _made_old(part: Path) -> Path:
    os.utime(part, (0, 0))
    return part


def _write(target: Path, content: bytes) -> None:
    with written_whole(target) as file:
        file.write(content)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_that_what_a_killed_writer_left_goes_with_the_next_file(tmp_path: Path) -> None:
    target = tmp_path / "x.slot"
    _write(target, b"old")
    subprocess.run([sys.executable, "-c", _KILLED, str(target)], check=False)
    assert target.read_bytes() == b"old"
    (part,) = _parts(tmp_path)
    assert part.read_bytes() == b"half"
    _write(target, b"young ones stay")
    assert _parts(tmp_path) == [part]
    _made_old(part)
    _write(target, b"new")
    assert _parts(tmp_path) == []
    assert target.read_bytes() == b"new"


def test_that_a_part_that_is_being_written_stays(tmp_path: Path) -> None:
    with written_whole(tmp_path / "slow.slot") as slow:
        slow.write(b"slow")
        slow.flush()
        _made_old(_parts(tmp_path)[0])
        _write(tmp_path / "quick.slot", b"quick")
    assert (tmp_path / "slow.slot").read_bytes() == b"slow"
    assert _parts(tmp_path) == []


def test_that_a_failure_leaves_the_target_and_no_part(tmp_path: Path) -> None:
    target = tmp_path / "x.slot"
    _write(target, b"old")

    def fail() -> None:
        with written_whole(target) as file:
            file.write(b"half")
            raise OSError("on purpose")

    with pytest.raises(OSError, match="on purpose"):
        fail()
    assert target.read_bytes() == b"old"
    assert _parts(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_that_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / ".tunedeck-pipe.part"
    os.mkfifo(pipe)
    _made_old(pipe)
    link = tmp_path / ".tunedeck-link.part"
    link.symlink_to(tmp_path / "x.slot")
    os.utime(link, (0, 0), follow_symlinks=False)
    _write(tmp_path / "x.slot", b"new")
    assert set(_parts(tmp_path)) == {pipe, link}
    assert (tmp_path / "x.slot").read_bytes() == b"new"
