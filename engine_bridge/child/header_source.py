"""The header of a file as a trial of a chat template asks it; see ``trial_source``.

Knows special tokens by their texts; must not know templates, and never opens llama.cpp.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from engine_bridge.child.special_text import Fragment, apart, control_texts
from engine_bridge.gguf_header import ArrayFacts, Header
from engine_bridge.gguf_vocabulary import Vocabulary, vocabulary_in
from engine_bridge.gguf_window import GgufError

_TYPES = "tokenizer.ggml.token_type"
# LLAMA_TOKEN_TYPE_CONTROL of llama.h; each type is a number of 32 bits.
_CONTROL = 3
_TYPE_BYTES = 4
# Gemma has 6,000; beyond this many, what is coloured is told by the first of them.
_MOST_SPECIALS = 20_000
_LONGEST_BYTES = 256
# Stands for text between special tokens, of which a header cannot tell how many tokens it is.
_SOME_TEXT = -2
# llama.cpp takes these for ends of a turn by their texts, whatever the header says
# (special_eog_ids in src/llama-vocab.cpp, version of the engine).
KNOWN_ENDS = frozenset(
    {
        "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",
        "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
        "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
        "<｜end▁of▁sentence｜>", "[e~[",
    }
)  # fmt: skip
_ENDS = {"eos": "EOS", "eot": "end of turn (EOT)", "eom": "end of message (EOM)"}


class HeaderSource:
    """The header of a file that is not loaded; see ``TrialSource``.

    Attributes:
        ends: Texts of the tokens that end an answer, and what makes them do so.
    """

    def __init__(self, header: Header) -> None:
        """Read the texts of special tokens; takes some tenths of a second.

        Raises:
            GgufError: If the file shrank or cannot be read.
        """
        self.counts_tokens = False
        self.bos = self.eos = ""
        self.bos_token, self.adds_bos = -1, False
        self.ends: Mapping[str, str] = {}
        self._ids: dict[str, int] = {}
        if header.texts_at("tokenizer.ggml.tokens") != (0, 0):
            self._read(header)
        self.special_texts = tuple(self._ids)
        self.special_tokens = frozenset(self._ids.values())
        self._specials = control_texts(self.special_texts)

    def _read(self, header: Header) -> None:
        try:
            vocabulary = vocabulary_in(header)
        except GgufError:
            return  # of a kind that is not known here: then no token is told apart
        named = {
            header.number(f"tokenizer.ggml.{key}_token_id", -1): words
            for key, words in reversed(_ENDS.items())
        } | {vocabulary.eos: _ENDS["eos"]}
        controls = _controls(header, vocabulary.size)
        texts = _texts(vocabulary, {*controls, *named, vocabulary.bos})
        self._ids = {text: number for number, text in texts.items() if text}
        self.bos, self.eos = (texts.get(n, "") for n in (vocabulary.bos, vocabulary.eos))
        self.bos_token, self.adds_bos = vocabulary.bos, vocabulary.adds_bos
        known = dict.fromkeys(KNOWN_ENDS & self._ids.keys(), "")
        self.ends = known | {texts[n]: words for n, words in named.items() if n in texts}

    def tokens(self, fragments: Sequence[Fragment]) -> list[int]:
        """Numbers of the special tokens in their order, and one for each text between them."""
        tokens: list[int] = []
        for fragment in fragments:
            pieces = apart(fragment.text, self._specials if fragment.parse_special else ())
            tokens += [self._ids[text] if is_one else _SOME_TEXT for text, is_one in pieces]
        if self.adds_bos and tokens[:1] != [self.bos_token]:
            tokens.insert(0, self.bos_token)
        return tokens


def _controls(header: Header, size: int) -> list[int]:
    """Numbers of the control tokens, as far as the header gives every token a type."""
    facts = header.values.get(_TYPES)
    if not isinstance(facts, ArrayFacts):
        return []
    begin, end = facts.numbers_at
    if end - begin == facts.count * _TYPE_BYTES and facts.count:
        with Path(header.path).open("rb") as file:
            file.seek(begin)
            types = np.frombuffer(file.read(end - begin), "<i4")
    else:
        types = np.asarray(facts.numbers, np.int64)
    return [int(number) for number in np.flatnonzero(types[:size] == _CONTROL)[:_MOST_SPECIALS]]


def _texts(vocabulary: Vocabulary, wanted: set[int]) -> dict[int, str]:
    """Texts of the tokens ``wanted``, and of those that end a turn by their text."""
    ends = frozenset(text.encode() for text in KNOWN_ENDS)
    longest = max(map(len, ends))
    read_length, position = struct.Struct("<Q").unpack_from, 0
    content, found = vocabulary.texts, dict[int, str]()
    for number in range(vocabulary.size):
        length = read_length(content, position)[0]
        position += 8 + length
        is_wanted = number in wanted and length <= _LONGEST_BYTES
        if is_wanted or (length <= longest and content[position - length : position] in ends):
            found[number] = content[position - length : position].decode("utf-8", "replace")
    return found
