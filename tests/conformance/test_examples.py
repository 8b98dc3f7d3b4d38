"""What is handed out to be copied is valid: the action, the pipelines, the manifest, and what `init` writes."""

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from conformance.cli import cli as commands
from conformance.cli.trouble import guarded
from conformance.config import load_config
from conformance.config.file import config_schema

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
GITHUB = ROOT / "examples" / "github" / "conformance.yml"
GITLAB = ROOT / "examples" / "gitlab" / ".gitlab-ci.yml"
KUBERNETES = ROOT / "examples" / "kubernetes" / "job.yaml"
EVERY = [ACTION, GITHUB, GITLAB, KUBERNETES]

pytestmark = pytest.mark.skipif(not ACTION.exists(), reason="the examples are not part of an installed package")


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.name)
def test_every_option_that_an_example_uses_exists(path):
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    used = re.findall(r"conformance (run|merge|fleet)\b([^|\n]*(?:\\\n[^\n]*)*)", text)
    assert used
    for name, words in used:
        known = {option for parameter in commands.get_command(None, name).params for option in parameter.opts}
        assert set(re.findall(r"--[a-z][a-z-]*", words)) <= known
    run = {option for parameter in commands.get_command(None, "run").params for option in parameter.opts}
    assert set(re.findall(r"options(?:\+)?=\((--[a-z-]+)", text)) <= run


@pytest.mark.parametrize(
    ("path", "schema"),
    [(ACTION, "github-actions"), (GITHUB, "github-workflows"), (GITLAB, "gitlab-ci")],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_pipelines_are_what_their_engines_read(path, schema):
    pytest.importorskip("check_jsonschema", reason="brings the engines' schemas")
    known = json.loads((files("check_jsonschema.builtin_schemas") / "vendor" / f"{schema}.json").read_text("utf-8"))
    content = {str(name): value for name, value in yaml.safe_load(path.read_text(encoding="utf-8")).items()}
    if "True" in content:  # YAML 1.1 reads the key `on` as a truth value
        content["on"] = content.pop("True")
    errors = [error.message for error in jsonschema_rs.validator_for(known).iter_errors(content)]
    assert errors == []


def test_the_manifest_is_what_kubernetes_reads():
    validator = pytest.importorskip("kubernetes_validate", reason="brings the schemas of Kubernetes")
    job = yaml.safe_load(KUBERNETES.read_text(encoding="utf-8"))
    validator.validate(job, validator.latest_version(), strict=True)
    assert job["spec"]["completionMode"] == "Indexed"
    shell = job["spec"]["template"]["spec"]["containers"][0]["args"][0]
    assert f'--shard "$((JOB_COMPLETION_INDEX + 1))/{job["spec"]["completions"]}"' in shell


def test_the_action_hands_every_input_over_in_the_environment():
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input in a script could be a command"
    given = json.dumps([step.get("env", {}) for step in action["runs"]["steps"]])
    for name in action["inputs"]:
        assert f"inputs.{name} " in given + json.dumps(action["runs"]["steps"][-1]), name


def test_init_writes_a_file_that_holds_and_never_over_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert guarded(commands, ["init"]) == 0
    path = tmp_path / "conformance.toml"
    assert load_config(path, {})["targets"]["staging"]["api_key_env"] == "STAGING_API_KEY"
    path.write_text("mine", encoding="utf-8")
    assert guarded(commands, ["init"]) == 4
    assert path.read_text(encoding="utf-8") == "mine"
    assert guarded(commands, ["init", "--force"]) == 0
    assert "fill in the target" in capsys.readouterr().out
    everything = path.read_text(encoding="utf-8").replace("# ${NAME}", "## ${NAME}")
    everything = re.sub(r"^# (?=\[|[a-z_]+ = )", "", everything, flags=re.MULTILINE)
    loaded = tomllib.loads(everything)
    assert {"capabilities", "prices", "limits"} <= {*loaded["targets"]["staging"], *loaded["run"]}
    assert [error.message for error in jsonschema_rs.validator_for(config_schema()).iter_errors(loaded)] == []


def test_the_schema_of_the_settings_is_published_and_valid():
    assert config_schema()["$id"]
    jsonschema_rs.meta.validate(config_schema())
