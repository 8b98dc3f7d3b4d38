"""Grammars that constrain the tokens of a generation: a JSON value, or text and tool calls.

Grammars are in llguidance's Lark dialect. Every builder checks its result, so that a schema which cannot be
honoured is refused before anything is generated. The markup of thinking and calls is that of the chat
format (`chat/format.py`); where the tokenizer has no such tokens it is spelled out as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llguidance import LLMatcher, LLTokenizer
from tokenizers import Tokenizer

from reference_impl.engine.schema_bounds import Caps, EndlessSchema, Narrower, Schema, TooLarge, Unguaranteed

_LAYOUT: Any = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""One spacing only, that of `json.dumps`: a weak model left free to write white space never stops."""

_DEEPEST = 48
_MOST_NODES = 20_000
_MOST_CALLS = 128
_KEYWORDS = (
    ("$ref", ("not present in a registry", "Pointer '", "does not exist", "$ref")),
    ("pattern", ("regex",)),
    ("format", ("format",)),
    ("oneOf", ("oneOf",)),
    ("minProperties", ("min/maxProperties",)),
    ("required", ("required property",)),
    ("minimum", ("minimum", "maximum")),
    ("enum", ("anyOf is empty",)),
    ("type", ("type",)),
)


class UnsupportedSchema(ValueError):
    """A schema that cannot be guaranteed. `keyword` names what is in the way, as far as is known."""

    def __init__(self, keyword: str, message: str) -> None:
        super().__init__(message)
        self.keyword = keyword


@dataclass(frozen=True, slots=True)
class Markup:
    """How thinking ends and how calls are wrapped; `tokens` if these are single tokens of the vocabulary."""

    think_close: str = "</think>"
    call_open: str = "<tool_call>"
    call_close: str = "</tool_call>"
    tokens: bool = True

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markup:
        """The markup as this tokenizer has it."""
        markup = cls()
        known = (markup.think_close, markup.call_open, markup.call_close)
        return cls(tokens=all(tokenizer.token_to_id(token) is not None for token in known))


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool as the grammar sees it.

    parameters None means any object. strict: refuse a schema that cannot be honoured instead of falling
    back to any object.
    """

    name: str
    parameters: Schema | None = None
    strict: bool = False


_BUILTIN_MARKUP = Markup()
_BUILTIN_CAPS = Caps()


def grammar_for_schema(
    schema: Schema,
    *,
    thinking: bool = False,
    caps: Caps | None = _BUILTIN_CAPS,
    markup: Markup = _BUILTIN_MARKUP,
) -> str:
    """One JSON value that satisfies `schema`, after the end of a thought if the prompt opened one.

    caps None leaves unbounded what the schema leaves unbounded. Raises UnsupportedSchema.
    """
    rules = [f"start: {'thought ' if thinking else ''}value", f"value: {_json(schema, caps)}"]
    return _checked([*rules, *_thought(thinking, caps, markup)])


def grammar_for_object(
    *, thinking: bool = False, caps: Caps | None = _BUILTIN_CAPS, markup: Markup = _BUILTIN_MARKUP
) -> str:
    """Any JSON object (`response_format` json_object)."""
    return grammar_for_schema({"type": "object"}, thinking=thinking, caps=caps, markup=markup)


def grammar_for_calls(
    tools: Sequence[CallableTool],
    *,
    required: bool,
    parallel: bool = True,
    thinking: bool = False,
    caps: Caps | None = _BUILTIN_CAPS,
    markup: Markup = _BUILTIN_MARKUP,
) -> str:
    """Calls of `tools`, at least one if `required`, at most one unless `parallel`.

    Not required: free text, or calls, or text and then calls. For a choice that names tools pass just those.
    Raises UnsupportedSchema for a strict tool's schema, and ValueError for no tools at all or for
    optional calls where the markup is no tokens (text and calls could not be told apart).
    """
    if not tools:
        raise ValueError("there is no tool to call")
    if not required and not markup.tokens:
        raise ValueError("optional calls need call markup that is single tokens")
    rules = []
    for index, tool in enumerate(tools):
        name = json.dumps(tool.name, ensure_ascii=False)
        head, tail = f'\n{{"name": {name}, "arguments": ', "}\n"
        rules += [
            f"call{index}: {_literal(markup.call_open, markup)} {_quoted(head)} arguments{index} "
            f"{_quoted(tail)} {_literal(markup.call_close, markup)}",
            f"arguments{index}: {_arguments(tool, caps)}",
        ]
    rules.append("call: " + " | ".join(f"call{index}" for index in range(len(tools))))
    most = (caps.calls if caps else _MOST_CALLS) if parallel else 1
    rules.append("calls: call" + (f' ("\\n" call){{0,{most - 1}}}' if most > 1 else ""))
    if not required:
        rules.append("text: /(.|\\n)+/")
    answer = "calls" if required else "text? calls?"
    start = f"start: {'thought ' if thinking else ''}{answer}"
    return _checked([start, *rules, *_thought(thinking, caps, markup)])


def _quoted(text: str) -> str:
    """The text as a literal; U+007F, which JSON leaves as it is, must be escaped in Lark."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(token: str, markup: Markup) -> str:
    """A markup token: the token itself, or its spelling where the vocabulary has no such token."""
    return token if markup.tokens else _quoted(token)


