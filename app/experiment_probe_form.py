"""What the form asks of a server's probe: where it is, and what runs beside it. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping

from app.experiment_fields import FormError
from app.experiment_reading import NO_MODEL, Reading
from app.experiment_request import ProbeRequest
from app.experiments.bench import MOST_RUNS, USUAL_RUNS, refuse_impossible
from app.experiments.server_address import address_of, key_of
from widgets.experiments.form_fields import SOURCE


def read_probe(reading: Reading) -> tuple[ProbeRequest, None, Mapping[str, str]]:
    """The request; how long a server takes nobody can say before. See ``read_form``.

    Raises:
        FormError: With a sentence for each field that is wrong.
    """
    fields = reading.fields
    runs = fields.whole("runs", USUAL_RUNS, 1, MOST_RUNS)
    url, key_env = fields.text("url"), fields.text("key_env")
    if not url:
        fields.problems["url"] = "Where the server is must be said, such as http://localhost:8080."
    workload = reading.workload()
    with fields.at("url"):
        address = address_of(url)
    with fields.at("key_env"):
        key_of(address, key_env or None, os.environ)
    config = None
    if fields.values.is_on("beside"):
        if reading.situation.running is None:
            raise FormError({"beside": NO_MODEL})
        config = reading.allowed(reading.running, "beside")
        with fields.at(SOURCE):
            refuse_impossible(config, workload, runs)
    request = ProbeRequest(url, fields.text("served"), key_env, workload, runs, config)
    return request, None, {}
