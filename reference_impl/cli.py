"""The command line of the reference: `python -m reference_impl --dialect ark|serenity-edge`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from reference_impl.faults.planting import HEADER, always, as_asked
from reference_impl.faults.registry import UnknownFault, catalogue

DIALECTS = ("ark", "serenity-edge")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (2 for wrong usage)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, stream=sys.stderr)
    if options.list_faults:
        _list_faults(as_json=options.json)
        return 0
    if options.dialect is None:
        parser.error("--dialect is needed")
    key = None
    if options.api_key_env is not None:
        key = os.environ.get(options.api_key_env)
        if not key:
            parser.error(f"the environment variable {options.api_key_env} is empty or not set")
    if options.tensor_parallel > 1 and "RANK" not in os.environ:
        _start_processes(options.tensor_parallel, sys.argv[1:] if arguments is None else arguments)
    if options.stop_at_eof:
        threading.Thread(target=_stop_at_eof, daemon=True).start()
    # imported late: torch takes a second, and neither --help nor --list-faults needs it
    from reference_impl.serving import CannotServe, Settings, run

    try:
        run(
            Settings(
                dialect=options.dialect,
                host=options.host,
                port=options.port,
                api_key=key,
                model_path=options.model_path,
                device=options.device,
                allow_induce=options.allow_induce,
                allow_fetch=options.allow_fetch,
                planted=as_asked(options.dialect) if options.fault_header else always(options.fault, options.dialect),
                token_delay=options.token_delay_ms / 1000,
                tokens_per_chunk=options.tokens_per_chunk,
                threads=options.threads,
                shared=options.tensor_parallel > 1,
            )
        )
    except (CannotServe, UnknownFault) as problem:
        parser.error(str(problem))
    return 0


def _stop_at_eof() -> None:
    """Whoever started this process is gone, however it ended: nobody needs the server any more."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reference_impl",
        description="An endpoint that keeps every promise of a vendor's document, and on request breaks one.",
    )
    parser.add_argument("--dialect", choices=DIALECTS, help="whose document to keep")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default)")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable with the key to ask for")
    parser.add_argument("--model-path", default="tiny-chat", metavar="DIR|tiny-chat|tiny-random")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--allow-induce", action="store_true", help="obey the header X-Conformance-Induce")
    parser.add_argument("--allow-fetch", action="store_true", help="fetch https images (ARK)")
    parser.add_argument("--fault", action="append", default=[], metavar="ID", help="break one promise")
    parser.add_argument("--fault-header", action="store_true", help=f"obey the header {HEADER}: ID (for proofs)")
    parser.add_argument("--token-delay-ms", type=float, default=0.0, metavar="N", help="stream slowly")
    parser.add_argument("--tokens-per-chunk", type=_positive, default=1, metavar="N", help="stream in larger pieces")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch on a CPU")
    parser.add_argument(
        "--tensor-parallel", type=int, default=1, metavar="N", help="share the model between N processes"
    )
    parser.add_argument("--stop-at-eof", action="store_true", help="stop when standard input is closed")
    parser.add_argument("--list-faults", action="store_true", help="list the faults and exit")
    parser.add_argument("--json", action="store_true", help="with --list-faults: as JSON")
    parser.add_argument("--verbose", action="store_true", help="log every request")
    return parser


def _start_processes(count: int, arguments: Sequence[str]) -> NoReturn:
    """Become torchrun, which starts this command once for every share of the model."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    command = [sys.executable, *launcher, "-m", "reference_impl", *arguments]
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, no shell


def _list_faults(*, as_json: bool) -> None:
    if as_json:
        print(json.dumps([fault.as_dict() for fault in catalogue()], indent=2, ensure_ascii=False))
        return
    for fault in catalogue():
        print(f"{fault.id}\n    {fault.sentence}")