def _thought(thinking: bool, caps: Caps | None, markup: Markup) -> list[str]:
    """The rules for the rest of a thought that the prompt has opened, and its end."""
    if not thinking:
        return []
    words = f"/(.|\\n){{0,{caps.thought}}}/" if caps else "/(.|\\n)*/"
    if markup.tokens:
        return [f'thought: words? {markup.think_close} "\\n"', f"words: {words.replace('{0,', '{1,')}"]
    return ['thought: words "\\n"', f"words[suffix={_quoted(markup.think_close)}]: {words}"]


def _arguments(tool: CallableTool, caps: Caps | None) -> str:
    """The arguments of one tool; any object where a schema that is not strict cannot be honoured."""
    parameters: Schema = {"type": "object"} if tool.parameters in (None, True) else tool.parameters or {}
    if isinstance(parameters, dict) and "type" not in parameters:
        parameters = {**parameters, "type": "object"}
    try:
        return _json(parameters, caps)
    except UnsupportedSchema:
        if tool.strict:
            raise
        return _json({"type": "object"}, caps)


def _json(schema: Schema, caps: Caps | None) -> str:
    """The right-hand side of a rule for one JSON value. Raises UnsupportedSchema."""
    _measure(schema)
    if isinstance(schema, bool):
        if not schema:
            raise UnsupportedSchema("false", "the schema false allows no value")
        schema = {}
    problem = _problem(schema)
    if problem:
        raise UnsupportedSchema(_keyword(problem), problem)
    try:
        narrowed = Narrower(schema, caps or Caps()).narrow()
    except TooLarge:
        narrowed = schema
    except (EndlessSchema, LookupError) as error:
        raise UnsupportedSchema("$ref", str(error)) from error
    except Unguaranteed as error:
        raise UnsupportedSchema(error.keyword, str(error)) from error
    # What the limits add may contradict the schema (an allOf of far ends, say); then it stays as it is.
    chosen = narrowed if caps is not None and isinstance(narrowed, dict) and not _problem(narrowed) else schema
    # A caller must not set the compiler's options through the schema.
    return "%json " + json.dumps({**chosen, "x-guidance": _LAYOUT})


def _problem(schema: dict[str, Any]) -> str:
    """Why the compiler refuses a schema, in its words; empty if it does not."""
    return _verdict(LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=_LAYOUT))


def _verdict(grammar: str) -> str:
    """What the compiler says against a grammar; empty if nothing."""
    try:
        message: str = LLMatcher.validate_grammar(grammar)
    except BaseException as error:
        # A panic of the compiler (it cuts long texts of its messages inside a character) is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        return "the schema cannot be compiled"
    return "" if message.startswith("WARNING") else message


def _keyword(problem: str) -> str:
    """The keyword that a compiler message is about."""
    listed = re.search(r'Unimplemented keys: \["([^"]+)"', problem)
    if listed:
        return listed[1]
    quoted = re.search(r"for '(\w+)'", problem)
    if quoted:
        return quoted[1]
    return next((keyword for keyword, signs in _KEYWORDS if any(sign in problem for sign in signs)), "schema")


def _measure(schema: object) -> None:
    """Refuse what is too deep or too large, without recursion of our own."""
    nodes = 0
    level = [schema]
    for _ in range(_DEEPEST * 2):
        following: list[object] = []
        for value in level:
            if isinstance(value, dict):
                following.extend(value.values())
            elif isinstance(value, list):
                following.extend(value)
        nodes += len(following)
        if nodes > _MOST_NODES:
            raise UnsupportedSchema("size", f"the schema has more than {_MOST_NODES} parts")
        if not following:
            return
        level = following
    raise UnsupportedSchema("depth", f"the schema nests deeper than {_DEEPEST} levels")


def _checked(rules: list[str]) -> str:
    grammar = "\n".join(rules) + "\n"
    message = _verdict(grammar)
    if message:
        raise UnsupportedSchema(_keyword(message), message)
    return grammar


class GrammarCompiler:
    """Compiles grammars for one tokenizer; the tokenizer's tables are built once, on first use."""

    def __init__(self, tokenizer: Tokenizer, eos_ids: frozenset[int], vocabulary: int) -> None:
        self._tokenizer = tokenizer
        self.eos_ids = sorted(eos_ids)
        self._vocabulary = vocabulary
        self._tables: LLTokenizer | None = None

    def matcher(self, grammar: str) -> LLMatcher:
        """A fresh matcher; one that cannot be built is in its error state (see `is_error`)."""
        if self._tables is None:
            definition = json.loads(self._tokenizer.to_str())
            for added in definition["added_tokens"]:
                # Markup then matches only where a grammar names it: never inside a string or a text.
                added["special"] = True
            self._tables = LLTokenizer(json.dumps(definition), n_vocab=self._vocabulary, eos_token=self.eos_ids)
        return LLMatcher(self._tables, grammar, log_level=0)
