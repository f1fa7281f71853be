from __future__ import annotations

import ast
import keyword
import re
from collections import Counter

from app.experiments.code_names import renamed
from app.experiments.passages import blocks
from app.experiments.texts import bundled

CODE = """class Box:
    def __init__(self, items, limit=3):
        self.items = items
        self.limit = limit

    def add(self, item):
        count, rest = divmod(len(self.items), self.limit)
        for other in self.items:
            heapq.heappush(self.items, other)
        total = count + rest
        return total
"""


def names_in(code: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", code))


def test_that_own_names_change_places_and_others_stay() -> None:
    code = renamed(CODE, 2)
    # In order: Box, add, count, item, items, limit, other, rest, total; each is the next one.
    assert "class add:" in code
    assert "def __init__(self, limit, other=3):" in code
    assert "self.limit = limit" in code
    assert "item, total = divmod(len(self.limit), self.other)" in code
    assert "heapq.heappush(self.limit, rest)" in code
    assert "return Box" in code


def test_that_code_without_names_stays_as_it_is() -> None:
    assert renamed("print(1)\n", 2) == "print(1)\n"


def test_that_the_code_of_the_program_still_compiles_and_every_block_is_another() -> None:
    for block in blocks(bundled("code.txt")):
        code = renamed(block, 7)
        ast.parse(code)
        assert code != block
        kept = names_in(code) & names_in(block)
        assert all(names_in(code)[word] == kept[word] for word in keyword.kwlist)


def test_that_each_number_makes_another_copy_while_names_last() -> None:
    assert len({CODE, *(renamed(CODE, number) for number in range(2, 10))}) == 9
    assert renamed(CODE, 10) == renamed(CODE, 2)
