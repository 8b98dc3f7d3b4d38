"""What a probe holds in its hand: it asks, groups what belongs together, and nothing else."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest

from conformance.cases import Case
from conformance.judge import Finding, Judge
from conformance.recording import fingerprint
from conformance.reply import reply_of
from conformance.target import Prices, Target
from conformance.wire.budget import Amount, Budget, BudgetSpent
from conformance.wire.client import Call, Client, Stamp
from conformance.wire.exchange import Exchange
from conformance.wire.journal import Journal, JournalFull
from conformance.wire.retry import wait_before_retry

Key = Literal["right", "missing", "wrong", "malformed"]
RETRIES = 3
DEFAULT_TOKENS = 2048  # reserved for a request that names no limit
MOST_CHOICES = 16
IMAGE_TOKENS = 2048  # reserved for an image, whose address may be shorter than what it shows


@dataclass(slots=True)
class Session:
    """What all probes of one process share."""

    target: Target
    judge: Judge
    client: Client
    budget: Budget
    exchanges: Journal
    cases: Journal
    seed: int = 0
    belief_repeats: int = 2
    worker: str = "main"
    recorded: Mapping[tuple[str, int], Exchange] = field(default_factory=dict)
    cases_recorded: Collection[str] = ()
    believed: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    counter: int = 0
    case_counter: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_id(self) -> str:
        """A fresh exchange id, unique over all workers."""
        with self.lock:
            self.counter += 1
            prefix = "" if self.worker == "main" else self.worker.removeprefix("gw") + "-"
            return f"x{prefix}{self.counter:04d}"

    def next_case_id(self) -> str:
        """A fresh case id, unique over all workers."""
        with self.lock:
            self.case_counter += 1
            prefix = "" if self.worker == "main" else self.worker.removeprefix("gw") + "-"
            return f"c{prefix}{self.case_counter:04d}"


class Asker:
    """Sends for one probe. Every answer is recorded and judged; nothing is asserted here."""

    def __init__(self, session: Session, probe: str, topic: str) -> None:
        self.session = session
        self.probe = probe
        self.topic = topic
        self.findings: list[Finding] = []
        self._ordinal = 0
        self._nonces = 0

    def __call__(
        self,
        body: Mapping[str, Any] | bytes | None,
        *,
        key: Key = "right",
        headers: Mapping[str, str] | None = None,
        path: str = "/chat/completions",
        method: str = "POST",
        hang_up_after: int | None = None,
        induce: str | None = None,
    ) -> Exchange:
        """Ask once (and again where a rate limit asks for patience); the last answer comes back."""
        call = self._call(body, key, headers or {}, path, method, hang_up_after, induce)
        facts = {"key": key if self.session.target.key() else "none", **({"induce": induce} if induce else {})}
        exchange = self._send(call, self._take_ordinals(1)[0], facts)
        self._settle(exchange, call)
        return exchange

    def together(self, bodies: Sequence[Mapping[str, Any]]) -> list[Exchange]:
        """Ask all at once, each on its own connection; answers come in the order of the bodies."""
        calls = [self._call(body, "right", {}, "/chat/completions", "POST", None, None) for body in bodies]
        ordinals = self._take_ordinals(len(calls))
        facts = {"key": "right" if self.session.target.key() else "none", "concurrent": len(calls)}
        with ThreadPoolExecutor(len(calls)) as pool:
            sent = pool.map(lambda call, ordinal: self._send(call, ordinal, facts, crowd=True), calls, ordinals)
            exchanges = list(sent)
        for exchange, call in zip(exchanges, calls, strict=True):
            self._settle(exchange, call)
        return exchanges

    def nonce(self) -> str:
        """A word of its own for one conversation: the same in every run with the same seed."""
        self._nonces += 1
        text = f"{self.session.seed}:{self.probe}:{self._nonces}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def case(
        self,
        kind: str,
        requirements: Iterable[str] = (),
        data: Mapping[str, Any] | None = None,
        *,
        repeatable: bool = True,
        **roles: Exchange | Sequence[Exchange],
    ) -> Case:
        """Write down that these exchanges belong together, and let the laws of that kind look at them."""
        case = Case(
            id=self.session.next_case_id(),
            kind=kind,
            requirements=tuple(requirements),
            roles={role: (given,) if isinstance(given, Exchange) else tuple(given) for role, given in roles.items()},
            data=data or {},
            probe=self.probe,
        )
        findings = self._record(case)
        if repeatable and self._news(findings):
            for _ in range(self.session.belief_repeats):
                repeated = self._repeat(case)
                if repeated is None:
                    break
                self._record(repeated)
        return case

    def _record(self, case: Case) -> list[Finding]:
        line = case.to_json()
        if fingerprint(line) not in self.session.cases_recorded:
            self.session.cases.append(line)
        findings = self.session.judge.case(case)
        self.findings += findings
        return findings

    def _repeat(self, case: Case) -> Case | None:
        """The same requests sent again, in the same order."""
        again: dict[str, Exchange] = {}
        for exchange in sorted(case.exchanges, key=lambda x: x.at):
            if exchange.id not in self.session.calls:
                return None
            again[exchange.id] = self._resend(exchange)
        roles = {role: tuple(again[x.id] for x in exchanges) for role, exchanges in case.roles.items()}
        return replace(case, id=self.session.next_case_id(), roles=roles, repeat_of=case.id)

    def _news(self, findings: Iterable[Finding]) -> bool:
        """Whether a requirement is violated here for the first time; remembers it."""
        fresh = {f.requirement for f in findings if f.outcome == "violated"} - self.session.believed
        self.session.believed |= fresh
        return bool(fresh)

    def _settle(self, exchange: Exchange, call: Call) -> None:
        self.session.calls[exchange.id] = call
        findings = self.session.judge.exchange(exchange)
        self.findings += findings
        if self._news(findings):
            for _ in range(self.session.belief_repeats):
                self._resend(exchange)

    def _resend(self, exchange: Exchange) -> Exchange:
        ordinal = self._take_ordinals(1)[0]
        return self._send(self.session.calls[exchange.id], ordinal, exchange.facts, repeat_of=exchange.id)

    def _take_ordinals(self, count: int) -> list[int]:
        first = self._ordinal + 1
        self._ordinal += count
        return list(range(first, first + count))

    def _call(
        self,
        body: Mapping[str, Any] | bytes | None,
        key: Key,
        headers: Mapping[str, str],
        path: str,
        method: str,
        hang_up_after: int | None,
        induce: str | None,
    ) -> Call:
        data = body if isinstance(body, bytes) else b"" if body is None else encode(body)
        all_headers = {"content-type": "application/json", **self._authorization(key), **self.session.target.headers}
        if induce:
            all_headers["x-conformance-induce"] = induce
        all_headers |= headers
        return Call(data, path, method, tuple(all_headers.items()), hang_up_after)

    def _authorization(self, key: Key) -> dict[str, str]:
        secret = self.session.target.key()
        if secret is None or key == "missing":
            return {}
        if key == "malformed":
            return {"authorization": "Bearer"}
        return {"authorization": f"Bearer {secret if key == 'right' else 'wrong-' + self.nonce()}"}

    def _send(
        self, call: Call, ordinal: int, facts: Mapping[str, Any], repeat_of: str | None = None, crowd: bool = False
    ) -> Exchange:
        known = self.session.recorded.get((self.probe, ordinal))
        if known is not None and known.sent.body == self.session.client.redactor.body(call.body):
            return known
        for attempt in range(RETRIES):
            told = {**facts, "ordinal": ordinal, "attempt": attempt}
            exchange = self._send_once(call, told, repeat_of, crowd and attempt == 0)
            pause = None if "induce" in facts else wait_before_retry(exchange, attempt)
            if pause is None or attempt == RETRIES - 1:
                break
            self.session.budget.hush(pause)
        return exchange

    def _send_once(self, call: Call, facts: Mapping[str, Any], repeat_of: str | None, crowd: bool) -> Exchange:
        prices = self.session.target.prices
        try:
            turn = self.session.budget.take(most(call.body, prices), crowd=crowd)
        except BudgetSpent as spent:
            pytest.skip(f"budget: {spent}")
        time.sleep(turn.wait)
        stamp = Stamp(self.session.next_id(), self.probe, self.topic, self.session.worker, repeat_of, facts)
        exchange = self.session.client.send(call, stamp)
        status = 0 if "induce" in facts else exchange.status  # what was asked for says nothing of the endpoint's load
        self.session.budget.settle(turn, used(exchange, prices), status)
        try:
            self.session.exchanges.append(exchange.to_json())
        except JournalFull as full:
            self.session.budget.stop(str(full))
            raise
        return exchange


def encode(body: Mapping[str, Any]) -> bytes:
    """A request body as compact JSON in UTF-8."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def most(body: bytes, prices: Prices | None) -> Amount:
    """An upper bound of what a request may use, in tokens and in money."""
    prompt, completion = bound_of(body)
    return Amount(prompt + completion, prices.of(prompt, completion) if prices else 0.0)


def bound_of(body: bytes) -> tuple[int, int]:
    """At most how many prompt and completion tokens a request may use.

    A prompt has at most one token a byte, and `IMAGE_TOKENS` more for each image; a completion has as many as its
    own limit says for each choice, or `DEFAULT_TOKENS` where it names none.
    """
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    completion = 0
    if isinstance(asked, dict):
        limit = _whole(asked.get("max_completion_tokens", asked.get("max_tokens")), DEFAULT_TOKENS)
        completion = limit * max(1, min(_whole(asked.get("n"), 1), MOST_CHOICES))
    return len(body) + IMAGE_TOKENS * body.count(b'"image_url":{'), completion


def _whole(value: Any, default: int) -> int:
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000
    return value if plausible else default


def used(exchange: Exchange, prices: Prices | None) -> Amount:
    """What an answer says it used; nothing where it has no usage."""
    reply = reply_of(exchange)
    if reply is None:
        return Amount()
    prompt, completion = reply.prompt_tokens or 0, reply.completion_tokens or 0
    return Amount(prompt + completion, prices.of(prompt, completion) if prices else 0.0)
