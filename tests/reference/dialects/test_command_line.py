"""`python -m reference_impl`: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import signal

import httpx
import pytest

from reference_impl.cli import main
from tests.reference.process import started


@pytest.mark.parametrize(("dialect", "model"), [("ark", "reference/tiny-random"), ("serenity-edge", "tiny-random")])
def test_it_says_where_it_listens_and_ends_on_a_signal(dialect: str, model: str) -> None:
    with started("--dialect", dialect, "--api-key-env", "A_KEY", A_KEY="right") as (url, process):
        body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        refused = httpx.post(f"{url}/chat/completions", json=body, timeout=30, trust_env=False)
        headers = {"authorization": "Bearer right"}
        answered = httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=30, trust_env=False)
        process.send_signal(signal.SIGTERM)
        status = process.wait(30)

    assert (refused.status_code, answered.status_code) == (401, 200)
    assert url.endswith("/api/v1" if dialect == "ark" else "/v1")
    assert status in (0, -signal.SIGTERM)


def test_a_fault_is_planted_for_every_request() -> None:
    with started("--dialect", "ark", "--fault", "done-missing") as (url, _):
        body = {"model": "reference/tiny-random", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
        for _ in range(2):
            reply = httpx.post(f"{url}/chat/completions", json={**body, "stream": True}, timeout=30, trust_env=False)
            assert "[DONE]" not in reply.text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "--dialect is needed"),
        (["--dialect", "nobody"], "invalid choice"),
        (["--dialect", "ark", "--api-key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["--dialect", "ark", "--fault", "nonsense"], "nonsense"),
        (["--dialect", "ark", "--model-path", "no-such-folder"], "no-such-folder"),
        (["--dialect", "ark", "--host", "203.0.113.7"], "cannot listen"),
    ],
)
def test_wrong_usage_is_status_2_with_a_reason(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
