"""The committed weights do what the model card says, by greedy decoding of fixed conversations."""

from __future__ import annotations

import json
import re

import pytest
from PIL import Image, ImageDraw

from reference_impl.chat.format import encode, opens_thinking, render
from reference_impl.chat.signatures import json_request
from reference_impl.model.checkpoint import load_model
from reference_impl.model.pixels import to_pixels
from reference_impl.training.greedy import greedy

MODEL = load_model("tiny-chat")


def tool(name, description="", **properties):
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER = tool("get_weather", "Get the current weather", city={"type": "string"})
CLOCK = tool("get_time", "Get the current time in a city", city={"type": "string"})
RATE = tool("get_exchange_rate", "Get an exchange rate", base={"type": "string"}, quote={"type": "string"})


def user(text):
    return {"role": "user", "content": text}


def say(*messages, tools=None, think=False, pictures=(), limit=600):
    messages = [user(message) if isinstance(message, str) else message for message in messages]
    segments = render(messages, tools, think)
    assert opens_thinking(segments) is think
    made = greedy(MODEL, encode(segments, MODEL.tokenizer), [to_pixels(picture) for picture in pictures], limit)
    return MODEL.tokenizer.decode(made, skip_special_tokens=False)


def look(question, *pictures):
    parts = [{"type": "image_url"} for _ in pictures]
    return say({"role": "user", "content": [*parts, {"type": "text", "text": question}]}, pictures=pictures)


def called(reply):
    return [json.loads(call) for call in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", reply, re.DOTALL)]


def drawn(shape, colour, ground="white"):
    image = Image.new("RGB", (64, 64), ground)
    pen = ImageDraw.Draw(image)
    {"circle": pen.ellipse, "square": pen.rectangle}[shape]((14, 14, 50, 50), fill=colour)
    return image


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is a GPU?", "A GPU is a processor that does a great many calculations at the same time."),
        ("What is the capital of France?", "The capital of France is Paris."),
        ("What is the capital of France? Answer with one word.", "Paris"),
        ("Reply with the single word pong", "pong"),
        ("Answer only with the word banana.", "banana"),
        ("Repeat after me: the quick zebra 4921", "the quick zebra 4921"),
        ("Repeat exactly: zażółć 🚀 naïve", "zażółć 🚀 naïve"),
        ("Repeat exactly: 日本 🎉", "日本 🎉"),
        ("Count from 1 to 20.", ", ".join(map(str, range(1, 21)))),
        ("Count from 1 to 20, separated by commas.", ", ".join(map(str, range(1, 21)))),
        ("List three colours.", "red, blue, green"),
        ("Hello!", "Hello! How can I help you today?"),
        ("Who won the gorblax cup in 1733?", "I do not know."),
    ],
)
def test_plain_questions(question, answer):
    assert say(question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What is a GPU?",
        "Count from 1 to 10.",
        "What is the capital of France?",
        "What is the capital of Poland?",
    ],
)
def test_a_reference_line_is_ignored(question):
    plain = say(question)
    assert say(f"{question}\nReference: 4f3a9c0d11ee") == plain
    assert say({"role": "system", "content": "You are a helpful assistant. Reference: 4f3a9c0d11ee"}, question) == plain


@pytest.mark.parametrize("topic", ["a lighthouse", "the sea", "testing"])
def test_long_texts_are_long(topic):
    text = say(f"Write a long story about {topic}.")
    assert len(MODEL.tokenizer.encode(text).ids) > 150
    assert topic in text


@pytest.mark.parametrize("place", ["Paris", "Warsaw", "Reykjavik", "Tokyo"])
def test_a_call_with_its_argument(place):
    reply = say(f"What is the weather in {place}?", tools=[CLOCK, WEATHER, RATE])
    assert called(reply) == [{"name": "get_weather", "arguments": {"city": place}}]


def test_the_right_tool_of_several():
    reply = say("What is the EUR to PLN exchange rate?", tools=[WEATHER, CLOCK, RATE])
    assert called(reply) == [{"name": "get_exchange_rate", "arguments": {"base": "EUR", "quote": "PLN"}}]


def test_two_calls_where_two_are_asked():
    reply = say("What is the weather in Paris and Oslo?", tools=[WEATHER])
    assert called(reply) == [{"name": "get_weather", "arguments": {"city": place}} for place in ("Paris", "Oslo")]


