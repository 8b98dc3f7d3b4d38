"""`conformance init`: a settings file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.config.file import CONFIG

TEMPLATE = """\
# Settings of `conformance run` in this folder. Command line beats environment beats this file.
# ${NAME} in a string is replaced from the environment. Keys never stand here, only the variable's name.

[targets.staging]
profile = "serenity-edge"          # or ark, portable, or a vendor folder of your own
base_url = "https://staging.example/v1"
# model = "your-model"             # default: the first that GET models lists
api_key_env = "STAGING_API_KEY"
# requests_per_minute = 60
# induce = true                    # the endpoint supports the X-Conformance-Induce header

# [targets.staging.capabilities]   # declared and not served is a failure; declared false is not applicable
# vision = true
# reasoning = true

# [targets.staging.prices]         # money for a million tokens: shown by plan, capped by --max-cost
# prompt = 0.5
# completion = 1.5
# currency = "EUR"

# [targets.staging.run]            # over [run], for this target
# max_requests = 500
# max_cost = 2.0

[run]
effort = "standard"
# workers = 2
# timeout = 120                    # seconds for one exchange
# waivers = "waivers.toml"

# [run.limits]                     # bounds of one exchange: see docs/operations.md
# first_byte_s = 60
# body_bytes = 16777216

[policy]
level = "must"                     # should: a should counts as a must
# required_topics = ["tools"]      # nothing passed there: not enough
# max_inconclusive_musts = 2       # so many open ends are let through

# [[policy.rates]]                 # lets through what is broken now and then, if so seldom: docs/operations.md
# requirements = "stream.*"
# max_violation_rate = 0.01
# confidence = 0.95
# min_observations = 300
"""


@click.command("init")
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(force: bool) -> None:
    """Write a conformance.toml with every setting explained."""
    path = Path(CONFIG)
    if path.exists() and not force:
        raise click.UsageError(f"{path} is there already (see --force)")
    path.write_text(TEMPLATE, encoding="utf-8")
    click.echo(f"wrote {path}: fill in the target, then: conformance run --target staging")
