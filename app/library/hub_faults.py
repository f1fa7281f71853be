"""What goes wrong between here and a hub, in sentences for the person who reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import msgspec
from huggingface_hub import errors

from app.library.hub_shapes import HubFault

_TOO_MANY, _FORBIDDEN, _NOT_LOGGED_IN, _SERVER = 429, 403, 401, 500
_LOGIN = "Log in with “hf auth login” in a terminal, or set HF_TOKEN, and try again."
_LOCAL = "Everything on this machine works without it."


class HubError(Exception):
    """A hub did not give what was asked for; the message is a sentence for the user.

    Attributes:
        kind: What kind of fault it is.
        wait_s: After so many seconds it may be tried again; None where nobody says.
    """

    def __init__(self, kind: HubFault, sentence: str, wait_s: float | None = None) -> None:
        """Keep what is known of it."""
        super().__init__(sentence)
        self.kind = kind
        self.wait_s = wait_s


@contextmanager
def hub_faults(what: str) -> Iterator[None]:
    """Turn what the hub's client raises into sentences.

    Args:
        what: What was asked for, as the object of a sentence: ``owner/name``.

    Raises:
        HubError: In place of it.
    """
    try:
        yield
    except errors.HFValidationError:
        raise HubError(
            HubFault.MISSING, f"{what} is no repository's name: they are written owner/name."
        ) from None
    except errors.GatedRepoError:
        raise HubError(
            HubFault.GATED,
            f"The owner of {what} asks everyone to accept terms first. Open its page on the hub, "
            f"accept them, then log in here: {_LOGIN[0].lower()}{_LOGIN[1:]}",
        ) from None
    except errors.RepositoryNotFoundError as error:
        raise _not_found(what, _status(error)) from None
    except (errors.RemoteEntryNotFoundError, errors.RevisionNotFoundError):
        raise HubError(
            HubFault.MISSING,
            f"{what} is not there any more: its repository was changed. Open it again.",
        ) from None
    except errors.LocalEntryNotFoundError:
        raise HubError(
            HubFault.OFFLINE,
            f"The hub does not answer: there is no network, or it is down. {_LOCAL}",
        ) from None
    except errors.HfHubHTTPError as error:
        raise _refused(what, error) from None
    except errors.OfflineModeIsEnabled:
        raise HubError(
            HubFault.OFFLINE, f"HF_HUB_OFFLINE forbids to ask the hub. {_LOCAL}"
        ) from None
    except (httpx2.HTTPError, ConnectionError, TimeoutError):
        raise HubError(
            HubFault.OFFLINE,
            f"The hub does not answer: there is no network, or it is down. {_LOCAL}",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.MsgspecError):
        raise HubError(
            HubFault.SERVER,
            "What the hub answered cannot be read: something else may answer in its place, such as "
            "the login page of a network.",
        ) from None


def _not_found(what: str, status: int) -> HubError:
    if status == _NOT_LOGGED_IN:
        return HubError(
            HubFault.LOGIN,
            f"There is no repository {what}, or it is private. If it is yours: "
            f"{_LOGIN[0].lower()}{_LOGIN[1:]}",
        )
    return HubError(HubFault.MISSING, f"There is no repository {what} on the hub.")


def _refused(what: str, error: errors.HfHubHTTPError) -> HubError:
    status = _status(error)
    if status == _TOO_MANY:
        wait_s = _retry_after_s(error)
        when = f"in {wait_s:,.0f} s" if wait_s is not None else "in a minute"
        return HubError(
            HubFault.BUSY,
            f"The hub was asked too often and wants a pause. Try again {when}; whoever is logged "
            "in may ask more often.",
            wait_s,
        )
    if status in (_NOT_LOGGED_IN, _FORBIDDEN):
        return HubError(
            HubFault.LOGIN, f"The hub does not give {what} to this user (status {status}). {_LOGIN}"
        )
    if status >= _SERVER:
        return HubError(
            HubFault.SERVER, f"The hub has a fault of its own (status {status}). Try again later."
        )
    return HubError(HubFault.SERVER, f"The hub refused what was asked of {what} (status {status}).")


def _status(error: errors.HfHubHTTPError) -> int:
    return int(error.response.status_code) if error.response is not None else 0


def _retry_after_s(error: errors.HfHubHTTPError) -> float | None:
    text = "" if error.response is None else str(error.response.headers.get("Retry-After", ""))
    try:
        return max(0.0, float(text))
    except ValueError:
        return None  # a date, which nobody sends here, or nothing
