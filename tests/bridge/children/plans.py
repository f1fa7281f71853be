"""Reports every plan it is asked for; answers all, none, or only what follows a ``Forget``."""

import sys

from engine_bridge.protocol import Forget, Logged, Plan
from tests.bridge.children.talk import commands, greet, planned, say

held: list[int] = []
is_holding = sys.argv[1] != "answer"
greet()
for command in commands():
    if isinstance(command, Plan):
        say(Logged("info", f"plan {command.plan_id} {command.config.slots}"))
        if not is_holding:
            say(planned(command.plan_id))
        elif sys.argv[1] == "hold":
            held.append(command.plan_id)
    elif isinstance(command, Forget):
        is_holding = False
        for plan_id in held:
            say(planned(plan_id))
