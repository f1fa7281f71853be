"""What went wrong between here and a server, as sentences.

Of an exception only what it means is told: words of libraries are no sentences, and a server's own
words may repeat the key.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx2
import openai

from app.experiments.chat_chunk import ChunkError, error_message, shown
from app.experiments.event_stream import NoEventStreamError
from app.experiments.server_address import ApiKey, ServerAddress

CONNECT_S = 5.0
"""How long a server may take to accept a connection."""

NOT_FOUND = 404
_REFUSED_KEY = (401, 403)
_TOO_MANY = 429
_MESSAGE_ABOVE = 400


class AnswerError(Exception):
    """A request to a server failed; the message is a sentence.

    Attributes:
        status: HTTP status; 0 where it is not one that failed it.
        is_final: Whether other requests would fail alike.
    """

    def __init__(self, sentence: str, *, status: int = 0, is_final: bool = False) -> None:
        """Keep what is told."""
        super().__init__(sentence)
        self.status = status
        self.is_final = is_final


def failure_of(error: Exception, address: ServerAddress, key: ApiKey) -> AnswerError:
    """What ``error`` means, said without the key."""
    if isinstance(error, AnswerError):
        failure = error
    elif isinstance(error, ChunkError):
        failure = AnswerError(str(error))
    elif isinstance(error, NoEventStreamError):
        failure = AnswerError(f"The server {error}; that is no stream of an answer.")
    elif isinstance(error, openai.APIStatusError):
        failure = _refused(error, address, key)
    else:
        failure = _broken(error, address)
    sentence = key.hidden_in(str(failure))
    return AnswerError(sentence, status=failure.status, is_final=failure.is_final)


# --- Inside -----------------------------------------------------------------------------


def _refused(error: openai.APIStatusError, address: ServerAddress, key: ApiKey) -> AnswerError:
    status = error.status_code
    said = "" if _is_page(error) else error_message(_body(error))
    if 300 <= status < _MESSAGE_ABOVE:
        target = shown(error.response.headers.get("location", "another address"))
        return AnswerError(
            f"{address.place} sends on to {target} (HTTP {status}); name that address, for nothing "
            "is followed.",
            status=status,
            is_final=True,
        )
    if status in _REFUSED_KEY:
        return AnswerError(f"{_key_words(status, key)} {said}".rstrip(), status=status,
                           is_final=True)  # fmt: skip
    if status == NOT_FOUND:
        sentence = f"{address.base_url} has no such path or model (HTTP 404). {said}"
        return AnswerError(sentence.rstrip(), status=status, is_final=True)
    if status == _TOO_MANY:
        return AnswerError(
            f"The server had too many requests (HTTP 429). {said}".rstrip(), status=status
        )
    what = "failed" if status >= 500 else "refused the request"
    return AnswerError(f"The server {what} (HTTP {status}). {said}".rstrip(), status=status)


def _key_words(status: int, key: ApiKey) -> str:
    if key.value:
        return f"The server does not accept the key in {key.name} (HTTP {status})."
    return (
        f"The server wants a key (HTTP {status}). Put it into the environment and name the "
        f"variable with --api-key-env; {key.name} is sent unasked only to this machine and to "
        "encrypted addresses."
    )


def _body(error: openai.APIStatusError) -> object:
    """The server's answer; of what is no JSON the text."""
    return error.body if error.body else error.response.text


def _is_page(error: openai.APIStatusError) -> bool:
    return "html" in str(error.response.headers.get("content-type", ""))


def _broken(error: Exception, address: ServerAddress) -> AnswerError:
    """A connection that could not be made, or broke."""
    causes = list(_causes(error))
    if any(isinstance(cause, httpx2.ConnectTimeout) for cause in causes):
        return AnswerError(
            f"{address.place} did not accept a connection within {CONNECT_S:g} s.", is_final=True
        )
    if any(isinstance(cause, httpx2.TimeoutException) for cause in causes):
        return AnswerError(f"{address.place} did not go on sending.", is_final=True)
    for cause in causes:
        sentence = _cause_sentence(cause, address)
        if sentence:
            return AnswerError(sentence, is_final=True)
    if any(isinstance(cause, httpx2.ConnectError) for cause in causes):
        return AnswerError(
            f"No connection to {address.place}: {error_message(str(causes[-1]))}", is_final=True
        )
    if any(isinstance(cause, httpx2.TransportError) for cause in causes):
        # What breaks before an answer has begun comes wrapped by the client.
        what = (
            f"{address.place} gave no answer of a web server"
            if isinstance(error, openai.APIConnectionError)
            else "The connection broke off before the answer had ended"
        )
        return AnswerError(f"{what}: {error_message(str(causes[-1]))}")
    name = type(causes[-1]).__name__
    return AnswerError(f"The request failed ({name}): {error_message(str(causes[-1]))}")


def _cause_sentence(cause: BaseException, address: ServerAddress) -> str:
    if isinstance(cause, ConnectionRefusedError):
        return f"Nothing listens at {address.place}. Is the server running?"
    if isinstance(cause, socket.gaierror):
        return f"There is no machine called {address.host}, or no network to ask for it."
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"The certificate of {address.place} is not trusted: {cause.verify_message}."
    if isinstance(cause, ssl.SSLError):
        return f"{address.place} does not encrypt as https asks for; is it http://?"
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """``error`` and what it came of, the first cause last."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__
