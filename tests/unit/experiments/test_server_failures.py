"""Everything a server can do wrong is a sentence; what other requests brought is kept."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import openai
import pytest

from app.experiments.play import play
from app.experiments.port import EngineGoneError, PortError
from app.experiments.probe_greeting import greet
from app.experiments.probe_port import ServerPort
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.script import Script, Turn
from app.experiments.server_address import ApiKey, address_of
from app.experiments.server_failures import failure_of
from tests.unit.experiments.fake_server import MODEL, Behaviour, FakeServer, Reply, refusing, well

_TEXT = "Some text that is long enough to be counted. " * 20
_ERROR = {"error": {"message": "made up reason"}}


def port_to(url: str, key: str = "") -> ServerPort:
    port = ServerPort(address_of(url), ApiKey(key))
    port.model = MODEL
    return port


def scripts(count: int) -> list[Script]:
    return [Script(f"s{number}", (Turn("hi", 4),)) for number in range(count)]


def played(behaviour: Behaviour, count: int = 1) -> RunRecord:
    with FakeServer(behaviour) as server, port_to(server.url) as port:
        return play(port, scripts(count))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Each answers one request."""
    order = iter(behaviours)

    def answer(reply: Reply) -> None:
        next(order)(reply)

    return answer


def failed(behaviour: Behaviour) -> RequestRecord:
    """The second of three requests, whose failure is its own: the others are answered."""
    first, request, last = played(in_turn(well, behaviour, well), 3).requests
    assert (first.detail, last.detail) == ("", "")
    assert request.reason == "failed"
    assert "Traceback" not in request.detail
    return request


def error_in_the_middle(reply: Reply) -> None:
    reply.delta(content="a")
    reply.event(_ERROR)
    reply.end()


def nonsense(reply: Reply) -> None:
    reply.delta(content="a")
    reply.raw(b"data: {not json\n\n")
    reply.done()


def ends_early(reply: Reply) -> None:
    reply.delta(content="a")
    reply.end()


def hangs_up(reply: Reply) -> None:
    reply.delta(content="a")
    reply.hang_up()


def says_nothing(reply: Reply) -> None:
    reply.raw(b"\n")
    reply.end()


def never_ends(reply: Reply) -> None:
    while not reply.server.closing.is_set():  # until the client hangs up
        reply.delta(content="on")


def never_ends_a_line(reply: Reply) -> None:
    while not reply.server.closing.is_set():
        reply.raw(b"x" * 65_536)


def filters(reply: Reply) -> None:
    reply.delta(content="a")
    reply.delta("content_filter")
    reply.done()


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (error_in_the_middle, "The server broke the answer off: made up reason."),
        (nonsense, "The server sent what is no JSON: {not json"),
        (ends_early, "The stream ended before the answer had."),
        (hangs_up, "The connection broke off before the answer had ended"),
        (says_nothing, "The stream ended before the answer had."),
        (never_ends, "went on beyond the 4 tokens that were asked for"),
        (never_ends_a_line, "sent an event without an end"),
        (filters, "The server's filter cut the answer short."),
        (refusing(429, _ERROR), "too many requests (HTTP 429). made up reason."),
        (refusing(500, _ERROR), "The server failed (HTTP 500). made up reason."),
        (refusing(503, b"<html>", **{"Content-Type": "text/html"}), "failed (HTTP 503)."),
        (refusing(400, {"detail": "made up reason"}), "refused the request (HTTP 400). made up"),
        (refusing(502, b""), "The server failed (HTTP 502)"),
    ],
)  # fmt: skip
def test_that_a_failure_of_one_request_is_a_sentence(behaviour: Behaviour, words: str) -> None:
    assert words in failed(behaviour).detail


def test_that_what_came_before_a_failure_counts() -> None:
    request = failed(error_in_the_middle)
    assert request.timing is not None
    assert request.timing.new_tok == 1


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (refusing(401, _ERROR), "wants a key (HTTP 401)"),
        (refusing(403, _ERROR), "wants a key (HTTP 403)"),
        (refusing(404, _ERROR), "no such path or model (HTTP 404). made up reason."),
        (refusing(307, b"", Location="https://elsewhere.org/v1"), "sends on to https://elsewhere"),
        (refusing(200, {"choices": []}), "does not stream its answers (it sent application/json)"),
        (refusing(200, b"<html>", **{"Content-Type": "text/html"}), "(it sent text/html)"),
    ],
)  # fmt: skip
def test_that_what_would_fail_every_request_ends_the_run(behaviour: Behaviour, words: str) -> None:
    with FakeServer(in_turn(well, behaviour)) as server, port_to(server.url) as port:
        with pytest.raises(EngineGoneError) as error:
            play(port, scripts(3))
        assert len(server.bodies) == 2
    assert words in str(error.value)
    record = error.value.record
    assert record is not None
    assert [request.detail for request in record.requests][:1] == [""]


def test_that_nothing_is_asked_twice() -> None:
    with FakeServer(refusing(503, _ERROR)) as server, port_to(server.url) as port:
        play(port, scripts(3))
        assert len(server.bodies) == 3


