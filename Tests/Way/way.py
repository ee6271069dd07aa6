#!/usr/bin/env python3
"""Walks a submit: finds the files that steer it, and compares them with the table in docs/architecture.md.

    way.py --binary .build/way/debug/entrupy-sim [--all]

The program is a build that counts how often each function runs. It runs twice, with 2 and with 10 submits of captures that are otherwise
alike: what ran eight times more is on the way of a submit. A file steers it if such a function hands on what it gets (a request, a part of
a connection, a job, a commit), or decides with the job that it is given. Files that are only asked, such as types, tables, texts and
statements, do not steer. --all prints every file that runs, with the reason why it steers.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Support"))
from simulator import Client, Simulator, log_in, picture  # noqa: E402

DOCUMENT = ROOT / "docs" / "architecture.md"
HEADING = "## The way of a submit"
ITEM = {"brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", "customer_item_id": "way"}
FEW, MANY = 2, 10

# Calls that hand something on: to the next responder or handler, to a route's endpoint, to a job's line, to a rule, to what sees a commit.
HANDS_ON = re.compile(
    r"\.respond\(to:|\.fireChannelRead\(|context\.write\(|\.answer\(|\b(?:run|runFirst)Job\(|mailbox\.post\(|\bturn\.run\b|\bjob\(|\bbody\(\)"
    r"|\.perform\(|\.committed\(")
# A parameter that is the job. A function that takes a function of a job is none.
HAS_JOB = re.compile(r"\bjob: JobContext\b")

# Code that steers, and as much that does not.
STEERS = [
    ("func respond(to request: IncomingRequest) async throws -> Answer", "{ try await inner.respond(to: request) }"),
    ("func channelRead(context: ChannelHandlerContext, data: NIOAny)", "{ context.fireChannelRead(data) }"),
    ("static func plan(_ item: inout ItemRecord, _ job: JobContext) throws", "{ item.status = .pending }"),
    ("func write(_ body: () throws -> Void) throws", "{ try body() }"),
    ("package func find(\n    _ id: String, of user: SDKUser, _ job: JobContext\n) throws -> CaptureRecord", "{ record }"),
]
DOES_NOT_STEER = [
    ("func response() -> Response", "{ Response(status: .ok) } // then respond(to:) sends it"),
    ("var isReady: Bool", "{ state.withLockedValue { $0 } }"),
    ("func endpoint(_ method: HTTPRequest.Method) -> Endpoint?", "{ endpoints.first { $0.method == method } }"),
    ("static func first(where matches: (JobContext) -> Bool)", "{ nil }"),
    ("mutating func append(_ jobs: [Job])", "{ waiting += jobs }"),
]


def reason(declaration, body):
    """Why code steers; None if it does not."""
    if HAS_JOB.search(declaration):
        return "decides with the job"
    found = HANDS_ON.search("\n".join(line.split("//")[0] for line in body.split("\n")))
    return f"hands on: {found.group(0)}" if found else None


def declaration(lines, start):
    """The lines of a function's declaration, which ends where its body begins. `start` is that line, from 0."""
    first = start
    while first > max(0, start - 12) and not re.search(r"\b(func|init|subscript|var|get|set)\b", lines[first]):
        first -= 1
    return "\n".join(lines[first:start + 1])


def tool(name):
    """A tool of the compiler's own LLVM: its counts have a form that others may not read."""
    beside = pathlib.Path(shutil.which("swift") or "swift").resolve().parent / name
    return str(beside) if beside.exists() else name


def submits(binary, number, folder):
    """The functions of our sources after a number of submits: counts, by file, name, and the first and last line of the body."""
    raw, merged = folder / f"{number}.profraw", folder / f"{number}.profdata"
    server = Simulator(
        str(binary), "--random-seed", "7", "--rate-limits", "off", "--log-level", "warning", "--data-dir", str(folder / f"data{number}"),
        environment={"LLVM_PROFILE_FILE": str(raw)})
    client = Client(server)
    token = log_in(client, "sim-test-user")
    captures = []
    for _ in range(MANY):
        capture = client.must("POST", "/sdk/captures", {"config_type": "debug", "item": ITEM}, token)
        for step in capture["steps"]:
            client.must("PUT", f"/sdk/captures/{capture['capture_id']}/images/{step['region_id']}", picture(), token)
        captures.append(capture["capture_id"])
    for capture in captures[:number]:
        client.must("POST", f"/sdk/captures/{capture}/submit", None, token)
    client.close()
    server.stop()
    subprocess.run([tool("llvm-profdata"), "merge", "-o", merged, raw], check=True)
    exported = subprocess.run(
        [tool("llvm-cov"), "export", "--skip-expansions", f"--instr-profile={merged}", binary, ROOT / "Sources"],
        check=True, stdout=subprocess.PIPE)
    counts = collections.Counter()
    for function in json.loads(exported.stdout)["data"][0]["functions"]:
        region = function["regions"][0]
        counts[function["filenames"][0], function["name"], region[0], region[2]] += function["count"]
    return counts


def walked(binary):
    """The files that run in each submit, with the reasons why they steer."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (submits(binary, number, pathlib.Path(folder)) for number in (FEW, MANY))
    files = {}
    for function, count in many.items():
        path, _, first, last = function
        name = path.removeprefix(f"{ROOT}/Sources/")
        if name == path or count - few[function] < MANY - FEW:
            continue
        lines = pathlib.Path(path).read_text().split("\n")
        why = reason(declaration(lines, first - 1), "\n".join(lines[first - 1:last]))
        files.setdefault(name, set())
        if why:
            files[name].add(why)
    return files


def drawn():
    """The files of the table."""
    part = DOCUMENT.read_text().split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `([^`]+\.swift)` \|", part, re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    for cases, expected in ((STEERS, True), (DOES_NOT_STEER, False)):
        for case in cases:
            if (reason(*case) is not None) != expected:
                sys.exit(f"wrong: {case[0]} {'does not steer' if expected else 'steers'}")
    files = walked(arguments.binary.resolve())
    steering = {name for name, reasons in files.items() if reasons}
    if arguments.all:
        for name, reasons in sorted(files.items()):
            print(f"{name}: {', '.join(sorted(reasons)) or 'is asked'}")
    table = drawn()
    problems = [f"steers a submit and is not in the table: {name} ({', '.join(sorted(files[name]))})" for name in sorted(steering - set(table))]
    problems += [f"is in the table and does not steer a submit: {name}" for name in table if name not in steering]
    print(f"{len(files)} files run in each submit; {len(steering)} of them steer it")
    for problem in problems:
        print(f"{DOCUMENT.relative_to(ROOT)}: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
