"""Constrained output satisfies its schema whatever the model does, and what cannot be honoured is refused."""

import json
import random
import time

import jsonschema
import pytest
import torch

from reference_impl.engine.grammar import (
    CallableTool,
    GrammarCompiler,
    Markup,
    UnsupportedSchema,
    grammar_for_calls,
    grammar_for_object,
    grammar_for_schema,
)
from reference_impl.engine.schema_bounds import Caps

NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["v", "next"],
    "additionalProperties": False,
}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

SCHEMAS = {
    "string": {"type": "string"},
    "unbounded number": {"type": "number"},
    "integer below": {"type": "integer", "maximum": -(10**13)},
    "number range": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1},
    "multiple": {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 100},
    "lengths": {"type": "string", "minLength": 3, "maxLength": 5},
    "long minimum": {"type": "string", "minLength": 150},
    "pattern": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
    "unanchored pattern": {"type": "string", "pattern": "ab+c"},
    "formats": {
        "type": "object",
        "properties": {f: {"type": "string", "format": f} for f in ("date", "uuid", "email", "uri")},
        "required": ["date", "uuid", "email", "uri"],
    },
    "array": {"type": "array"},
    "few items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
    "many items": {"type": "array", "items": {"type": "boolean"}, "minItems": 20},
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
        "minItems": 2,
    },
    "open tuple": {"type": "array", "prefixItems": [{"type": "boolean"}]},
    "object": {"type": "object"},
    "anything": {},
    "optional": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]},
    "undeclared required": {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["z", "a"],
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "declared and map": {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": {"type": "string"},
    },
    "pattern properties": {
        "type": "object",
        "patternProperties": {"^x_[a-z]+$": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 1,
    },
    "enum": {"enum": ["celsius", 2, None, True, {"a": [1]}]},
    "const": {"type": "object", "properties": {"kind": {"const": "x"}}, "required": ["kind"]},
    "nullable": {"type": ["string", "null"], "maxLength": 4},
    "any of": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "integer", "minimum": 0}]},
    "one of": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "all of": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]
    },
    "reference": {
        "$defs": {"p": CITY},
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/p"}},
        "required": ["a"],
    },
    "reference with limits": {"$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}, "maxLength": 3},
    "recursive": {"$defs": {"node": NODE}, "$ref": "#/$defs/node"},
    "recursive root": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["v", "kids"],
    },
    "escaped pointer": {"$defs": {"a/b~c": {"type": "boolean"}}, "$ref": "#/$defs/a~1b~0c"},
    "option injection": {"type": "array", "items": {"const": 1}, "x-guidance": {"whitespace_flexible": True}},
}

REFUSED = {
    "uniqueItems": {"type": "array", "uniqueItems": True},
    "not": {"not": {"type": "string"}},
    "if": {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    "dependentRequired": {"dependentRequired": {"a": ["b"]}},
    "contains": {"type": "array", "contains": {"const": 5}},
    "propertyNames": {"propertyNames": {"pattern": "^a"}},
    "oneOf": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 10}]},
    "minProperties": {"type": "object", "minProperties": 3},
    "pattern": {"type": "string", "pattern": "^(?!bad)x"},
    "format": {"type": "string", "format": "shoe-size"},
    "type": {"type": "strng"},
    "minLength": {"type": "string", "minLength": "x"},
    "minimum": {"type": "integer", "minimum": 5, "maximum": 3},
    "required": {"type": "object", "properties": {}, "required": ["b"], "additionalProperties": False},
    "enum": {"enum": []},
    "false": False,
}

ENDLESS = [
    {"$ref": "#"},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"n": {"$ref": "#/$defs/a"}}, "required": ["n"]}}},
    {"$ref": "https://example.com/schema.json"},
    {"$ref": "#/$defs/missing"},
]


@pytest.fixture(scope="module")
def compiler(model):
    return GrammarCompiler(model.tokenizer, model.eos_ids, model.config.vocab_size)


