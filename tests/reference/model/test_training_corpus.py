"""The corpus is reproducible, in the served format, and learns only what the assistant says."""

from __future__ import annotations

import itertools
import json
import random

import pytest
import torch

from reference_impl.chat.format import IM_END, MARKUP
from reference_impl.model.checkpoint import load_model
from reference_impl.training import dialogues, pictures, text_tasks, tool_kinds, tool_tasks
from reference_impl.training.corpus import dialogue, example, examples, plain_texts, prompt, reply
from reference_impl.training.scores import families

TOKENIZER = load_model("tiny-random").tokenizer


@pytest.fixture(scope="module")
def sample():
    return list(itertools.islice(examples(5, TOKENIZER), 300))


def learned(made):
    """What is learned, as text, one piece per assistant turn."""
    pieces, ids = [], []
    for token, wanted in zip(made.ids, made.learn, strict=True):
        if wanted:
            ids.append(token)
        if not wanted or token == TOKENIZER.token_to_id(IM_END):
            if ids:
                pieces.append(TOKENIZER.decode(ids, skip_special_tokens=False))
            ids = []
    return pieces


def test_a_seed_gives_the_same_dialogues(sample):
    again = list(itertools.islice(examples(5, TOKENIZER), 300))
    assert [made.ids for made in again] == [made.ids for made in sample]
    other = list(itertools.islice(examples(6, TOKENIZER), 300))
    assert [made.ids for made in other] != [made.ids for made in sample]


def test_every_learned_piece_is_a_whole_assistant_turn(sample):
    for made in sample:
        assert all(piece.endswith(IM_END) and piece.count(IM_END) == 1 for piece in learned(made))
        assert made.learn[-1]


def test_an_earlier_answer_is_learned_and_an_arbitrary_one_is_not():
    made = dialogues.Dialogue(
        [dialogues.user("a"), dialogues.assistant("first"), dialogues.user("b")], "second", thought="hm"
    )
    assert learned(example(made, TOKENIZER)) == ["first<|im_end|>", "hm\n</think>\nsecond<|im_end|>"]
    made.learn_history = False
    assert learned(example(made, TOKENIZER)) == ["hm\n</think>\nsecond<|im_end|>"]


def test_all_that_the_model_is_to_do_occurs(sample):
    text = "\n".join(piece for made in sample for piece in learned(made))
    assert "I do not know." in text
    assert "<tool_call>\n" in text
    assert "</tool_call>\n<tool_call>" in text
    assert "</think>\n" in text
    assert "1, 2, 3" in text
    assert any(made.pictures for made in sample)
    assert any(len(made.ids) > 400 for made in sample)
    assert max(len(piece) for made in sample for piece in learned(made)) > 500


def test_each_picture_has_its_place(sample):
    for made in sample:
        assert len(made.pictures) == len(made.places)
        assert all(picture.shape == (3, 64, 64) for picture in made.pictures)


def test_calls_name_an_offered_tool_and_carry_objects():
    rng = random.Random(3)
    seen = 0
    for _ in range(200):
        made = dialogues.with_tools(rng)
        offered = {tool["function"]["name"] for tool in made.tools}
        for call in made.calls:
            seen += 1
            assert call["function"]["name"] in offered
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert seen > 80


def test_arguments_fit_their_schemas():
    jsonschema = pytest.importorskip("jsonschema")
    rng = random.Random(4)
    for _ in range(300):
        task = tool_tasks.tool_task(rng)
        jsonschema.validate(task.arguments, task.definition(rng)["function"]["parameters"])


def test_values_asked_for_stand_in_the_question():
    """What has to be copied can be copied."""
    rng = random.Random(5)
    for _ in range(200):
        task = tool_kinds.generic(rng)
        assert all(str(value) in task.question for value in task.arguments.values())


def test_requested_json_is_json():
    rng = random.Random(6)
    for _ in range(100):
        assert isinstance(json.loads(dialogues.json_requested(rng).content), dict)


@pytest.mark.parametrize("task", text_tasks.TASKS, ids=lambda task: task.__name__)
def test_every_task_has_question_and_answer(task):
    rng = random.Random(7)
    for _ in range(50):
        made = task(rng)
        assert made.question.strip()
        assert made.answer
        assert "{}" not in made.question, "a template was left unfilled"


def test_pictures_of_different_colours_differ():
    rng = random.Random(8)
    assert not torch.equal(pictures.draw(rng, "red"), pictures.draw(rng, "blue"))
    spotted = pictures.draw(rng, "white", "black", "circle", 3)
    assert spotted.max() - spotted.min() > 0.8


def test_tokenizer_text_has_no_markup():
    assert not any(token in text for text in plain_texts(9, 100) for token in MARKUP)


def test_every_family_of_the_scores_can_be_made():
    rng = random.Random(10)
    for name, maker in families():
        made = maker(rng)
        assert prompt(made), name
        assert reply(made), name


def test_thinking_is_in_a_share_of_the_dialogues():
    rng = random.Random(11)
    share = sum(bool(dialogue(rng).thought) for _ in range(1000)) / 1000
    assert 0.08 < share < 0.18
