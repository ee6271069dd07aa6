#!/usr/bin/env python3
"""Counts the processor's instructions for a request, route by route, in one or two release binaries.

    instructions.py [--before OLD] --after NEW [--requests 300] [--items 2000] [--routes search] [--keep FOLDER] [--check | --record]

Rates of one binary differ by a tenth from run to run. Instructions repeat to a part in a hundred, also on a busy machine. Each server runs
under callgrind, with one client on one connection, so that jobs share no transaction: what is saved by sharing does not show here.
--keep leaves callgrind's files in a folder, for `callgrind_annotate --inclusive=yes FILE`.

--check compares with instructions.json, which has what a request of each route took for each version of Swift: another compiler makes other
code. It fails if a route that reads takes 2 % more, or one that writes 3 %. --record writes the file's figures for this version of Swift.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import API_TOKEN, Client, Simulator, log_in, picture  # noqa: E402

LEDGER = pathlib.Path(__file__).with_name("instructions.json")
# The routes that write. The rest may take 2 % more.
WRITES = {"capture start", "upload of 200 kB"}
# The number of parts in which the requests of a route are counted. The least expensive one is taken.
PARTS = 6
READ_LIMIT, WRITE_LIMIT = 1.02, 1.03

ITEM = {"brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", "customer_item_id": "bench"}
SEARCH = {"limit": 25, "filters": [
    {"key": "properties.brand.id", "value": "nike"}, {"key": "status.result.id", "value": "authentic"}]}


class Counted:
    """A server under callgrind, and its routes."""

    def __init__(self, binary, folder, items):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "data", ignore_errors=True)
        wrapper = folder / "server"
        # Valgrind cannot read the debug information of this toolchain. The names of functions stay.
        program = folder / "program"
        subprocess.run(["strip", "--strip-debug", "-o", program, binary], check=True)
        wrapper.write_text(
            f"#!/bin/sh\nexec valgrind --quiet --tool=callgrind --instr-atstart=no --separate-threads=no "
            f"--callgrind-out-file={folder}/out {program} \"$@\"\n")
        wrapper.chmod(0o755)
        self.server = Simulator(
            str(wrapper), "--random-seed", "7", "--rate-limits", "off", "--log-level", "warning",
            "--data-dir", str(folder / "data"))
        self.client = Client(self.server)
        made = self.client.must("POST", "/_sim/authentications", {
            "count": items, "template": {"brand": "Nike", "style_name": "AJ1", "customer_item_id": "n-{n}"}})
        self.item = made["entrupy_ids"][0]
        self.token = log_in(self.client, "sim-test-user")
        capture = self.client.must("POST", "/sdk/captures", {"config_type": "debug", "item": ITEM}, self.token)
        self.image = f"/sdk/captures/{capture['capture_id']}/images/{capture['steps'][0]['region_id']}"
        self.dumps = 0

    def routes(self):
        """The method, path, body and token of each route's request. A request may be repeated."""
        partner = f"/authentications/{self.item}"
        return {
            "plain text": ("GET", "/_sim/ping", None, None),
            "clock": ("GET", "/_sim/clock", None, None),
            "session": ("GET", "/sdk/session", None, self.token),
            "configuration": ("GET", "/sdk/config", None, self.token),
            "result by id": ("GET", f"/sdk/results/{self.item}", None, self.token),
            "search of 25": ("POST", "/sdk/search", SEARCH, self.token),
            "item by id, v1": ("GET", "/v1" + partner, None, API_TOKEN),
            "item by id, v2": ("GET", "/v2" + partner, None, API_TOKEN),
            "lookup, v2": ("GET", "/v2/lookup/authentications/n-7", None, API_TOKEN),
            "search of 25, v1": ("POST", "/v1/search/authentications", SEARCH, API_TOKEN),
            "search of 25, v2": ("POST", "/v2/search/authentications", SEARCH, API_TOKEN),
            "capture start": ("POST", "/sdk/captures", {"config_type": "debug", "item": ITEM}, self.token),
            "upload of 200 kB": ("PUT", self.image, picture(size=200_000), self.token),
        }

    def count(self, name, requests):
        """The instructions for one request."""
        method, path, body, token = self.routes()[name]
        headers = {"Api-Version": "1.4"} | ({"Authorization": f"Token {token}"} if token else {})
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "image/jpeg" if isinstance(body, bytes) else "application/json"

        def ask(times):
            for _ in range(times):
                self.client.connection.request(method, path, data, headers)
                answer = self.client.connection.getresponse()
                text = answer.read()
                if answer.status >= 300:
                    raise SystemExit(f"{name}: {answer.status} {text[:300]!r}")

        ask(max(20, requests // 5))
        self.control("--instr=on")
        ask(5)
        # What the server does now and then, such as a checkpoint of the database or the file of coverage, falls into some of the parts.
        counts = [self.part(name, ask, max(1, requests // PARTS)) for _ in range(PARTS)]
        self.control("--instr=off")
        return min(counts)

    def part(self, name, ask, requests):
        self.control("--zero")
        ask(requests)
        self.control(f"--dump={name}")
        self.dumps += 1
        dump = self.folder / f"out.{self.dumps}"
        total = int(re.search(r"^(?:summary|totals): (\d+)", dump.read_text(errors="replace"), re.M).group(1))
        dump.rename(self.folder / (re.sub(r"\W+", "-", name) + ".callgrind"))
        return total / requests

    def control(self, command):
        subprocess.run(
            ["callgrind_control", command, str(self.server.process.pid)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def stop(self):
        self.server.kill()


def swift_version():
    """The version of the compiler that makes the program, for instance `6.3`."""
    text = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Swift version (\d+\.\d+)", text)
    if not found:
        raise SystemExit(f"error: swift --version names no version: {text.strip()}")
    return found.group(1)


def read_ledger(path=LEDGER):
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def over_limit(counts, recorded):
    """What is wrong with some counts: routes that take too much, and routes without a limit, or limits without a route."""
    problems = []
    for route in sorted(counts.keys() | recorded.keys()):
        if route not in counts or route not in recorded:
            problems.append(f"{route}: {'not measured' if route in recorded else 'not in instructions.json'}")
            continue
        limit = recorded[route] * (WRITE_LIMIT if route in WRITES else READ_LIMIT)
        if counts[route] > limit:
            problems.append(
                f"{route}: {counts[route]:,.0f} instructions, {counts[route] / recorded[route]:.3f} of the recorded "
                f"{recorded[route]:,}; at most {limit:,.0f}")
    return problems


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--before")
    arguments.add_argument("--after", required=True)
    arguments.add_argument("--requests", type=int, default=300)
    arguments.add_argument("--items", type=int, default=2000)
    arguments.add_argument("--routes", help="a part of the names of the routes, for some of them")
    arguments.add_argument("--keep", type=pathlib.Path)
    task = arguments.add_mutually_exclusive_group()
    task.add_argument("--check", action="store_true", help="fail if a route takes more than instructions.json allows")
    task.add_argument("--record", action="store_true", help="write instructions.json's figures for this version of Swift")
    given = arguments.parse_args()
    if (given.check or given.record) and given.routes:
        arguments.error("--check and --record measure all routes; leave --routes out")
    version = swift_version() if given.check or given.record else None
    ledger = read_ledger()
    if given.check and version not in ledger:
        raise SystemExit(
            f"error: instructions.json has no figures for Swift {version}, only for {', '.join(sorted(ledger)) or 'none'}; "
            "make bench-instructions RECORD=1 adds them")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep.resolve() if given.keep else pathlib.Path(temporary)
        binaries = {name: path for name, path in (("before", given.before), ("after", given.after)) if path}
        sides = {}
        try:
            for name, path in binaries.items():
                sides[name] = Counted(path, folder / name, given.items)
            print(f"{'instructions a request':26}" + "".join(f"{name:>12}" for name in sides)
                  + (f"{'ratio':>8}" if len(sides) == 2 else ""))
            found = {}
            for route in sides["after"].routes():
                if given.routes and given.routes not in route:
                    continue
                counts = [side.count(route, given.requests) for side in sides.values()]
                found[route] = counts[-1]
                print(f"{route:26}" + "".join(f"{count:12,.0f}" for count in counts)
                      + (f"{counts[1] / counts[0]:8.2f}" if len(counts) == 2 else ""), flush=True)
        finally:
            for side in sides.values():
                side.stop()
    if given.record:
        ledger[version] = {route: round(count) for route, count in found.items()}
        LEDGER.write_text(json.dumps(ledger, indent=2, sort_keys=True) + "\n", "utf-8")
        print(f"wrote the figures of Swift {version} to {LEDGER.name}")
    if given.check:
        problems = over_limit(found, ledger[version])
        for problem in problems:
            print(f"error     {problem}")
        print(f"{len(found)} routes, {len(problems)} over their limits")
        raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
