"""A vendor added by someone who has read only spec/README.md: the reference is certified against it."""

import json

from conformance.reference import KEY_VARIABLE
from tests.spec.readme_vendor import write_brook


def test_the_reference_keeps_a_small_made_up_document(cli, serenity_edge, tmp_path):
    folder = write_brook(tmp_path / "specs")
    checked = cli("spec", "check", folder)
    assert checked.returncode == 0, checked.stdout
    done = cli(
        "run", "--spec-dir", tmp_path / "specs", "--profile", "brook", "--base-url", serenity_edge.base_url,
        "--api-key-env", KEY_VARIABLE, "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert record["profile"] == "brook"
    verdicts = {row["id"]: row["verdict"] for row in record["requirements"]}
    assert verdicts["stream.ends-with-done"] == "pass"
    assert verdicts["request.temperature.maximum"] == "pass"
    assert "fail" not in verdicts.values()
    assert not any(name.startswith("tools.") for name in verdicts)


def test_a_folder_with_a_mistake_is_told_what_to_do(cli, tmp_path):
    folder = write_brook(tmp_path / "specs")
    promises = folder / "promises.yaml"
    text = promises.read_text(encoding="utf-8")
    promises.write_text(text.replace("requirement: response.id-is-unique", "requirement: response.id-is-uniqe"))
    checked = cli("spec", "check", folder)
    assert checked.returncode == 4
    assert "promises.yaml" in checked.stdout
    assert "response.id-is-unique" in checked.stdout
