"""Made-up records of proofs, as small as they can be with one of everything, or as large as they come."""

MESSAGE = {"verdict": "fail", "message": "the stream lacks its terminator", "violated": 3, "reproduced": "1/1"}


def requirement(id_, without="", level="must"):
    topic = id_.partition(".")[0]
    return {"id": id_, "title": f"What `{id_}` says.", "topic": topic, "level": level, "without": without}


def fault(id_, named, red=(), **changes):
    """A fault that turned red what it names and what is in `red`."""
    seen = dict.fromkeys((*named, *red), MESSAGE)
    return {
        "fault": id_, "sentence": f"The fault {id_} is planted.", "named": list(named), "red": seen, "missed": [],
        "unrelated": [], "errors": [], "requests": 7, "seconds": 1.5, "proven": True, "citations": [], "also": {},
        **changes,
    }  # fmt: skip


def proof(faults, requirements, complete=True, **changes):
    return {
        "schema": 1,
        "suite": {"name": "chat-completions-conformance", "version": "0.1.0", "catalogue_sha256": "5b" * 32},
        "profile": "synthetic", "edition": "2026-11", "ended": "2026-11-29T21:00:00Z",
        "command": "conformance prove --profile synthetic --out proof", "complete": complete,
        "whole": all(row["proven"] for row in faults), "seconds": 61.0, "unproven": [],
        "faults": faults, "requirements": requirements, **changes,
    }  # fmt: skip


def good_proof():
    """Everything was found, with a consequence and a citation; one requirement is untestable."""
    return proof(
        [
            fault("done-twice", ["stream.ends-with-done"], citations=["ray-project/ray#62246", "a forum"]),
            fault(
                "text-null", ["response.has-text", "stream.ends-with-done"], ["finish.once"],
                also={"finish.once": "What has no text has no end."},
            ),
            fault("end-twice", ["finish.once"]),
        ],
        [
            requirement("stream.ends-with-done"),
            requirement("response.has-text", level="should"),
            requirement("finish.once"),
            requirement("stream.is-not-stored", without="It cannot be seen from outside."),
        ],
    )  # fmt: skip


def bad_proof():
    """One fault was missed, one turned too much red, one broke the suite; one requirement has no fault."""
    record = good_proof()
    missed, too_much, broke = record["faults"]
    missed |= {"red": {}, "missed": missed["named"], "proven": False}
    too_much |= {"also": {}, "unrelated": ["finish.once"], "proven": False}
    broke |= {"errors": ["finish.once: ZeroDivisionError"], "proven": False}
    record["requirements"].append(requirement("usage.adds-up"))
    return record | {"whole": False, "unproven": ["usage.adds-up"]}


def large_proof(count=490):
    rows = [requirement(f"{topic}.promise-{number}") for number in range(count // 5) for topic in "abcde"]
    return proof([fault(f"wrong-{row['id']}", [row["id"]], [rows[0]["id"]], also={}) for row in rows], rows)


def attacked_proof(text):
    """One text stands in every string that is not an id of the catalogue."""
    record = bad_proof()
    for number, row in enumerate(record["faults"]):
        row |= {"fault": f"{text}{number}", "sentence": text, "citations": [text]}
        row["errors"] = [text for _ in row["errors"]]
        row["red"] = {name: {**MESSAGE, "message": text} for name in row["red"]}
    record["faults"][1] |= {"unrelated": [], "also": {"finish.once": text}}
    for row in record["requirements"]:
        row |= {"title": text, "without": text}
    return record | {"command": text, "profile": text, "edition": text}
