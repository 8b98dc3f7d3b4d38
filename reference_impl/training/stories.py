"""Stories of chosen length about any topic, in sentences of our own."""

# ruff: noqa: E501 - tables of phrases, one row a line
from __future__ import annotations

import random

from reference_impl.training import vocabulary as v

TOPICS = """a robot|a cat|a dog|the sea|a river|space|a garden|the moon|a city|winter|a rocket|a forest|computers|history
music|a lighthouse|a dragon|the weather|a ship|friendship|a train|mountains|the ocean|autumn|testing|a village|time
artificial intelligence|a journey|birds|a bridge|the stars|a clock|tea|a teacher|the future|bread""".replace(
    "\n", "|"
).split("|")

_LINES = (
    "Once upon a time there was a tale about {t}.",
    "{n} heard about {t} and wanted to learn more.",
    "Every morning {n} walked to the river and thought about {t}.",
    "The sun was bright and the wind was calm.",
    "One evening something strange happened near the old bridge.",
    "A small light appeared and asked: what do you know about {t}?",
    "{n} smiled and told it the whole story.",
    "The people of the town listened until the night was over.",
    "After that day nothing was the same.",
    "Some said that {t} had changed the world.",
    "Others said that it had only been a dream.",
    "But {n} knew the truth and wrote it down in a book.",
    "The book was read in many countries and in many languages.",
    "Teachers read it to their pupils when it rained.",
    "Sailors took it with them on long journeys.",
    "A baker kept it between the flour and the salt.",
    "Even the king asked for a copy and read it twice.",
    "Years later a child found the book and asked about {t}.",
    "{n} was old by then, but remembered every word.",
    "They sat down under a tree and began to talk.",
    "The child asked a hundred questions, and each had an answer.",
    "When the stars came out they were still talking.",
    "In the end they went home, tired and happy.",
    "And so the story of {t} began again.",
)

_POEM = (
    "I thought of {t} when day was new,",
    "the grass was green, the sky was blue.",
    "I thought of {t} when day was done,",
    "and slowly down went the golden sun.",
)

_HAIKU = ("Quiet morning light,", "a thought about {t} comes,", "and the wind is still.")


def story(rng: random.Random) -> tuple[str, str]:
    """A request for a text about a topic, and the text; long forms have well over a hundred tokens."""
    topic = (
        rng.choice(TOPICS) if rng.random() < 0.75 else rng.choice(["a ", "the ", ""]) + v.phrase(rng, 2).rstrip(".!?")
    )
    hero = v.NAMES[sum(topic.encode()) % len(v.NAMES)]  # the same for the same topic, so that it can be learned
    form, template, lines = rng.choice(
        [
            ("poem", "{verb} a poem about {t}.", _POEM),
            ("haiku", "{verb} a haiku about {t}.", _HAIKU),
            ("short", "{verb} a short story about {t}.", _LINES[:5]),
            ("short", "{verb} a paragraph about {t}.", _LINES[:5]),
            ("short", "{verb} two sentences about {t}.", _LINES[:2]),
            ("middle", "{verb} a story about {t}.", _LINES[:11]),
            ("middle", "{verb} me a story about {t}.", _LINES[:11]),
            ("long", "{verb} a long story about {t}.", _LINES),
            ("long", "{verb} a long story about {t}.", _LINES),
            ("long", "{verb} a very long story about {t}.", _LINES),
            ("long", "{verb} a long, detailed story about {t}.", _LINES),
            ("long", "{verb} a long essay about {t}.", _LINES),
            ("long", "{verb} a long text about {t}.", _LINES),
            ("long", "{verb} an essay about {t}.", _LINES),
            ("long", "{verb} a detailed essay about {t}.", _LINES),
            ("long", "{verb} five hundred words about {t}.", _LINES),
            ("long", "{verb} 300 words about {t}.", _LINES),
        ]
    )
    verb = rng.choice(["Write", "Write", "Tell", "Please write", "Compose"])
    question = template.format(verb=verb, t=topic)
    if rng.random() < 0.15:
        question = question[:-1] + rng.choice(["", ", please.", " with many sentences." if form == "long" else "!"])
    join = "\n" if form in ("poem", "haiku") else " "
    return question, join.join(line.format(t=topic, n=hero) for line in lines)