def test_that_a_key_that_the_server_repeats_is_not_told() -> None:
    told = {"error": {"message": "Incorrect API key provided: k3y-value"}}
    with FakeServer(refusing(401, told)) as server, port_to(server.url, "k3y-value") as port:
        with pytest.raises(EngineGoneError, match="does not accept the key") as error:
            play(port, scripts(2))
        assert server.keys == ["Bearer k3y-value"]
    assert "k3y-value" not in str(error.value)


def test_that_a_server_that_is_not_there_is_a_sentence() -> None:
    with FakeServer() as server:
        url = server.url
    with port_to(url) as port, pytest.raises(PortError, match="Nothing listens at 127"):
        port.models()


def test_that_a_server_that_dies_ends_the_run_with_what_was_measured() -> None:
    with FakeServer() as server, port_to(server.url) as port:

        def behaviour(reply: Reply) -> None:
            if len(server.bodies) < 2:
                well(reply)
                return
            threading.Thread(target=server.close).start()
            server.closing.wait()
            reply.hang_up()

        server.behaviour = behaviour
        with pytest.raises(EngineGoneError) as error:
            play(port, scripts(200))
    record = error.value.record
    assert record is not None
    assert record.requests[0].detail == ""
    assert len(record.requests) < 200


def test_that_https_to_a_server_without_it_is_told_as_that() -> None:
    with FakeServer() as server:
        port = port_to(server.url.replace("http:", "https:"))
        with port, pytest.raises(PortError, match=r"is it http://\?"):
            port.models()


@contextmanager
def _raw_server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Answers one connection as no HTTP server does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "answer", [b"", b"\x15\x03\x01\x00\x02\x02\x16", b"SSH-2.0-OpenSSH_9.2\r\n"]
)
def test_that_a_server_of_another_kind_is_a_sentence(answer: bytes) -> None:
    with (
        _raw_server(lambda connection: connection.sendall(answer)) as url,
        port_to(url) as port,
        pytest.raises(PortError, match="gave no answer of a web server"),
    ):
        port.models()


def test_that_untrusted_certificates_and_unknown_names_are_told() -> None:
    address = address_of("https://example.org")
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_message = "self-signed certificate"
    for cause, words in (
        (refused, "The certificate of example.org:443 is not trusted: self-signed certificate."),
        (socket.gaierror(-2, "Name or service not known"), "no machine called example.org"),
        (ZeroDivisionError("odd"), "The request failed (ZeroDivisionError): odd."),
    ):
        error = openai.OpenAIError("Connection error.")
        error.__cause__ = cause
        assert words in str(failure_of(error, address, ApiKey()))


# --- Getting to know a server -----------------------------------------------------------


def test_that_the_only_model_is_taken_and_others_must_be_named() -> None:
    with FakeServer() as server, port_to(server.url) as port:
        assert greet(port, "", _TEXT).server == "fake b1"
        assert port.model == MODEL
    with FakeServer(models=("big", "small")) as server, port_to(server.url) as port:
        with pytest.raises(PortError, match=r"2 models; say which with --model: big, small\."):
            greet(port, "", _TEXT)
        greet(port, "small", _TEXT)
        assert server.bodies[-1]["model"] == "small"
    with FakeServer(models=None) as server, port_to(server.url) as port:
        with pytest.raises(PortError, match="names no model; say which with --model"):
            greet(port, "", _TEXT)
        greet(port, "unlisted", _TEXT)


def test_that_a_model_that_is_not_there_is_answered_with_those_that_are() -> None:
    with (
        FakeServer(refusing(404, _ERROR), models=("big", "small")) as server,
        port_to(server.url) as port,
        pytest.raises(PortError, match=r"\(HTTP 404\).* Its models are: big, small\."),
    ):
        greet(port, "huge", _TEXT)


def test_that_tokens_of_a_character_leave_the_template_out() -> None:
    with FakeServer() as server, port_to(server.url) as port:
        greeting = greet(port, "", _TEXT)
    assert greeting.tok_per_char == pytest.approx(0.25, rel=0.01)  # and ten of a template
    assert greeting.is_counted


def test_that_what_a_server_does_not_take_is_left_out() -> None:
    def strict(reply: Reply) -> None:
        if "ignore_eos" in reply.body or "max_tokens" in reply.body:
            reply.status(400, {"error": {"message": "Unknown parameter"}})
        else:
            well(reply)

    with FakeServer(strict) as server, port_to(server.url) as port:
        greet(port, "", _TEXT)
        assert port.dialect.limit == "max_completion_tokens"
        play(port, scripts(1))
        assert "ignore_eos" not in server.bodies[-1]
        assert server.bodies[-1]["max_completion_tokens"] == 4


def test_that_a_server_that_takes_nothing_is_told_with_its_first_reason() -> None:
    with (
        FakeServer(refusing(400, _ERROR)) as server,
        port_to(server.url) as port,
        pytest.raises(PortError, match="made up reason"),
    ):
        greet(port, "", _TEXT)


def test_that_a_server_that_does_not_count_gets_english_lengths() -> None:
    def uncounted(reply: Reply) -> None:
        reply.delta("length", content="a")
        reply.done()

    with FakeServer(uncounted) as server, port_to(server.url) as port:
        greeting = greet(port, "", _TEXT)
    assert (greeting.tok_per_char, greeting.is_counted) == (0.25, False)
