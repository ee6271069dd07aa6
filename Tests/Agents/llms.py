#!/usr/bin/env python3
"""Follows Sources/Server/Documentation/llms.txt with the real program: every link answers 200, every command runs, every call is answered.

    llms.py --binary .build/release/entrupy-sim

The form is that of llmstxt.org: a title, a summary in a quotation, details without headings, then sections that are lists of links.
A command is a code span that begins with `entrupy-sim `, a call one that is a method, a path and perhaps a body. Commands run in
a namespace of their own. Exits with 1 if something is not as the file says.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support")]
from document import ROOT, problems, run, spans, steps  # noqa: E402
from simulator import Client, Simulator  # noqa: E402

FILE = ROOT / "Sources" / "Server" / "Documentation" / "llms.txt"
CALL = re.compile(r"(GET|PUT|POST|PATCH|DELETE) (/\S+)( \{.*\})?")
LINK = re.compile(r"\[[^\]]+\]\(([^)]*)\)")
#: The namespace in which the commands run.
NAMESPACE = "llms"


def form(text):
    """What is wrong with the form."""
    found, lines = [], text.split("\n")
    if not re.fullmatch(r"# \S.*", lines[0]):
        found.append("line 1: the file begins with a title (# NAME)")
    if not any(line.startswith("> ") for line in lines[1:4]):
        found.append("line 3: after the title comes the summary, a line that begins with >")
    is_list = False
    for number, line in enumerate(lines, 1):
        if number > 1 and re.match(r"#(?!# \S)", line):
            found.append(f"line {number}: the only other headings are of level 2, got {line!r}")
        if line.startswith("## "):
            is_list = True
        elif is_list and line and not re.match(r"- \[[^\]]+\]\(/[^)]*\)", line):
            found.append(f"line {number}: a section is a list of links to paths of the server, got {line!r}")
    if not is_list:
        found.append("the file has no section with links")
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--document", type=pathlib.Path, default=FILE, help=argparse.SUPPRESS)
    options = options.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    text = options.document.read_text(encoding="utf-8")
    name = options.document.name
    found = form(text)
    for variable in [variable for variable in os.environ if variable.startswith("ENTRUPY_SIM_")]:
        os.environ.pop(variable)
    server = Simulator(binary, "--in-memory")
    try:
        client = Client(server)
        client.must("PUT", f"/_sim/namespaces/{NAMESPACE}", {"clock": {"freeze": "2026-01-05T09:00:00Z"}})
        links = calls = 0
        for number, line in enumerate(text.split("\n"), 1):
            for path in LINK.findall(line):
                links += 1
                for prefix in ("", f"/ns/{NAMESPACE}"):
                    status, _ = client("GET", prefix + path)
                    if status != 200:
                        found.append(f"{name}:{number}: GET {prefix}{path} answers {status}")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "bin").mkdir()
            (folder / "bin" / "entrupy-sim").symlink_to(binary)
            todo = [step for step in steps(text) if step.text != "entrupy-sim"]
            # First what makes requests, then what the file expects of them, at the end what empties the namespace.
            order = {"capture run": 0, "requests verify": 1, "explain": 1, "reset": 3}
            todo.sort(key=lambda step: next((place for words, place in order.items() if words in step.text), 2))
            for step in todo:
                if step.text.startswith("entrupy-sim scenario verify"):
                    # No client has met the scenario: 1, as the file says.
                    step.text += " > verify.txt || { [ $? = 1 ] && grep -q ' failed' verify.txt; }"
            errors = run(todo, folder, {
                "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "ENTRUPY_SIM_URL": server.url, "ENTRUPY_SIM_NAMESPACE": NAMESPACE})
            found += problems(todo, name)
        # Rules of the commands above would decide these.
        client.must("POST", f"/ns/{NAMESPACE}/_sim/reset")
        token = client.must("POST", f"/ns/{NAMESPACE}/v2/integrations/authorize-user", {
            "sdk_authorization_request": "x", "unique_user_id": "sim-test-user", "email": "a@example.com"}, "demo-api-token")
        client.must("POST", f"/ns/{NAMESPACE}/sdk/login", {"signed_authorization_request": token["signed_authorization_request"]})
        # A call that is only named (`POST /sdk/login`) is one of the platform; those of tests are sent.
        listed = [(number, CALL.fullmatch(span)) for number, line in enumerate(text.split("\n"), 1) for span in spans(line)]
        verified_last = sorted((one for one in listed if one[1]), key=lambda one: one[1].group(2) == "/_sim/reset")
        for number, call in verified_last:
            method, path, body = call.groups()
            if not path.startswith("/_sim"):
                continue
            calls += 1
            if body:
                try:
                    body = json.loads(body)
                except ValueError as error:
                    found.append(f"{name}:{number}: the body of {method} {path} is not JSON: {error}")
                    continue
            prefix = "" if path.startswith("/_sim/namespaces") else f"/ns/{NAMESPACE}"
            status, answer = client(method, prefix + path, body)
            if not 200 <= status < 300:
                found.append(f"{name}:{number}: {method} {path} answers {status}: {answer[:300]!r}")
    finally:
        server.stop()
    if found:
        print("\n".join(found))
        if errors:
            print(f"what was printed on standard error:\n{errors[-2500:]}")
        return 1
    print(f"llms.txt: {links} links, {len(todo)} commands and {calls} calls do what it says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
