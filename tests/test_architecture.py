"""Imports go one way: conformance -> reports -> spec; spec and the reference know nobody."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "spec": set(),
    "reports": {"spec"},
    "conformance": {"spec", "reports"},
    "reference_impl": set(),
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            words = [word.value for word in node.args if isinstance(word, ast.Constant)]
            names |= {word.partition(".")[0] for word in words if isinstance(word, str)}
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_follow_the_arrows(package):
    allowed = MAY_IMPORT[package] | {package}
    files = sorted((ROOT / package).rglob("*.py"))
    assert files, f"{package} has no code"
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported(path) & (set(MAY_IMPORT) | {"tests"}) - allowed
    }
    assert not wrong


def test_vendors_are_data_and_never_named_in_the_suite_s_code():
    """A law, a probe or a report never mentions a vendor."""
    folders = [ROOT / "conformance" / "laws", ROOT / "conformance" / "probes", ROOT / "reports"]
    wrong = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docstrings = {
                ast.get_docstring(node, clean=False)
                for node in ast.walk(tree)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
                    words = node.value.lower()
                    if "serenity" in words or words in ("ark", "srn"):
                        wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.value[:60]!r}")
    assert not wrong


def test_the_project_speaks_of_itself_alone():
    """No absolute path of the machine that this runs on in anything that is shipped."""
    banned = [f"{folder}/" for folder in (ROOT, Path.home()) if folder != Path("/")]
    wrong = []
    for package in (*MAY_IMPORT, "tests"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in (".py", ".yaml", ".toml", ".md", ".j2", ".css", ".js") and path != Path(__file__):
                text = path.read_text(encoding="utf-8")
                wrong += [f"{path.relative_to(ROOT)}: {word}" for word in banned if word in text]
    assert not wrong