def write_at_random(compiler, tokenizer, grammar, seed, most=4000):
    """What a model writes that likes every allowed token equally well; fails if it never ends."""
    matcher = compiler.matcher(grammar)
    assert not matcher.is_error(), matcher.get_error()
    choice = random.Random(seed)
    bits = torch.zeros((tokenizer.get_vocab_size() + 31) // 32, dtype=torch.int32)
    written = []
    for _ in range(most):
        matcher.unsafe_compute_mask_ptr(bits.data_ptr(), bits.numel() * 4)
        allowed = ((bits[:, None] >> torch.arange(32)) & 1).flatten().nonzero().flatten().tolist()
        token = choice.choice(allowed)
        if token in compiler.eos_ids:
            break
        written.append(token)
        assert matcher.consume_token(token)
        if matcher.is_stopped():
            break
    else:
        pytest.fail("the grammar does not end")
    return tokenizer.decode(written, skip_special_tokens=False)


@pytest.mark.parametrize("name", SCHEMAS)
def test_random_model_satisfies_schema(name, compiler, model):
    """jsonschema, not the grammar engine, judges what was written."""
    schema = SCHEMAS[name]
    grammar = grammar_for_schema(schema)
    for seed in range(6):
        text = write_at_random(compiler, model.tokenizer, grammar, seed)
        value = json.loads(text)
        jsonschema.Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize("keyword", REFUSED)
def test_refusal_names_keyword(keyword):
    with pytest.raises(UnsupportedSchema) as refusal:
        grammar_for_schema(REFUSED[keyword])
    assert refusal.value.keyword == keyword
    assert str(refusal.value)


@pytest.mark.parametrize("schema", ENDLESS)
@pytest.mark.parametrize("caps", [True, False])
def test_endless_and_dangling_references_are_refused(schema, caps):
    with pytest.raises(UnsupportedSchema) as refusal:
        grammar_for_schema(schema, **({} if caps else {"caps": None}))
    assert refusal.value.keyword == "$ref"


def test_deep_and_wide_schemas_are_refused_quickly():
    deep = {"type": "string"}
    for _ in range(50_000):
        deep = {"properties": {"a": deep}}
    wide = {"enum": list(range(30_000))}
    explosive = {"$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(20)}}
    explosive["$defs"]["d20"] = {"type": "null"}
    explosive["$ref"] = "#/$defs/d0"
    began = time.perf_counter()
    with pytest.raises(UnsupportedSchema, match="nests deeper"):
        grammar_for_schema(deep)
    with pytest.raises(UnsupportedSchema, match="parts"):
        grammar_for_schema(wide)
    assert "%json" in grammar_for_schema(explosive)  # legal, so it is kept with its references as they are
    assert time.perf_counter() - began < 5


def test_json_object_is_an_object(compiler, model):
    for seed in range(10):
        assert isinstance(json.loads(write_at_random(compiler, model.tokenizer, grammar_for_object(), seed)), dict)


def parse_calls(text):
    calls = []
    for block in text.split("<tool_call>\n")[1:]:
        body, rest = block.split("\n</tool_call>")
        assert rest in ("", "\n")
        calls.append(json.loads(body))
    return calls


TOOLS = [CallableTool("get_weather", CITY, strict=True), CallableTool("now")]


def test_required_calls_are_calls_of_the_tools(compiler, model):
    counts = set()
    for seed in range(30):
        text = write_at_random(compiler, model.tokenizer, grammar_for_calls(TOOLS, required=True), seed)
        calls = parse_calls(text)
        assert text.startswith("<tool_call>")
        counts.add(len(calls))
        for call in calls:
            assert call["name"] in ("get_weather", "now")
            if call["name"] == "get_weather":
                jsonschema.validate(call["arguments"], CITY)
    assert min(counts) == 1
    assert max(counts) > 1


def test_single_call_when_not_parallel(compiler, model):
    grammar = grammar_for_calls(TOOLS[:1], required=True, parallel=False)
    for seed in range(10):
        assert len(parse_calls(write_at_random(compiler, model.tokenizer, grammar, seed))) == 1


def test_thought_comes_before_the_call(compiler, model):
    grammar = grammar_for_calls(TOOLS, required=True, thinking=True)
    for seed in range(5):
        text = write_at_random(compiler, model.tokenizer, grammar, seed)
        thought, answer = text.split("</think>\n")
        assert 1 <= len(thought) <= Caps().thought or text.startswith("</think>")
        assert parse_calls(answer)


def test_optional_calls_allow_plain_text_and_text_before_calls(compiler, model):
    grammar = grammar_for_calls(TOOLS, required=False)
    for pieces in (["Hello."], ["Let me see.\n", "<tool_call>"], ["<tool_call>"]):
        matcher = compiler.matcher(grammar)
        for piece in pieces:
            for token in model.tokenizer.encode(piece, add_special_tokens=False).ids:
                assert matcher.consume_token(token), piece
        assert matcher.is_accepting() == (pieces[-1] != "<tool_call>")


def test_markup_tokens_never_stand_inside_a_string(compiler, model):
    """A parser may look for the call markup by token: an argument cannot contain it as a token."""
    matcher = compiler.matcher(grammar_for_schema({"type": "string"}))
    assert matcher.consume_token(model.tokenizer.token_to_id('"'))
    assert not matcher.consume_token(model.tokenizer.token_to_id("</tool_call>"))


def test_schema_that_is_not_strict_falls_back_to_any_object(compiler, model):
    unsupported = {"type": "object", "properties": {"a": {"not": {}}}}
    grammar = grammar_for_calls([CallableTool("t", unsupported)], required=True, parallel=False)
    (call,) = parse_calls(write_at_random(compiler, model.tokenizer, grammar, 1))
    assert isinstance(call["arguments"], dict)
    with pytest.raises(UnsupportedSchema):
        grammar_for_calls([CallableTool("t", unsupported, strict=True)], required=True)


def test_markup_spelled_out_where_it_is_no_token():
    spelled = Markup(tokens=False)
    assert '"<tool_call>"' in grammar_for_calls(TOOLS, required=True, thinking=True, markup=spelled)
    with pytest.raises(ValueError, match="single tokens"):
        grammar_for_calls(TOOLS, required=False, markup=spelled)
    with pytest.raises(ValueError, match="no tool"):
        grammar_for_calls([], required=True)


def test_a_name_may_hold_any_character():
    for code in (*range(0xA1), 0x2028, 0xFEFF, 0xFFFD, 0x10FFFF):
        assert grammar_for_calls([CallableTool("a" + chr(code))], required=True)
