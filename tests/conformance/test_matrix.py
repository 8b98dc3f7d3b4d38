"""Endpoints side by side: what each one does, where that says more than a verdict."""

import csv
import io

from conformance.reference import KEY_VARIABLE

CONFIG = """
[targets.right]
profile = "ark"
base_url = "{url}"
api_key_env = "{key}"

[targets.wrong]
profile = "ark"
base_url = "{url}"
api_key_env = "{key}"
headers = {{ X-Reference-Fault = "unknown-field-ignored/matrix" }}

[targets.strict]
profile = "ark"
base_url = "{url}"
api_key_env = "{key}"
headers = {{ X-Reference-Fault = "documented-value-refused/matrix" }}
"""


def test_ignoring_and_refusing_are_told_apart(cli, ark, tmp_path):
    text = CONFIG.format(url=ark.base_url, key=KEY_VARIABLE)
    (tmp_path / "conformance.toml").write_text(text, encoding="utf-8")
    names = ("request.unknown-field-is-400", "request.temperature.maximum")
    only = [word for name in names for word in ("--only", name)]
    assert cli("run", "--target", "right", "--out", "right", *only).returncode == 0
    assert cli("run", "--target", "wrong", "--out", "wrong", *only).returncode == 1
    assert cli("run", "--target", "strict", "--out", "strict", *only).returncode == 1
    table = cli("matrix", "--format", "csv", "right", "wrong", "strict")
    rows = {row[0]: row[3:6] for row in csv.reader(io.StringIO(table.stdout))}
    assert rows[names[0]] == ["kept", "silently ignored", "kept"]
    assert rows[names[1]] == ["kept", "kept", "refused"]
