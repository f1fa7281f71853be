"""How many prompt tokens fit into a step, by the speed that was measured.

Pure arithmetic on seconds and tokens; knows no engine.
"""

from __future__ import annotations

# Nobody should wait longer than 250 ms for someone else's prompt; the rest is for what the measured
# speed cannot foresee (a deeper context, another program).
_TARGET_S = 0.18
LEAST_CHUNK_TOK = 32
# Alone, a step may be longer, but a newcomer has to wait for its end.
_ALONE_TARGET_S = 0.5
# Slower is believed sooner than faster: a step that is too long hurts more than one too short.
_SLOWER_WEIGHT, _FASTER_WEIGHT = 0.7, 0.25


class Pace:
    """Speed of steps: a base (the weights are read once) and seconds per prompt token.

    Attributes:
        decode_s: Typical step without prompt tokens, 0 before the first.
        prompt_tok_s: Seconds each prompt token adds, 0 before the first.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.decode_s = 0.0
        self.prompt_tok_s = 0.0

    def saw(self, prompt_tok: int, step_s: float, *, others_decoded: bool = False) -> None:
        """Learn from a step with ``prompt_tok`` prompt tokens.

        Args:
            prompt_tok: Tokens of prompts.
            step_s: Its length.
            others_decoded: Whether streams took their next token in it; without them the base is
                part of the price of the prompt's tokens.
        """
        if prompt_tok == 0:
            self.decode_s = _blend(self.decode_s, step_s)
        elif prompt_tok >= LEAST_CHUNK_TOK:
            # A stall of the machine in the base must not make tokens look free.
            base_s = min(self.decode_s, step_s / 2) if others_decoded else 0.0
            self.prompt_tok_s = _blend(self.prompt_tok_s, (step_s - base_s) / prompt_tok)

    def expected_s(self, prompt_tok: int) -> float:
        """How long a step should take; 0 where nothing was measured."""
        return self.decode_s + self.prompt_tok_s * prompt_tok

    def chunk_tok(self, *, others_decode: bool, batch_tok: int, ubatch_tok: int) -> int:
        """Prompt tokens for the next step.

        Args:
            others_decode: Whether streams wait for the step's end.
            batch_tok: Most tokens in a step.
            ubatch_tok: Tokens computed at once; alone, a step is a whole number of these.
        """
        if self.prompt_tok_s <= 0:
            return min(batch_tok, LEAST_CHUNK_TOK if others_decode else ubatch_tok)
        if others_decode:
            room = int((_TARGET_S - self.decode_s) / self.prompt_tok_s)
            return max(LEAST_CHUNK_TOK, min(batch_tok, room))
        whole = int(_ALONE_TARGET_S / self.prompt_tok_s) // ubatch_tok * ubatch_tok
        return min(batch_tok, max(ubatch_tok, whole))


def _blend(old: float, new: float) -> float:
    weight = _SLOWER_WEIGHT if new > old else _FASTER_WEIGHT
    return new if old <= 0 else (1 - weight) * old + weight * new