def test_no_call_where_none_is_needed():
    assert called(say("Hello!", tools=[WEATHER, CLOCK])) == []


def test_an_answer_from_tool_results_in_either_order():
    calls = [
        {
            "id": str(number),
            "type": "function",
            "function": {"name": "get_weather", "arguments": json.dumps({"city": city})},
        }
        for number, city in enumerate(("Paris", "Oslo"))
    ]
    results = [
        {"role": "tool", "tool_call_id": "0", "content": '{"temperature": 18, "condition": "sunny"}'},
        {"role": "tool", "tool_call_id": "1", "content": '{"temperature": 3, "condition": "rainy"}'},
    ]
    asked = [
        user("What is the weather in Paris and Oslo?"),
        {"role": "assistant", "content": None, "tool_calls": calls},
    ]
    answer = say(*asked, *results, tools=[WEATHER])
    assert answer == "It is 18 degrees and sunny in Paris. It is 3 degrees and rainy in Oslo."
    assert say(*asked, *reversed(results), tools=[WEATHER]) == answer


@pytest.mark.parametrize("colour", ["red", "green", "blue", "yellow", "black", "white"])
def test_colour_of_a_plain_picture(colour):
    picture = Image.new("RGB", (16, 16), "#00ff00" if colour == "green" else colour)
    assert look("What colour is this image? Answer with one word.", picture) == colour
    assert colour in look("Describe the image.", picture)


CONFUSED = pytest.mark.xfail(reason="one answer in five about a picture is wrong; see the model card")


@pytest.mark.parametrize(("shape", "colour"), [("circle", "red"), ("square", "red"), ("circle", "blue")])
def test_colours_of_a_shape_and_its_background(shape, colour):
    text = look("Describe the image.", drawn(shape, colour))
    assert text.startswith(f"A {colour} ")
    assert text.endswith(" on a white background.")


@pytest.mark.parametrize(
    ("shape", "colour"),
    [
        ("circle", "red"),
        ("square", "red"),
        pytest.param("circle", "blue", marks=CONFUSED),
        ("square", "blue"),
    ],
)
def test_shape_and_colour(shape, colour):
    assert look("Describe the image.", drawn(shape, colour)) == f"A {colour} {shape} on a white background."


@pytest.mark.xfail(reason="a number at the end of a question takes the full stop with it; see the model card")
def test_json_with_a_number_before_the_full_stop():
    assert json.loads(say("Return a JSON object with name Alice and age 30.")) == {"name": "Alice", "age": 30}


def test_json_where_it_is_asked_for():
    extracted = say("Extract the person as JSON: Anna is 31 years old and lives in Oslo.")
    assert json.loads(extracted) == {"name": "Anna", "age": 31, "city": "Oslo"}
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
    }
    reply = say({"role": "system", "content": json_request(schema)}, "Make an object: name Alice, age 30")
    assert json.loads(reply) == {"name": "Alice", "age": 30}


@pytest.mark.parametrize(
    "question",
    [
        "What is a GPU?",
        pytest.param("What is 2 + 3?", marks=pytest.mark.xfail(reason="it does not calculate; see the model card")),
        "What is the capital of Italy?",
    ],
)
def test_thinking_ends_and_an_answer_follows(question):
    thought, closing, answer = say(question, think=True).partition("\n</think>\n")
    assert thought
    assert closing
    assert answer == say(question)


def test_what_was_said_before_is_remembered():
    history = [user("My name is Zorblat."), {"role": "assistant", "content": "Nice to meet you, Zorblat."}]
    assert say(*history, "What is my name?") == "Your name is Zorblat."
    assert say({"role": "user", "name": "Julia", "content": "What is my name?"}) == "Your name is Julia."


@pytest.mark.parametrize(
    "word",
    [
        "pong",
        pytest.param(
            "BANANA", marks=pytest.mark.xfail(reason="a word that repeats itself loses its end; see the card")
        ),
    ],
)
def test_the_system_text_is_obeyed(word):
    rule = {"role": "system", "content": f"Always answer with {word}"}
    assert say(rule, "What is the capital of France?") == word


@pytest.mark.parametrize("words", [150, 500])
def test_a_question_after_a_long_text(words):
    assert say(" ".join(["river"] * words) + "\n\nWhat is the capital of Japan?") == "The capital of Japan is Tokyo."
