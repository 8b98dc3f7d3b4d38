"""A signed statement about a run, and its verification.

The statement is an in-toto Statement v1 with the test-result predicate v0.1
(https://github.com/in-toto/attestation, spec/v1/statement.md and spec/predicates/test-result.md), in a DSSE
envelope signed with an Ed25519 key. Its subjects are the digests of the run's files.

It says that the holder of the key vouches for these files. That the files are the suite's honest judgement of
the recorded traffic is what `rejudge` checks; that the traffic came from the endpoint named is the signer's word.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.fingerprints import digest, line_marks, named_lines, part_marks, sha256_hex
from reports.optional import needed
from reports.record import CASES, EXCHANGES, RESULTS, RecordError, Run, load_run, write_atomically
from reports.text_safety import for_terminal

if TYPE_CHECKING:
    from securesystemslib.signer._crypto_signer import CryptoSigner
    from securesystemslib.signer._key import SSlibKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
FILES = (RESULTS, EXCHANGES, CASES)

# Requirement id -> verdict, from judging the recorded exchanges again.
Rejudge = Callable[[Run], Mapping[str, str]]


class CertificateError(ValueError):
    """A run that cannot be certified, or a certificate or key that cannot be read; the message says why."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found. `problems` are sentences that name what does not hold; none means it holds."""

    statement: Mapping[str, Any]
    problems: list[str] = field(default_factory=list)
    rejudged: bool = False

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return not self.problems


def keygen(private: str | Path, public: str | Path) -> None:
    """Make an Ed25519 key pair: the private key (PKCS #8 PEM, readable by its owner only) and the public one.

    Raises CertificateError where the private key's file exists already.
    """
    serialization = needed("cryptography.hazmat.primitives.serialization", "certify")
    key = needed("cryptography.hazmat.primitives.asymmetric.ed25519", "certify").Ed25519PrivateKey.generate()
    try:
        handle = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CertificateError(f"{private} exists already, and a key is never overwritten") from None
    with os.fdopen(handle, "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    spoken = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    write_atomically(Path(public), spoken.decode())


def certify(run: Run | str | Path, key: str | Path, out: str | Path | None = None) -> Path:
    """Sign a complete run with the private key file; returns the certificate (`certificate.json` in the run).

    Raises CertificateError for a run that is incomplete, partial or waived, RecordError for a broken record.
    """
    loaded = run if isinstance(run, Run) else load_run(run)
    if why := refusal(loaded):
        raise CertificateError(f"this run cannot be certified: {why}")
    dsse = needed("securesystemslib.dsse", "certify")
    payload = json.dumps(statement(loaded), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    envelope = dsse.Envelope(payload.encode("utf-8", "backslashreplace"), PAYLOAD_TYPE, {})
    envelope.sign(_signer(Path(key)))
    path = Path(out) if out is not None else loaded.directory / "certificate.json"
    write_atomically(path, json.dumps(envelope.to_dict(), indent=1) + "\n")
    return path


def refusal(run: Run) -> str:
    """Why a run cannot be certified, in a clause; empty if it can."""
    results = run.results
    counts = results["counts"]
    if results["verdict"] == "incomplete":
        return f"it is incomplete ({results['reason']})"
    if results.get("only"):
        return f"it judged only a selection ({', '.join(results['only'])})"
    if results.get("waivers") or counts["waived"]:
        return f"waivers were in force ({counts['waived']} requirements waived)"
    if counts["error"]:
        return f"the suite itself failed on {counts['error']} requirements"
    if results["exit_status"] not in (0, 1):
        return f"it ended with status {results['exit_status']}"
    if run.unfinished or not (run.directory / EXCHANGES).is_file():
        return f"{EXCHANGES} is missing or its last line was cut off"
    used: set[str] = set()
    for exchange in run.exchanges():
        if exchange.id in used:
            return f"two exchanges have the id {exchange.id}, so that its evidence is not unambiguous"
        used.add(exchange.id)
    named = {id_ for row in run.requirements for violation in row["violations"] for id_ in violation["exchanges"]}
    if missing := sorted(named - used):
        return f"{EXCHANGES} lacks {missing[0]}, which is evidence of a violation"
    return ""


def statement(run: Run) -> dict[str, Any]:
    """The in-toto Statement about a run."""
    results = run.results
    present = [name for name in FILES if (run.directory / name).is_file()]
    names: dict[str, list[str]] = {"pass": [], "warn": [], "fail": []}
    for row in run.requirements:
        if row["scored"] and row["verdict"] in names:
            names[row["verdict"]].append(row["id"])
    failed = results["verdict"] == "non-conformant"
    policy = {name: results.get(name) for name in ("effort", "only", "seed", "waivers")}
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {
                "name": name,
                "digest": {"sha256": digest(run.directory / name)},
                "annotations": _marks(run.directory / name),
            }
            for name in present
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "FAILED" if failed else "WARNED" if names["warn"] else "PASSED",
            "configuration": [
                {
                    "name": "catalogue",
                    "digest": {"sha256": results["suite"]["catalogue_sha256"]},
                    "annotations": {"suite": results["suite"]["name"], "version": results["suite"]["version"]},
                },
                {
                    "name": "edition",
                    "digest": {"sha256": sha256_hex(sorted(row["id"] for row in run.requirements if row["scored"]))},
                    "annotations": {"profile": results["profile"], "edition": results["edition"]},
                },
                {"name": "policy", "digest": {"sha256": sha256_hex(policy)}, "annotations": policy},
                {
                    "name": "target",
                    "digest": {"sha256": sha256_hex(results["target"])},
                    "annotations": {
                        "base_url": results["target"]["base_url"],
                        "model": results["target"]["model"],
                        "started": results["started"],
                        "ended": results["ended"],
                    },
                },
            ],
            "passedTests": names["pass"],
            "warnedTests": names["warn"],
            "failedTests": names["fail"],
        },
    }


