"""A run in which one text stands in every string that an endpoint, or whoever runs the suite, can choose."""

import json

import reports
from reports.synthetic import write_run


def attacked_run(directory, text):
    """Write such a run; returns its directory."""
    write_run(directory, exchanges=6, failures=4, requirements=24)
    results = json.loads((directory / "results.json").read_text())
    results |= {"reason": text, "notes": [text], "command": text, "waivers": []}
    results["target"] |= {"base_url": text, "model": text, "models": {"vision": text}}
    for row in results["requirements"]:
        row |= {"title": text, "where": text, "because": text, "why": text, "proven_by": [text] * 9}
        for violation in row["violations"]:
            violation |= {
                "message": text, "expected": "unlike 1234567890", "observed": text, "curl": text,
                "exchanges": ["x0001"],
                "diagnosis": [{"fault": text, "sentence": text, "agreement": text, "citations": [text]}],
                "breaks_clients": [{"client": text, "version": text, "uses": [text], "effect": text}],
            }  # fmt: skip
    reports.write_results(directory, results)
    lines = [json.loads(line) for line in (directory / "exchanges.jsonl").read_text().splitlines()]
    for line in lines:
        line["probe"] = line["problem"] = line["response"]["reason"] = text
        line["response"] |= {"headers": [[text, text]], "body": text, "events": [[0.1, 0, 4], [0.2, 4, 8]]}
    (directory / "exchanges.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return directory
