"""What the engine process is started with."""

from __future__ import annotations

import sys

import pytest

from engine_bridge.engine_process import added_variables, large_pages

_LARGE = "glibc.malloc.hugetlb=1"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="glibc reads it, on Linux")


@on_linux
def test_that_the_engine_is_started_so_that_it_asks_for_large_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert added_variables("")["GLIBC_TUNABLES"] == _LARGE


@on_linux
def test_that_the_users_own_wishes_to_the_allocator_stay() -> None:
    other = "glibc.malloc.arena_max=2"
    assert large_pages({"GLIBC_TUNABLES": other}) == {"GLIBC_TUNABLES": f"{other}:{_LARGE}"}
    assert large_pages({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}) == {}


@pytest.mark.skipif(sys.platform == "linux", reason="Linux has it")
def test_that_other_systems_get_no_such_variable() -> None:
    assert large_pages({}) == {}
