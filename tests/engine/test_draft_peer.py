"""A draft model against llama-server: as many tokens drafted, and as many accepted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.bench.drafters import Server
from tests.bench.engine import layout_config
from tests.bench.work import Layout
from tests.engine.drafts import prompts
from tests.engine.harness import InProcess

pytestmark = pytest.mark.engine
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
# The settings, tokens of the prompt and of the answer.
_CASES: dict[str, tuple[dict[str, object], int, int]] = {
    "as it comes": ({}, 30, 120),
    "a prompt of several pieces": ({}, 700, 60),
    "long drafts, the last tokens of a limit": ({"draft_n_max": 16}, 30, 61),
    "none shorter than two": ({"draft_n_max": 6, "draft_n_min": 2, "draft_p_min": 0.15}, 30, 120),
    "only where it is sure": ({"draft_n_max": 6, "draft_p_min": 0.4}, 30, 120),
    "up to the slot's end": ({"draft_n_max": 8}, 920, 400),
}


@pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server")
@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES.keys())
def test_that_as_much_is_drafted_and_accepted_as_by_llama_server(
    desk: InProcess,
    few_words_path: Path,
    draft_path: Path,
    case: tuple[dict[str, object], int, int],
) -> None:
    values, prompt_tok, new_tok = case
    layout = Layout(few_words_path, 1, 1024, 1)
    config = layout_config(layout).with_values({"spec_types": ("draft-simple",), **values})
    config = msgspec.structs.replace(config, draft_model_path=str(draft_path))
    prompt = prompts(1, tokens=prompt_tok)[0]
    with closing(Server(LLAMA_SERVER, layout, config)) as server:
        theirs = server.answer(prompt, new_tok)
    desk.load(config)
    text, finished = desk.answer(prompt, max_new_tok=new_tok, ignore_eog=True)
    timing = finished.timing
    assert text == theirs.text
    ours = timing.drafted_tok, timing.accepted_tok
    assert ours == (theirs.drafted_tok, theirs.accepted_tok)
    assert min(ours) > 0
