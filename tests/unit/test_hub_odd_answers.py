"""Repositories of which a hub tells what cannot be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault, HubFile
from app.library.quantisations import sorted_files


def _nested() -> object:
    value: object = "mit"
    for _ in range(5_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("size", "card"), [("12", {}), (12, {"license": _nested()})], ids=["size", "licence"]
)
def test_that_a_repository_of_odd_values_is_a_fault_of_the_hub(
    monkeypatch: pytest.MonkeyPatch, size: Any, card: dict[str, object]
) -> None:
    file = SimpleNamespace(rfilename="a-Q4_K_M.gguf", size=size, lfs=None)
    info = SimpleNamespace(siblings=[file], card_data=card, sha="0" * 40, gated=False)
    hub = Hub("http://127.0.0.1:9")
    monkeypatch.setattr(hub.api, "model_info", lambda *_args, **_named: info)
    with pytest.raises(HubError) as caught:
        hub.repository("owner/name")
    assert caught.value.kind is HubFault.SERVER


def test_that_models_of_one_quantisation_keep_their_own_names() -> None:
    models = sorted_files(HubFile(f"m{i}-Q4_K_M.gguf", 1) for i in range(20_000)).models
    assert len({model.name for model in models}) == 20_000
