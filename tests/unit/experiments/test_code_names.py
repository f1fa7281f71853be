from __future__ import annotations

import ast
import keyword
import re

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


def test_that_own_names_change_and_others_stay() -> None:
    code = renamed(CODE, 2)
    assert "class Box_2:" in code
    assert "def __init__(self, items_2, limit_2=3):" in code
    assert "self.items_2 = items_2" in code
    assert "count_2, rest_2 = divmod(len(self.items_2), self.limit_2)" in code
    assert "for other_2 in self.items_2:" in code
    assert "heapq.heappush(self.items_2, other_2)" in code


def test_that_code_without_names_stays_as_it_is() -> None:
    assert renamed("print(1)\n", 2) == "print(1)\n"


def test_that_the_code_of_the_program_still_compiles_and_every_block_is_another() -> None:
    for block in blocks(bundled("code.txt")):
        code = renamed(block, 7)
        ast.parse(code)
        assert code != block
        assert not any(re.search(rf"\b{word}_7", code) for word in keyword.kwlist)


def test_that_each_number_makes_another_copy() -> None:
    assert renamed(CODE, 2) != renamed(CODE, 3)
