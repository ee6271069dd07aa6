#!/usr/bin/env python3
"""Runs the walk-through of docs/walk-through.md, docs/backend.md and docs/components.md against a fresh server and compares every answer, ids and times aside.

    walk.py --binary .build/release/entrupy-sim [--update]

Each `sh` block between the documents' walk-through comments is one step, in one shell. Its output is compared with
demo/expected/NN.json. `--update` writes those files anew. A `json` block after a step shows a part of its last answer; it must be in it.

The documents' function `show` cuts long answers. Here it passes them on, so that whole answers are compared. A `text` block after a step
is what the documents' own `show` prints of its last answer, with … for what differs.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import Simulator  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
DOCUMENTS = ["docs/walk-through.md", "docs/backend.md", "docs/components.md"]
MARK = "@@ step "
# Where the documents' receiver listens.
RECEIVER_PORT = "9000"


def blocks():
    """The steps in order: each is a shell block, and what the document shows of its answer: a JSON value, text, or None."""
    steps = []
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        part = text.split("<!-- walk-through", 1)[1].split("<!-- end of walk-through -->", 1)[0]
        for language, block in re.findall(r"```(\w+)\n(.*?)```", part, re.S):
            if language == "sh":
                steps.append([block, None])
            elif language == "json":
                steps[-1][1] = json.loads(block)
            elif language == "text":
                steps[-1][1] = block
            elif block != (HERE / "receiver.py").read_text(encoding="utf-8"):
                sys.exit(f"the receiver in {document} is not demo/receiver.py")
    return steps


def is_like(shown, found):
    """Whether a text is as shown, where … stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), found, re.S) is not None


def is_shown(steps, number, answer):
    """Whether a step's last answer is what the document shows of it."""
    step, shown = steps[number]
    if not isinstance(shown, str):
        return shown is None or is_part(shown, json.loads(answer))
    names = re.findall(r"\| show ('[^']*')", step)[-1]
    printed = subprocess.run(
        ["bash", "-c", f"{steps[0][0]}\nshow {names}"], input=answer, stdout=subprocess.PIPE, text=True, timeout=10, check=True)
    found, expected = printed.stdout.splitlines(), shown.splitlines()
    return len(found) == len(expected) and all(map(is_like, expected, found))


def is_part(shown, found):
    """Whether a shown value is in an answer: members may be left out, lists may be cut, and … stands for anything."""
    if isinstance(shown, dict):
        return isinstance(found, dict) and all(key in found and is_part(value, found[key]) for key, value in shown.items())
    if isinstance(shown, list):
        return isinstance(found, list) and len(shown) <= len(found) and all(map(is_part, shown, found))
    if isinstance(shown, str) and "…" in shown:
        return is_like(shown, str(found))
    return shown == found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run(steps, url):
    """What each step printed."""
    # A test that starts this may have blocked signals on its thread, and the shell could then not end the receiver.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    script = ["set -eu", "trap 'kill ${RECEIVER:-} 2>/dev/null || true' EXIT"]
    port = free_port()
    for number, step in enumerate(steps):
        script += [f"echo; echo '{MARK}{number}'", step.replace("http://127.0.0.1:8642", url).replace(RECEIVER_PORT, port)]
        if number == 0:
            script.append("show() { cat; }")
    # The documents prefer a server that the caller's environment names.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ENTRUPY_SIM_")}
    shell = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    parts = re.split(rf"\n?{MARK}\d+\n", shell.stdout)
    return parts[1:]


def settled(value, url):
    """A JSON value with everything replaced that differs from run to run: ids, tokens, times, the port."""
    if isinstance(value, dict):
        return {key: settled(member, url) for key, member in value.items()}
    if isinstance(value, list):
        return [settled(member, url) for member in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 1e9 < value < 1e11:
        return "<epoch>"
    if isinstance(value, str):
        value = value.replace(url, "<base>")
        value = re.sub(r"^eyJ[\w-]+\.[\w-]+\.[\w-]+$", "<signed request>", value)
        value = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", "<time>", value)
        value = re.sub(r"^sdk_[a-z2-7]{52}$", "<session token>", value)
        value = re.sub(r"^http://127.0.0.1:\d+/hooks$", "<receiver>", value)
        value = re.sub(r"^wh_[a-z2-7]{20}$", "<webhook id>", value)
        value = re.sub(r"^cap_[a-z2-7]{20}$", "<capture id>", value)
        value = re.sub(r"^[A-Z2-7]{16}$", "<entrupy id>", value)
        value = re.sub(r"(^|/certificates/)[a-z2-7]{20}\b", r"\1<certificate id>", value)
    return value


def readable(output, url):
    """What a step printed, as text to compare: each line a JSON document."""
    documents = [settled(json.loads(line), url) for line in output.splitlines() if line.strip()]
    return "\n".join(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) for document in documents) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--update", action="store_true")
    options = options.parse_args()
    steps = blocks()
    server = Simulator(options.binary, "--in-memory", "--random-seed", "8642")
    url = server.url
    try:
        outputs = run([block for block, _ in steps], url)
    finally:
        server.stop()
    failures = 0
    for number, output in enumerate(outputs):
        file = HERE / "expected" / f"{number:02}.json"
        found = readable(output, url)
        if options.update:
            file.parent.mkdir(exist_ok=True)
            file.write_text(found, encoding="utf-8")
            continue
        expected = file.read_text(encoding="utf-8") if file.exists() else ""
        if not is_shown(steps, number, (output.strip().splitlines() or [""])[-1]):
            failures += 1
            print(f"step {number} answers something else than the document shows: {output.strip()[:2000]}")
        elif found != expected:
            failures += 1
            print(f"step {number} answers something else than {file.relative_to(ROOT)}:")
            print("".join(difflib.unified_diff(
                expected.splitlines(True), found.splitlines(True), "expected", "answered")))
    if len(outputs) != len(steps):
        failures += 1
        print(f"{len(outputs)} of {len(steps)} steps ran")
    print(f"walk-through: {len(steps) - failures} of {len(steps)} steps as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
