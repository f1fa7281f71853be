"""Does what it is told, and leaves when it is told or when the window is gone."""

from engine_bridge.protocol import Generate, Load, LoadProgressed, Plan, Shutdown
from tests.bridge.children.talk import applied, commands, finished, greet, planned, say, started
from tests.bridge.children.talk import tokens as text_of

greet()
for command in commands():
    match command:
        case Load():
            say(LoadProgressed(command.request_id, 0.5, "weights"))
            say(applied(command))
        case Generate():
            say(started(command.request_id))
            for word in ("one ", "two ", "three ✓"):
                say(text_of(command.request_id, word))
            say(finished(command.request_id))
        case Plan():
            say(planned(command.plan_id))
        case Shutdown():
            break
        case _:
            pass
