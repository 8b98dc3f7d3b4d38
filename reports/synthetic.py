"""A made-up run of any size, for tests and for the benchmark. No endpoint was asked anything."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from reports.record import CASES, EXCHANGES, VERDICTS, write_results

TOPICS = (
    "wire", "auth", "models", "messages", "request", "response", "choices", "stream", "finish", "usage",
    "limits", "sampling", "stop", "tools", "json", "reasoning", "images", "sessions", "credits", "errors",
)  # fmt: skip

HOSTILE = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1">',
    "<svg/onload=window.pwned=1>",
    "javascript:window.pwned=1",
    "{{ 7*7 }}{% raw %}",
    "]]></system-out><failure/>",
    "</script><script>window.pwned=1</script>",
    "<!-- <base href='https://attacker.invalid/'> -->",
    "<style>*{display:none}</style>",
    '=HYPERLINK("https://attacker.invalid","x")',
    "+1+cmd|' /C calc'!A0",
    "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "\r\n::error title=x::owned\r\n##[error]owned",
    "[click](javascript:window.pwned=1) ![x](https://attacker.invalid/x.png) @everyone",
    "| a | b |\n|---|---|\n\n# heading",
    "\u202egnp.exe\u2066 \u200b\ufeff \u2028",
    "\x00\x01\x08\x0b\x0c\x7f\ufffe",
    "A" * 600,
    "ｆｕｌｌ　日本語 🙂 العربية",
)

_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "but",
    "at",
    "are",
    "this",
    "have",
    "from",
    "or",
    "had",
    "an",
]


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) + (str(rng.randrange(999)) if rng.random() < 0.1 else "") for _ in range(words))


def _chunk(identifier: str, created: int, delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {
        "id": identifier,
        "object": "chat.completion.chunk",
        "created": created,
        "model": "synthetic-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _stream(rng: random.Random, text: str) -> dict[str, Any]:
    identifier, created = f"chatcmpl-{rng.getrandbits(96):024x}", 1_790_000_000 + rng.randrange(10_000)
    words = text.split(" ")
    raw = [_chunk(identifier, created, {"role": "assistant", "content": ""})]
    raw += [_chunk(identifier, created, {"content": word + " "}) for word in words]
    raw.append(_chunk(identifier, created, {}, "stop"))
    usage = {"prompt_tokens": 12, "completion_tokens": len(words), "total_tokens": 12 + len(words)}
    last = {"id": identifier, "object": "chat.completion.chunk", "choices": [], "usage": usage}
    raw += [b"data: " + json.dumps(last).encode() + b"\n\n", b"data: [DONE]\n\n"]
    at, start, events, arrivals = rng.uniform(0.05, 0.3), 0, [], []
    for part in raw:
        events.append([round(at, 6), start, start + len(part)])
        arrivals.append([round(at, 6), len(part)])
        start += len(part)
        at += rng.lognormvariate(-4.2, 0.6)
    return {
        "body": b"".join(raw).decode(),
        "events": events,
        "arrivals": arrivals,
        "length": start,
        "total": at,
    }


def exchange(number: int, rng: random.Random, text: str | None = None, topic: str | None = None) -> dict[str, Any]:
    """One exchange record; about half are streams. `text` is what the endpoint answers."""
    topic = topic or TOPICS[number % len(TOPICS)]
    streamed = topic == "stream" or rng.random() < 0.45
    answer = text if text is not None else _prose(rng, rng.randrange(10, 60))
    asked = {
        "model": "synthetic-1",
        "messages": [{"role": "user", "content": _prose(rng, rng.randrange(5, 30))}],
        "max_tokens": 64,
        "seed": rng.randrange(10_000),
        **({"stream": True, "stream_options": {"include_usage": True}} if streamed else {}),
    }
    body = json.dumps(asked, ensure_ascii=False)
    headers = [
        ["content-type", "text/event-stream" if streamed else "application/json"],
        ["server", text or "synthetic"],
    ]
    response: dict[str, Any] = {
        "status": 200, "http_version": "HTTP/1.1", "reason": "OK", "headers": headers,
        "encoding": "utf-8", "truncated": False,
    }  # fmt: skip
    if streamed:
        made = _stream(rng, answer)
        total = made.pop("total")
        response |= made
    else:
        total = rng.lognormvariate(-0.6, 0.5)
        whole = {
            "id": f"chatcmpl-{rng.getrandbits(96):024x}", "object": "chat.completion", "model": "synthetic-1",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 12, "completion_tokens": 30, "total_tokens": 42},
        }  # fmt: skip
        response["body"] = json.dumps(whole, ensure_ascii=False)
        response["length"] = len(response["body"].encode("utf-8", "replace"))
        response["arrivals"] = [[round(total, 6), response["length"]]]
    return {
        "id": f"x{number:04d}", "at": f"2026-11-29T21:{number // 60 % 60:02d}:{number % 60:02d}.000000Z",
        "worker": "main", "probe": f"{topic}::test_{topic}_{number % 7}", "topic": topic, "repeat_of": None,
        "request": {
            "method": "POST", "url": "https://api.synthetic.invalid/v1/chat/completions",
            "headers": [["content-type", "application/json"], ["authorization", "Bearer [redacted]"]],
            "body": body, "encoding": "utf-8", "length": len(body.encode()),
        },
        "response": response, "end": "complete", "problem": "",
        "timing": {"first_byte_s": response["arrivals"][0][0], "total_s": round(total, 6)},
    }  # fmt: skip


_FAULTS = (
    (
        "ends with one terminator",
        "the last event is `data: [DONE]`, once",
        "the last event is `data: [DONE]`, twice",
    ),
    (
        "names one id in every chunk",
        "chatcmpl-7f3a in all 42 chunks",
        "chatcmpl-7f3a in 41 chunks, chatcmpl-90bd in the last",
    ),
    ("counts total as prompt plus completion", "usage.total_tokens is 42", "usage.total_tokens is 44"),
    ("obeys a named tool choice", "one call of get_weather", "no call, 58 characters of text"),
)


def _violation(rng: random.Random, number: int, exchanges: int, hostile: str | None) -> dict[str, Any]:
    _, expected, observed = _FAULTS[number % len(_FAULTS)]
    named = f"x{rng.randrange(exchanges) + 1:04d}"
    return {
        "message": hostile or f"Where {expected} was promised: {observed}.",
        "expected": expected,
        "observed": hostile or observed,
        "exchanges": [named],
        "reproduced": rng.choice(["3/3", "3/3", "1/3"]),
        "event": 3,
        "diagnosis": [
            {"fault": "done-duplicated", "sentence": hostile or "The terminator is written by two layers.",
             "agreement": 0.92, "citations": [hostile or "ray-project/ray#62246"]}
        ] if number % 3 == 0 else [],
        "breaks_clients": [
            {"client": hostile or "pydantic-ai", "uses": ["chat", "tools"], "effect": "raises"}
        ]
        if number % 2 == 0 else [],
    }  # fmt: skip


def write_run(
    directory: str | Path,
    exchanges: int = 60,
    failures: int = 3,
    hostile: bool = False,
    requirements: int = 240,
    seed: int = 0,
    **changes: object,
) -> Path:
    """Write a whole record (`results.json`, `exchanges.jsonl`, `cases.jsonl`); returns the directory.

    `failures` requirements fail, `hostile` puts attacks into every string an endpoint can choose, `changes`
    replace top-level members of the results.
    """
    rng = random.Random(seed)  # noqa: S311 - made-up data
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / EXCHANGES).open("w", encoding="utf-8") as file:
        for number in range(1, exchanges + 1):
            text = HOSTILE[number % len(HOSTILE)] if hostile else None
            file.write(json.dumps(exchange(number, rng, text)) + "\n")
    (directory / CASES).write_text(
        json.dumps({"id": "c0001", "law": "stream.equals-whole", "requirements": ["stream.equals-whole"],
                    "roles": {"whole": ["x0001"], "streamed": ["x0002"]}, "data": {}, "probe": ""}) + "\n"
    )  # fmt: skip
    rows = [
        _row(random.Random(seed + number), number, failures, exchanges, hostile)  # noqa: S311
        for number in range(max(requirements, failures))
    ]
    counts = Counter(row["verdict"] for row in rows)
    verdict = "non-conformant" if counts["fail"] else "conformant"
    results = {
        "schema": 1,
        "suite": {"name": "chat-completions-conformance", "version": "0.1.0", "catalogue_sha256": "5b" * 32},
        "profile": "synthetic", "edition": "2026-11", "effort": "standard",
        "target": {"base_url": "https://api.synthetic.invalid/v1",
                   "model": HOSTILE[0] if hostile else "synthetic-1",
                   "models": {"vision": None, "reasoning": None}, "induce": False,
                   "capabilities": {"vision": {"state": "no", "source": "declared"}}},
        "started": "2026-11-29T21:00:00Z", "ended": "2026-11-29T21:14:32Z",
        "seed": seed, "workers": 1, "only": [],
        "command": "conformance run --profile ark --base-url https://api.synthetic.invalid/v1 "
                   "--model synthetic-1 --api-key-env API_KEY --seed 0 --out reports-ark",
        "verdict": verdict, "exit_status": 1 if counts["fail"] else 0,
        "reason": f"{counts['fail']} promises that the document states are broken." if counts["fail"]
                  else "Every promise that the document states and that could be provoked was kept.",
        "counts": {name: counts[name] for name in VERDICTS},
        "cost": {"requests": exchanges, "prompt_tokens": 18_400, "completion_tokens": 52_310,
                 "wall_s": 872.4, "waiting_s": 12.0},
        "notes": ["Images were not tested: the endpoint declares that it has no vision.",
                  "Rate limits were not provoked: no staging header was offered."],
        "requirements": rows, "waivers": [], **changes,
    }  # fmt: skip
    write_results(directory, results)
    return directory


def _row(rng: random.Random, number: int, failures: int, exchanges: int, hostile: bool) -> dict[str, Any]:
    topic = TOPICS[number % len(TOPICS)]
    what = _FAULTS[number % len(_FAULTS)][0]
    attack = HOSTILE[number % len(HOSTILE)] if hostile else None
    # Spread over the topics: neighbours in number are different topics already.
    if number < failures:
        verdict, level = "fail", "must"
    elif number % 31 == 7:
        verdict, level = "warn", "should"
    elif number % 17 == 5:
        verdict, level = "not_exercised", "must" if number % 2 else "may"
    elif number % 41 == 9:
        verdict, level = "inconclusive", "should"
    elif number % 11 == 3:
        verdict, level = "not_applicable", "may"
    else:
        verdict, level = "pass", rng.choice(["must", "must", "must", "should", "may"])
    broken = verdict in ("fail", "warn")
    return {
        "id": f"{topic}.synthetic-{number:03d}", "title": f"Every answer {what} (made-up promise {number}).",
        "topic": topic, "level": level, "basis": rng.choice(["stated", "stated", "example", "reading"]),
        "where": f"section {topic}, field {number}", "because": "", "judge": "law", "scored": True,
        "verdict": verdict,
        "why": attack or {"not_exercised": "The condition cannot be caused by a client.",
                          "inconclusive": "The model would not call a tool in 6 attempts."}.get(verdict, ""),
        "proven_by": [attack or f"breaks-{what.replace(' ', '-')}"] if number % 13 else [],
        "observations": {"kept": 0 if verdict == "not_exercised" else rng.randrange(1, 60),
                         "violated": rng.randrange(1, 5) if broken else 0, "undecided": 0},
        "violations": [_violation(rng, number, exchanges, attack)] if broken else [],
    }  # fmt: skip
