"""What the engine says of host memory."""

from __future__ import annotations

import pytest

from engine_bridge.child.llama import GGML

pytestmark = pytest.mark.engine


def test_that_host_memory_in_use_is_not_said_to_be_free() -> None:
    host = next(device for device in GGML.devices() if device.kind == "cpu")
    assert 0 < host.free < host.total
