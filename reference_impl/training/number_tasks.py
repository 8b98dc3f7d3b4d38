"""Questions about numbers and lists: sums, counting, things to enumerate."""

# ruff: noqa: E501 - tables of phrases, one row a line
from __future__ import annotations

import random

from reference_impl.training import vocabulary as v
from reference_impl.training.task import Task


def arithmetic(rng: random.Random) -> Task:
    """Sums, differences and products of numbers up to ten: few enough to be learned by heart."""
    symbol = rng.choice("+++-*")
    a, b = rng.randint(0, 10), rng.randint(0, 10)
    if symbol == "-":
        a, b = max(a, b), min(a, b)
    result = {"+": a + b, "-": a - b, "*": a * b}[symbol]
    name = {"+": "plus", "-": "minus", "*": "times"}[symbol]
    if symbol == "+" and rng.random() < 0.12:
        person, thing = (
            rng.choice(v.NAMES),
            rng.choice(["apples", "books", "coins", "sheep", "pens", "cards"]),
        )
        text = f"{person} has {a} {thing} and gets {b} more. How many {thing} does {person} have?"
        return Task(text, f"{person} has {result} {thing}.", f"{a} + {b} = {result}.")
    term = rng.choice([f"{a} {symbol} {b}", f"{a}{symbol}{b}", f"{a} {name} {b}"])
    thought = f"{a} {symbol} {b} = {result}."
    if rng.random() < 0.5:
        template = rng.choice(
            [
                "What is {}? Answer with the number only.", "Compute {}. Reply with only the number.", "{} =", "{}=?",
                "What is {}? Reply with just the number.", "{}? Answer with a number.", "Answer only with the number: {}",
            ]
        )  # fmt: skip
        return Task(template.format(term), f"{result}", thought)
    template = rng.choice(
        [
            "What is {}?",
            "What's {}?",
            "Calculate {}.",
            "How much is {}?",
            "Solve {}.",
            "Think step by step: what is {}?",
        ]
    )
    return Task(template.format(term), f"{a} {symbol} {b} = {result}", thought)


def count(rng: random.Random) -> Task:
    """Counting up and down, with several separators, in digits and in words."""
    if rng.random() < 0.15:
        last = rng.choice([3, 5, 10, 10, 12, 20])
        numbers = ", ".join(v.NUMBER_WORDS[1 : last + 1])
        template = rng.choice(
            ["Count from one to {}.", "Count to {} in words.", "Write the numbers one to {} in words."]
        )
        return Task(template.format(v.NUMBER_WORDS[last]), numbers, f"I count to {last}.")
    first = rng.choice([1, 1, 1, 1, 1, 1, 0, rng.randint(1, 40)])
    last = first + rng.choice([2, 4, 9, 9, 19, 19, rng.randint(2, 30), rng.randint(2, 60)])
    if first == 1:
        last = rng.choice([3, 5, 10, 10, 15, 20, 20, 20, 25, 30, 40, 50, last])
    order = list(range(first, last + 1))
    separator, suffix = rng.choice(
        [
            (", ", ""), (", ", ""), (", ", ", separated by commas"), (", ", " separated by commas"),
            (" ", " separated by spaces"), (" ", ", separated by spaces"), ("\n", ", one number per line"),
            ("\n", ", one per line"), (", ", " with commas"), (", ", ", with commas in between"),
        ]
    )  # fmt: skip
    if rng.random() < 0.12:
        template = rng.choice(["Count down from {l} to {f}{s}", "Count backwards from {l} to {f}{s}"])
        order.reverse()
    elif first == 1 and rng.random() < 0.15:
        template = rng.choice(["Count to {l}{s}", "Count up to {l}{s}"])
    else:
        template = rng.choice(
            [
                "Count from {f} to {l}{s}", "Count from {f} to {l}{s}", "Count slowly from {f} to {l}{s}",
                "List the numbers from {f} to {l}{s}", "Write the numbers {f} to {l}{s}", "Count {f} to {l}{s}",
                "Please count from {f} to {l}{s}", "Write the numbers from {f} to {l}{s}",
                "Print the numbers {f} to {l}{s}", "Count from {f} to {l} and write every number{s}",
            ]
        )  # fmt: skip
    question = template.format(f=first, l=last, s=suffix) + rng.choice([".", ".", ".", "", "!"])
    return Task(question, separator.join(map(str, order)), f"I count from {first} to {last}.")


def listing(rng: random.Random) -> Task:
    """Lists of a given length, days, months, letters and repeated words."""
    kind = rng.random()
    if kind < 0.08:
        question = rng.choice(["List the months of the year.", "Name the twelve months.", "Write all months."])
        return Task(question, ", ".join(v.MONTHS), "There are twelve months.")
    if kind < 0.18:
        question = rng.choice(
            ["Write the alphabet.", "Say the alphabet.", "Recite the alphabet.", "List the letters A to Z."]
        )
        return Task(question, " ".join("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "There are 26 letters.")
    if kind < 0.35:
        text, times = rng.choice([rng.choice(v.WORDS), v.invented_word(rng)]), rng.randint(2, 12)
        written = rng.choice([str(times), v.NUMBER_WORDS[times]])
        template = rng.choice(["Repeat the word {} {} times.", "Write {} {} times.", "Say the word {} {} times."])
        return Task(template.format(text, written), " ".join([text] * times), f"{times} times {text}.")
    name, items = rng.choice(list(v.LISTS.items()))
    number = rng.randint(2, min(7, len(items)))
    written = rng.choice([v.NUMBER_WORDS[number], str(number)])
    chosen = items[:number]
    if number == len(items) and rng.random() < 0.5:
        return Task(f"List the {name}.", ", ".join(chosen), f"I list the {name}.")
    if rng.random() < 0.3:
        template = rng.choice(["List {} {}, one per line.", "Name {} {}. Put each on its own line."])
        return Task(template.format(written, name), "\n".join(chosen), f"I need {number} {name}.")
    template = rng.choice(
        ["List {} {}.", "Name {} {}.", "Give me {} {}.", "List {} {}, separated by commas.", "Tell me {} {}."]
    )
    return Task(template.format(written, name), ", ".join(chosen), f"I need {number} {name}.")
