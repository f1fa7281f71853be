"""A remote worker that goes away under a running answer: named in the window, with a way on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.window import Window
from engine_bridge.client import EngineClient
from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.engine.workers import free_port, lent_cpus
from tests.window.conftest import PATIENCE_MS
from widgets.status_banner import StatusBanner

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def _button(banner: StatusBanner, words: str) -> QPushButton:
    buttons = banner.findChildren(QPushButton)
    return next(one for one in buttons if one.text().startswith(words) and not one.isHidden())


def test_that_the_lost_worker_is_named_and_the_model_loaded_without_it(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    with lent_cpus(2) as (lost, left):
        window = open_window(
            temperature=0.0,
            ctx_per_slot_tok=4096,
            max_new_tok=3000,
            n_gpu_layers="all",
            tensor_split=("1", "1"),
            rpc_servers=(lost.endpoint, left.endpoint),
        )
        desk, banner = window.desk, window.banner
        window.engine_wiring.load(str(tiny_chat_path))
        qtbot.waitUntil(
            lambda: desk.session.applied is not None or bool(banner.sentence()),
            timeout=PATIENCE_MS,
        )
        assert desk.session.applied is not None, banner.sentence()
        assert desk.hello is not None
        if not desk.hello.has_rpc:
            pytest.skip("this build of llama.cpp has no RPC backend")
        view = window.chat.conversation(window.chat.current_id())
        with qtbot.waitSignal(desk.chats.text_arrived, timeout=PATIENCE_MS):
            view.submit("Hello")
        lost.kill()
        qtbot.waitUntil(lambda: lost.endpoint in banner.sentence(), timeout=PATIENCE_MS)
        assert desk.client.state is EngineState.DEAD
        assert left.endpoint not in banner.sentence()
        before = desk.session.applied
        _button(banner, "Load without").click()
        qtbot.waitUntil(
            lambda: desk.session.applied is not before or bool(banner.sentence()),
            timeout=PATIENCE_MS,
        )
        qtbot.waitUntil(lambda: desk.client.state is EngineState.READY, timeout=PATIENCE_MS)
        assert desk.session.applied is not None
        assert desk.session.applied.config.rpc_servers == (left.endpoint,)
        assert desk.session.applied.config.tensor_split == ()
        assert desk.session.wanted.rpc_servers == (left.endpoint,)


def test_that_a_worker_that_is_not_there_is_named_and_left_out_with_one_click(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    endpoint = f"127.0.0.1:{free_port()}"
    window = open_window(rpc_servers=(endpoint,))
    banner, session = window.banner, window.desk.session
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: endpoint in banner.sentence(), timeout=PATIENCE_MS)
    _button(banner, "Set Remote workers").click()
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.wanted.rpc_servers == ()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say who waits for whom")
def test_that_a_frozen_worker_is_named_and_the_model_loaded_without_it(
    windows: list[Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    with lent_cpus(2) as (left, frozen):
        config = EngineConfig(
            threads=1,
            temperature=0.0,
            ctx_per_slot_tok=4096,
            max_new_tok=3000,
            n_gpu_layers="all",
            rpc_servers=(left.endpoint, frozen.endpoint),
        )
        client = EngineClient(limits=ClientLimits(stall_after_s=2.0))
        window = Window(Desk(config, client), DARK)
        windows.append(window)
        window.show()
        window.desk.open()
        desk, banner = window.desk, window.banner
        window.engine_wiring.load(str(tiny_chat_path))
        qtbot.waitUntil(
            lambda: desk.session.applied is not None or bool(banner.sentence()),
            timeout=PATIENCE_MS,
        )
        assert desk.hello is not None
        if not desk.hello.has_rpc:
            pytest.skip("this build of llama.cpp has no RPC backend")
        view = window.chat.conversation(window.chat.current_id())
        with qtbot.waitSignal(desk.chats.text_arrived, timeout=PATIENCE_MS):
            view.submit("Hello")
        frozen.freeze()
        qtbot.waitUntil(lambda: frozen.endpoint in banner.sentence(), timeout=PATIENCE_MS)
        assert "does not answer" in banner.sentence()
        assert left.endpoint not in banner.sentence()
        assert desk.client.state is EngineState.BUSY
        _button(banner, f"Load without {frozen.endpoint}").click()
        qtbot.waitUntil(
            lambda: (
                desk.session.applied is not None
                and desk.session.applied.config.rpc_servers == (left.endpoint,)
                and desk.client.state is EngineState.READY
            ),
            timeout=PATIENCE_MS,
        )
        with qtbot.waitSignal(desk.chats.text_arrived, timeout=PATIENCE_MS):
            view.submit("Still there?")