def _marks(path: Path) -> dict[str, Any]:
    return {"parts": part_marks(path)} if path.name == RESULTS else {"lines": line_marks(path)}


def verify(
    certificate: str | Path,
    public_key: str | Path,
    directory: str | Path | None = None,
    rejudge: Rejudge | None = None,
) -> Verification:
    """Check a certificate against a public key and the run's files (beside it, unless `directory` is given).

    With `rejudge` the recorded exchanges are judged again and every verdict is compared.
    Raises CertificateError where the certificate or the key cannot be read at all.
    """
    path = Path(certificate)
    folder = Path(directory) if directory is not None else path.parent
    signed = _opened(path, _public(Path(public_key)))
    if isinstance(signed, str):
        return Verification({}, [signed])
    problems = [problem for subject in signed["subject"] for problem in _altered(folder, subject)]
    rejudged = rejudge is not None and not problems
    if rejudge is not None and not problems:
        problems = _rejudged(folder, rejudge)
    # They quote the files, which whoever altered them wrote.
    return Verification(signed, [for_terminal(problem, 400) for problem in problems], rejudged)


def _opened(path: Path, key: SSlibKey) -> dict[str, Any] | str:
    """The statement inside the certificate, or why its signature does not hold."""
    dsse = needed("securesystemslib.dsse", "verify")
    failure = needed("securesystemslib.exceptions", "verify").VerificationError
    try:
        envelope = dsse.Envelope.from_dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CertificateError(f"{path}: not a DSSE envelope: {type(error).__name__}") from None
    except Exception as error:  # securesystemslib's FormatError has no narrower public base
        raise CertificateError(f"{path}: not a DSSE envelope: {error}") from None
    try:
        envelope.verify([key], threshold=1)
    except failure:
        return f"the signature of {path.name} is not that of this key: the statement was altered or signed by another"
    try:
        signed: dict[str, Any] = json.loads(envelope.payload)
        kind = (envelope.payload_type, signed["_type"], signed["predicateType"])
        if kind != (PAYLOAD_TYPE, STATEMENT_TYPE, PREDICATE_TYPE) or not signed["subject"]:
            return f"{path.name} is signed, but it is not a test-result statement"
        if {RESULTS, EXCHANGES} - {subject["name"] for subject in signed["subject"]}:
            return f"{path.name} is signed, but it does not cover {RESULTS} and {EXCHANGES}"
    except (ValueError, KeyError, TypeError):
        return f"{path.name} is signed, but its content is not an in-toto statement"
    return signed


def _altered(folder: Path, subject: Mapping[str, Any]) -> list[str]:
    """Sentences that name what differs in one file from what was signed."""
    name = subject["name"]
    if name not in FILES:
        return [f"the statement covers {name!r}, which is no file of a run"]
    path = folder / name
    if not path.is_file():
        return [f"{name} is missing"]
    if digest(path) == subject["digest"].get("sha256"):
        return []
    marks = subject.get("annotations") or {}
    if name == RESULTS:
        return [f"{name} was altered: {what}" for what in _changed_parts(path, marks.get("parts") or {})]
    return [f"{name} was altered: {what}" for what in named_lines(path, marks.get("lines") or "")]


def _changed_parts(path: Path, before: Mapping[str, str]) -> list[str]:
    try:
        now = part_marks(path)
    except ValueError:
        return ["it is no longer JSON"]
    changed = [name for name in before if name in now and now[name] != before[name]]
    gone = [f"{name} was removed" for name in before if name not in now]
    new = [f"{name} was added" for name in now if name not in before]
    return [*changed, *gone, *new] or ["only its formatting, which no member shows"]


def _rejudged(folder: Path, rejudge: Rejudge) -> list[str]:
    try:
        run = load_run(folder)
        verdicts = rejudge(run)
    except RecordError as error:
        return [str(error)]
    problems = []
    for row in run.requirements:
        again = verdicts.get(row["id"])
        if again != row["verdict"]:
            said = "no verdict" if again is None else again
            problems.append(f"{row['id']}: the record says {row['verdict']}, judging the exchanges again says {said}")
    return problems


def _signer(path: Path) -> CryptoSigner:
    signer = needed("securesystemslib.signer", "certify").CryptoSigner
    serialization = needed("cryptography.hazmat.primitives.serialization", "certify")
    ed25519 = needed("cryptography.hazmat.primitives.asymmetric.ed25519", "certify")
    try:
        private = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise CertificateError(f"{path}: not a private key without password in PEM: {error}") from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise CertificateError(f"{path}: not an Ed25519 key")
    made: CryptoSigner = signer(private)
    return made


def _public(path: Path) -> SSlibKey:
    key_class = needed("securesystemslib.signer", "verify").SSlibKey
    serialization = needed("cryptography.hazmat.primitives.serialization", "verify")
    try:
        public = serialization.load_pem_public_key(path.read_bytes())
        key: SSlibKey = key_class.from_crypto(public)
    except (OSError, ValueError, TypeError) as error:
        raise CertificateError(f"{path}: not a public key in PEM: {error}") from None
    return key
