"""A server as an engine: what its events say, by a clock that stands still unless it is moved."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.experiments import probe_port
from app.experiments.play import play
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError, StoppedError
from app.experiments.probe_port import ServerPort
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.script import Script, Turn
from app.experiments.server_address import ApiKey, address_of
from app.experiments.server_answer import Limits
from engine_bridge.protocol import (
    CancelLoad,
    ChatMessage,
    Event,
    Generate,
    RequestFinished,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.fake_server import MODEL, FakeServer, Reply, well

_PATIENCE_S = 20.0


class Clock:
    """Stands still; may be moved by any thread."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000

    def __call__(self) -> int:
        return self.now_ns

    def pass_s(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


class Steps:
    """Sends what it is told to when it is told to."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)

    def __call__(self, reply: Reply) -> None:
        for content in ("a", "b", "c"):
            assert self.go.acquire(timeout=_PATIENCE_S)
            reply.delta(content=content)
        reply.delta("length")
        reply.usage(5, prompt_tok=30, prompt_tokens_details={"cached_tokens": 10})
        reply.done()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def port_to(server: FakeServer, clock: Clock | None = None, **limits: float) -> ServerPort:
    address = address_of(server.url)
    made = Limits(**limits) if limits else None
    port = ServerPort(address, limits=made, clock_ns=clock) if clock else ServerPort(address)
    port.model = MODEL
    return port


def scripts(conversations: int = 1, turns: int = 1, new_tok: int = 4) -> list[Script]:
    return [
        Script(f"s{number}", tuple(Turn(f"question {turn}", new_tok) for turn in range(turns)))
        for number in range(conversations)
    ]


def one(record: RunRecord) -> RequestRecord:
    (request,) = record.requests
    return request


def next_of(port: ServerPort, kind: type[Event]) -> Event:
    while True:
        event = port.next_event(_PATIENCE_S)
        assert event is not None
        if isinstance(event, kind):
            return event


def generate(port: ServerPort) -> None:
    message = ChatMessage("user", "hi")
    port.send(Generate(port.next_id(), "c", (message,), max_new_tok=4, sent_ns=port.now_ns))


def test_that_times_are_those_at_which_chunks_arrived(server: FakeServer) -> None:
    clock = Clock()
    server.behaviour = steps = Steps()
    with port_to(server, clock) as port:
        generate(port)
        for seconds in (0.5, 0.1, 0.3):
            while not server.bodies:  # sent at the time before
                port.next_event(0.01)
            clock.pass_s(seconds)
            steps.go.release()
            next_of(port, TokensDelivered)
        finished = next_of(port, RequestFinished)
    assert isinstance(finished, RequestFinished)
    timing = finished.timing
    assert timing.ttft_s == pytest.approx(0.5)
    assert timing.tpot_s == pytest.approx((0.1 + 0.3) / 4)  # five tokens by usage
    assert timing.itl_p50_s == pytest.approx(0.2)  # gaps of chunks: 0.1 and 0.3
    assert (timing.new_tok, timing.prompt_tok, timing.reused_tok) == (5, 30, 10)
    assert finished.reason == "token_limit"


def test_that_a_conversation_goes_on_with_what_was_answered(server: FakeServer) -> None:
    with port_to(server) as port:
        record = play(port, scripts(turns=2, new_tok=2))
    assert [request.reason for request in record.requests] == ["token_limit"] * 2
    assert [message["role"] for message in server.bodies[1]["messages"]] == [
        "user", "assistant", "user",
    ]  # fmt: skip
    assert server.bodies[1]["messages"][1]["content"] == " 0 1"
    assert server.bodies[0]["ignore_eos"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}
    assert server.bodies[0]["max_tokens"] == 2


def test_that_users_ask_at_the_same_time(server: FakeServer) -> None:
    together = threading.Barrier(3)

    def behaviour(reply: Reply) -> None:
        together.wait(_PATIENCE_S)  # broken unless three are here at once
        well(reply)

    server.behaviour = behaviour
    with port_to(server) as port:
        record = play(port, scripts(6), users=3)
    assert [request.detail for request in record.requests] == [""] * 6


def test_that_an_answer_in_one_chunk_has_no_time_per_token(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        reply.delta("length", content="all at once")
        reply.usage(4)
        reply.done()

    server.behaviour = behaviour
    with port_to(server) as port:
        timing = one(play(port, scripts())).timing
    assert timing is not None
    assert (timing.new_tok, timing.tpot_s) == (4, None)
    assert timing.ttft_s is not None


def test_that_without_usage_chunks_are_counted(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        for content in ("two words", " more"):
            reply.delta(content=content)
        reply.delta("stop")
        reply.done()

    server.behaviour = behaviour
    with port_to(server) as port:
        request = one(play(port, scripts()))
        (answer,) = port.take_answers()
    assert request.timing is not None
    assert (request.timing.new_tok, request.reason) == (2, "end")
    assert answer.usage is None


def test_that_thoughts_are_output_but_not_said_again(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        reply.delta(role="assistant", content="")
        reply.delta(reasoning_content="hm")
        reply.delta(content="yes")
        reply.delta("stop")
        reply.done()

    server.behaviour = behaviour
    with port_to(server) as port:
        record = play(port, scripts(turns=2))
        answers = port.take_answers()
    assert len(record.requests[0].step_s) == 2
    assert [answer.thought_chunks for answer in answers] == [1, 1]
    assert server.bodies[1]["messages"][1]["content"] == "yes"


def test_that_comments_and_keep_alives_are_no_tokens(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        reply.raw(b": ping\n\n")
        reply.raw(b"event: message\r\nid: 1\r\n")
        reply.delta(content="a")
        reply.raw(b"\n\n: ping\n")
        reply.delta("stop", content="b")
        reply.done()

    server.behaviour = behaviour
    with port_to(server) as port:
        request = one(play(port, scripts()))
    assert (len(request.step_s), request.detail) == (2, "")


def test_that_a_finish_without_the_mark_of_the_end_is_an_end(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        reply.delta(content="a")
        reply.raw(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}')
        reply.end()

    server.behaviour = behaviour
    with port_to(server) as port:
        request = one(play(port, scripts()))
        (answer,) = port.take_answers()
    assert (request.reason, request.detail) == ("end", "")
    assert not answer.has_end_mark


def test_that_connections_are_used_again(server: FakeServer) -> None:
    threads = set()

    def behaviour(reply: Reply) -> None:
        threads.add(threading.get_ident())  # the server has a thread for each connection
        well(reply)

    server.behaviour = behaviour
    with port_to(server) as port:
        play(port, scripts(8))
    assert len(threads) < 8


def test_that_a_server_has_no_settings_memory_or_peak(server: FakeServer) -> None:
    with port_to(server) as port:
        record = play(port, scripts())
        with pytest.raises(ConfigRefusedError):
            port.apply(EngineConfig())
        with pytest.raises(PortError):
            port.send(CancelLoad())
        with pytest.raises(PortError):
            _ = port.hello
    assert (record.owned_bytes, record.peak_bytes_per_s, record.work) == (0, 0.0, ())


def test_that_a_stop_ends_what_hangs_and_keeps_what_was_measured(server: FakeServer) -> None:
    def behaviour(reply: Reply) -> None:
        if len(server.bodies) == 1:
            well(reply)
            return
        reply.delta(content="a")
        reply.hang()

    server.behaviour = behaviour
    with port_to(server) as port:

        def stop() -> None:
            server.hanging.acquire(timeout=_PATIENCE_S)
            port.stop()

        stopper = threading.Thread(target=stop)
        stopper.start()
        with pytest.raises(StoppedError) as error:
            play(port, scripts(2))
        stopper.join()
        with pytest.raises(StoppedError):
            generate(port)
    record = error.value.record
    assert record is not None
    assert [request.reason for request in record.requests] == ["token_limit", "cancelled"]


@pytest.mark.parametrize(
    ("has_token", "passed_s", "words"),
    [(False, 31.0, "no token for 30 s"), (True, 11.0, "no further token for 10 s")],
)
def test_that_a_server_that_hangs_is_given_up(
    server: FakeServer, has_token: bool, passed_s: float, words: str
) -> None:
    clock = Clock()

    def behaviour(reply: Reply) -> None:
        if has_token:
            reply.delta(content="a")
        reply.hang()

    server.behaviour = behaviour
    with port_to(server, clock, first_s=30.0, gap_s=10.0) as port:
        generate(port)
        assert server.hanging.acquire(timeout=_PATIENCE_S)
        if has_token:
            next_of(port, TokensDelivered)
        clock.pass_s(passed_s)
        finished = next_of(port, RequestFinished)
        assert isinstance(finished, RequestFinished)
        assert finished.reason == "failed"
        assert words in finished.detail
        with pytest.raises(EngineGoneError, match=words):
            generate(port)


def test_that_keep_alives_alone_do_not_put_a_hang_off(server: FakeServer) -> None:
    clock = Clock()

    def behaviour(reply: Reply) -> None:
        reply.raw(b": still here\n\n" * 50)
        reply.hang()

    server.behaviour = behaviour
    with port_to(server, clock, first_s=30.0) as port:
        generate(port)
        assert server.hanging.acquire(timeout=_PATIENCE_S)
        clock.pass_s(31.0)
        finished = next_of(port, RequestFinished)
    assert isinstance(finished, RequestFinished)
    assert "no token for 30 s" in finished.detail


def test_that_a_key_is_sent_only_where_there_is_one(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-server")
    for key in (ApiKey(), ApiKey("k3y")):
        with ServerPort(address_of(server.url), key) as port:
            port.model = MODEL
            port.models()
            play(port, scripts())
    assert server.keys == [None, None, "Bearer k3y", "Bearer k3y"]


def test_that_proxies_are_left_out_on_this_machine(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    with port_to(server) as port:
        assert one(play(port, scripts())).detail == ""


def test_that_a_hang_is_seen_while_others_go_on(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(probe_port, "_LOOK_S", 0.0)

    def behaviour(reply: Reply) -> None:
        if len(server.bodies) == 1:
            reply.hang()
            return
        while not server.closing.is_set():  # until it is given up too
            reply.delta(content="on")

    server.behaviour = behaviour
    with port_to(server, clock, first_s=30.0, gap_s=1e6) as port:
        generate(port)
        assert server.hanging.acquire(timeout=_PATIENCE_S)
        message = ChatMessage("user", "hi")
        port.send(Generate(port.next_id(), "d", (message,), max_new_tok=10_000_000))
        next_of(port, TokensDelivered)
        clock.pass_s(31.0)
        finished = next_of(port, RequestFinished)
        assert isinstance(finished, RequestFinished)
        assert finished.request_id == 1
        assert "no token for 30 s" in finished.detail
