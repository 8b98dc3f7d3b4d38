"""Command line: ``python -m reference_impl.training --minutes N --out DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from reference_impl.training.together import work_together
from reference_impl.training.train import Settings, train


def main() -> None:
    """Train tiny-chat."""
    parser = argparse.ArgumentParser(prog="python -m reference_impl.training", description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=45.0, help="length of the run (default 45)")
    parser.add_argument("--seeing-minutes", type=float, default=6.0, help="lessons in seeing before that (default 6)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights, tokenizer and configuration")
    parser.add_argument("--seed", type=int, default=1, help="of weights, dialogues and their order (default 1)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default cpu)")
    parser.add_argument("--processes", type=int, default=1, help="that share the work, on a CPU (default 1)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each process (default 1)")
    parser.add_argument("--batch-tokens", type=int, help="tokens per step and process (default 3072, on CUDA 32768)")
    parser.add_argument("--no-compile", action="store_true", help="do without torch.compile (about 3 times slower)")
    parser.add_argument("--start", type=Path, help="folder of an earlier run to go on from; use another --seed")
    chosen = parser.parse_args()
    if chosen.processes > 1 and chosen.device != "cpu":
        parser.error("--processes is for a CPU")
    settings = Settings(
        minutes=chosen.minutes,
        seeing_minutes=chosen.seeing_minutes,
        out=chosen.out,
        seed=chosen.seed,
        device=chosen.device,
        batch_tokens=chosen.batch_tokens or (3072 if chosen.device == "cpu" else 32768),
        start=chosen.start,
        compiled=not chosen.no_compile,
    )
    if chosen.processes > 1:
        work_together(chosen.processes, chosen.threads, train, settings)
    else:
        torch.set_num_threads(chosen.threads)
        train(settings)


if __name__ == "__main__":
    main()
