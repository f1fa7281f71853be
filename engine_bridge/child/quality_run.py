"""One comparison of two KV caches, from the load to the last figure.

Knows the order of its parts and what each costs; the figures are ``quality_scores``'s.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine_bridge.child.context_pair import (
    BATCH_TOK,
    ContextPair,
    QualityError,
    comparing_config,
    loaded_model,
    refuse_broken_rules,
)
from engine_bridge.child.llama import Model
from engine_bridge.child.pair_speed import WARM_UP_STEPS, measured_speed
from engine_bridge.child.recall import RecallText, Tokenizer, facts_of, lay_out, recalled
from engine_bridge.child.row_scores import RowComparer
from engine_bridge.model_facts import ModelFacts
from engine_bridge.quality_messages import (
    CTX_LEAST_TOK,
    FACTS_MOST,
    PairMade,
    QualityAnswer,
    QualityProgressed,
    QualityRequest,
    TextScored,
)
from engine_bridge.quality_scores import TokenScores, text_figures

# More than tokens of prose have, and how many of them a cut may change.
_CHARS_A_TOKEN, _NEAR_CUT_TOK = 8, 64
# A load counts as much as reading so many tokens in both contexts, in what is told of progress.
_LOAD_TOK = 512
# Mean nats of a chunk; beyond exp(709) a perplexity is no number of 64 bits.
_MOST_NATS = 700.0
_LOADING, _READING = "Loading the model", "Reading the text"
_RECALLING, _TIMING = "Asking for facts", "Timing single tokens"


class QualityRun:
    """Answers one request.

    Args:
        request: What is asked.
        tell: Takes the answers.
    """

    def __init__(self, request: QualityRequest, tell: Callable[[QualityAnswer], None]) -> None:
        """Nothing is done yet.

        Raises:
            QualityError: If the request makes no sense.
        """
        self._request = _checked(request)
        self._tell = tell
        self._has_recall = request.facts > 0
        self._span_tok = max(request.ctx_tok, request.recall_ctx_tok if self._has_recall else 0)
        self._done_tok = 0
        self._all_tok = 0
        self._sentence = _LOADING

    def run(self, facts: ModelFacts) -> None:
        """Load, read, ask, time; each part is told as it ends.

        Args:
            facts: What the model's header says.

        Raises:
            QualityError: If it cannot be done.
            CannotLoadError: If the model cannot be had, or a rule is broken.
        """
        request = self._request
        base = comparing_config(request.base, self._span_tok)
        candidate = comparing_config(request.candidate, self._span_tok)
        refuse_broken_rules(candidate, facts)
        self._all_tok = _LOAD_TOK + request.chunks * request.ctx_tok
        with loaded_model(base, self._loaded) as model:
            tokens = tokens_of(model, request.text, request.chunks * request.ctx_tok)
            chunks = chunks_of(tokens, request, model.bos if model.adds_bos else None)
            recall = self._recall_text(model)
            self._all_tok = _LOAD_TOK + len(chunks) * request.ctx_tok
            self._all_tok += 0 if recall is None else recall.length_tok
            self._all_tok += self._span_tok if request.speed_steps else 0
            self._done_tok = _LOAD_TOK
            pair = ContextPair(model, base, candidate)
            try:
                self._tell(_made(pair, len(chunks), len(tokens)))
                self._read_text(pair, chunks)
                if recall is not None:
                    self._sentence = _RECALLING
                    self._tell(recalled(pair, recall, self._stepped))
                if request.speed_steps:
                    self._sentence = _TIMING
                    again = itertools.islice(itertools.cycle(tokens), self._span_tok)
                    steps = request.speed_steps
                    self._tell(measured_speed(pair, list(again), steps, self._stepped))
            finally:
                pair.close()

    def _read_text(self, pair: ContextPair, chunks: Sequence[Sequence[int]]) -> None:
        self._sentence = _READING
        _, threads = pair.base.threads
        comparer = RowComparer(pair.base.model.vocab, threads)
        scored: list[TokenScores] = []
        try:
            for chunk in chunks:
                scores = self._scores_of(pair, comparer, chunk)
                if not _are_numbers(scores):
                    raise QualityError(
                        "The model's logits are no numbers, or rule out what came: its weights "
                        "are damaged, or this cache type does not work with it."
                    )
                scored.append(scores)
                self._tell(TextScored(text_figures(scored, self._request.ctx_tok)))
        finally:
            comparer.close()

    def _scores_of(
        self, pair: ContextPair, comparer: RowComparer, chunk: Sequence[int]
    ) -> TokenScores:
        pair.clear()
        first = len(chunk) // 2
        parts = []
        for begin, end in steps_of(len(chunk), pair.rows_most):
            wanted = max(0, end - max(begin, first))
            base, candidate = pair.read(chunk[begin:end], begin, wanted)
            # What comes behind the last token of a chunk is another chunk.
            came = np.array(chunk[end - wanted + 1 : end + 1], np.int32)
            if came.size:
                parts.append(comparer.compare(base[: came.size], candidate[: came.size], came))
            self._stepped(end - begin)
        return TokenScores.joined(parts)

    def _recall_text(self, model: Model) -> RecallText | None:
        request = self._request
        if not self._has_recall:
            return None
        facts = facts_of(request.facts, request.seed)
        bos = model.bos if model.adds_bos else None
        return lay_out(model, facts, request.text, request.recall_ctx_tok, bos=bos)

    def _loaded(self, fraction: float) -> None:
        self._done_tok = 0
        self._stepped(round(fraction * _LOAD_TOK))

    def _stepped(self, tokens: int) -> None:
        self._done_tok += tokens
        self._tell(QualityProgressed(min(1.0, self._done_tok / self._all_tok), self._sentence))


def tokens_of(tokenizer: Tokenizer, text: str, wanted_tok: int) -> list[int]:
    """The first tokens of ``text``, at least ``wanted_tok``; all of them where it has fewer.

    A text of megabytes takes seconds, one without spaces minutes. What is cut off changes tokens
    near the cut only, which are not among those wanted.
    """
    chars = _CHARS_A_TOKEN * wanted_tok
    while True:
        tokens = tokenizer.tokenize(text[:chars], add_special=True, parse_special=False)
        if chars >= len(text) or len(tokens) >= wanted_tok + _NEAR_CUT_TOK:
            return tokens
        chars *= _CHARS_A_TOKEN


def chunks_of(
    tokens: Sequence[int], request: QualityRequest, bos: int | None
) -> tuple[tuple[int, ...], ...]:
    """The chunks of a text that are read, each of ``request.ctx_tok`` tokens.

    As in llama-perplexity, a chunk's first token makes way for the one that begins every text.

    Args:
        tokens: The text's.
        request: How long chunks are and how many at most.
        bos: The token that begins every text; None where the model wants none.

    Raises:
        QualityError: If the text is too short for one.
    """
    size = request.ctx_tok
    count = min(request.chunks, len(tokens) // size)
    if not count:
        raise QualityError(
            f"The text has {len(tokens):,} tokens, and one chunk takes {size:,}. Choose a longer "
            "text, or read fewer tokens at once."
        )
    head = [] if bos is None else [bos]
    parts = (tokens[at * size : (at + 1) * size] for at in range(count))
    return tuple((*head, *part[len(head) :]) for part in parts)


def steps_of(tokens: int, rows_most: int) -> Iterator[tuple[int, int]]:
    """The steps in which a chunk is read: begin and end, with ``rows_most`` scored tokens each."""
    first, begin = tokens // 2, 0
    while begin < tokens:
        end = min(tokens, begin + BATCH_TOK)
        if end > first:
            end = min(end, max(begin, first) + rows_most)
        yield begin, end
        begin = end


def _checked(request: QualityRequest) -> QualityRequest:
    if not request.text.strip():
        raise QualityError("The text is empty. Choose one with some pages of prose.")
    if request.ctx_tok < CTX_LEAST_TOK:
        raise QualityError(f"A chunk takes at least {CTX_LEAST_TOK} tokens.")
    if request.chunks < 1:
        raise QualityError("At least one chunk has to be read.")
    if not 0 <= request.facts <= FACTS_MOST:
        raise QualityError(f"A recall test takes at most {FACTS_MOST} facts.")
    longest = request.ctx_tok // 2 - WARM_UP_STEPS
    if not 0 <= request.speed_steps <= longest:
        raise QualityError(f"With chunks of {request.ctx_tok} tokens at most {longest} are timed.")
    return request


def _made(pair: ContextPair, chunks: int, text_tok: int) -> PairMade:
    _, threads = pair.base.threads
    return PairMade(
        chunks=chunks,
        text_tok=text_tok,
        flash_attn_base=pair.base.flash_attn,
        flash_attn=pair.candidate.flash_attn,
        threads_batch=threads,
    )


def _are_numbers(scores: TokenScores) -> bool:
    """Whether perplexity and divergence of the tokens can be told."""
    values = np.stack((scores.nll, scores.nll_base, scores.kld))
    return bool(np.isfinite(values).all()) and float(values.mean(axis=1).max()) < _MOST_NATS
