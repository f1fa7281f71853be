from __future__ import annotations

import msgspec
import pytest

from app.conversation import Conversation
from app.experiments.replay import recording_of, replay_of
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.workload_error import WorkloadError


def talk() -> Conversation:
    """Two questions, the second of which was also put otherwise; that branch is shown."""
    conversation = Conversation("a", 1, system_prompt="Be brief.", clock_s=lambda: 0.0)
    for question, answer in (("Why?", "Because."), ("And then?", "Nothing more.")):
        conversation.ask(question)
        conversation.append(answer)
        conversation.finish("end")
    conversation.ask_instead(3, "And before?")
    conversation.append("Something else.")
    conversation.finish("end")
    return conversation


def test_that_the_path_that_is_shown_is_replayed_with_its_answers() -> None:
    (script,) = scripts_of(replay_of(talk()), 0.25)
    assert script.system == "Be brief."
    assert [(turn.text, turn.recorded_answer) for turn in script.turns] == [
        ("Why?", "Because."),
        ("And before?", "Something else."),
    ]
    assert script.ends_by_itself
    assert all(turn.new_tok >= len(turn.recorded_answer or "") / 4 for turn in script.turns)


def test_that_another_branch_is_replayed_once_it_is_shown() -> None:
    conversation = talk()
    conversation.choose(3)
    (script,) = scripts_of(replay_of(conversation), 0.25)
    assert [turn.text for turn in script.turns] == ["Why?", "And then?"]


def test_that_the_words_said_later_do_not_change_a_recording() -> None:
    conversation = talk()
    workload = replay_of(conversation)
    conversation.ask("More?")
    assert len(scripts_of(workload, 0.25)[0].turns) == 2


def test_that_names_tell_recordings_apart() -> None:
    conversation = talk()
    name = replay_of(conversation).name
    assert name.startswith("replay-")
    assert replay_of(talk(), users=4).name == name
    conversation.choose(3)
    assert replay_of(conversation).name != name


def test_that_each_user_replays_it_from_the_beginning() -> None:
    workload = replay_of(talk(), users=3)
    scripts = scripts_of(workload, 0.25)
    assert workload.requests == 6
    assert len(scripts) == 3
    assert {script.turns[0].text for script in scripts} == {"Why?"}
    assert len({script.name for script in scripts}) == 3


def test_that_fewer_requests_replay_its_beginning() -> None:
    workload = msgspec.structs.replace(replay_of(talk()), requests=1)
    assert [turn.text for turn in scripts_of(workload, 0.25)[0].turns] == ["Why?"]


def test_that_a_question_without_an_answer_is_said_with_the_next_one() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Why?")
    conversation.finish("failed")
    conversation.ask("Why, please?")
    conversation.append("Because.")
    conversation.finish("end")
    (exchange,) = recording_of(conversation).exchanges
    assert (exchange.question, exchange.answer) == ("Why?\n\nWhy, please?", "Because.")


def test_that_a_last_question_without_an_answer_takes_what_is_generated() -> None:
    conversation = talk()
    conversation.ask("More?")
    conversation.finish("failed")
    last = scripts_of(replay_of(conversation), 0.25)[0].turns[-1]
    assert last.text == "More?"
    assert last.recorded_answer is None
    assert last.new_tok >= 1


def test_that_a_conversation_without_a_question_is_a_sentence() -> None:
    with pytest.raises(WorkloadError, match=r"^Nothing was asked in “Chat 4”"):
        replay_of(Conversation("a", 4))


def test_that_an_answer_under_way_is_waited_for() -> None:
    conversation = talk()
    conversation.ask("More?")
    with pytest.raises(WorkloadError, match=r"^An answer is being written in “Why\?”"):
        replay_of(conversation)


def test_that_a_system_prompt_of_spaces_is_none() -> None:
    conversation = talk()
    conversation.system_prompt = " \n"
    assert scripts_of(replay_of(conversation), 0.25)[0].system == ""


def test_that_a_sample_of_a_replay_is_its_words() -> None:
    assert sample_text(replay_of(talk())) == "Why?\nBecause.\nAnd before?\nSomething else."
