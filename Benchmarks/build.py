#!/usr/bin/env python3
"""Measures what a newcomer waits for: a fresh clone, `make serve` to the first answer, then the build of the tests.

    build.py [--https] [--record] [--limits FILE]

Prints seconds by the clock and of the processors, user and system together: the second hardly depend on what else the machine does. Exits
1 if the processors' seconds are over the limits in `build.json`. --record writes what was measured plus a tenth as the new limits.
--https measures the same with HTTPS=1. Needs about a gigabyte in the temporary folder.
"""

import argparse
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def serve(folder, environment, log):
    """Runs `make serve` until the server answers. Returns the seconds until then."""
    port = free_port()
    start = time.monotonic()
    process = subprocess.Popen(
        ["make", "serve", f"PORT={port}", f"DATA={folder}/data"], cwd=folder, env=environment, stdout=log, stderr=log,
        start_new_session=True)
    try:
        while process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_sim/health", timeout=1) as answer:
                    if answer.status == 200:
                        return time.monotonic() - start
            except OSError:
                time.sleep(0.2)
        raise SystemExit(f"make serve ended with {process.returncode}; see {log.name}")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def measure(https):
    figures = {}
    environment = {name: value for name, value in os.environ.items() if name not in ("HTTPS", "MAKEFLAGS", "MAKELEVEL")}
    if https:
        environment["HTTPS"] = "1"
    with tempfile.TemporaryDirectory() as place, open(ROOT / ".build/bench-build.log", "w") as log:
        folder = pathlib.Path(place) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        before = processor_seconds()
        seconds = serve(folder, environment, log)
        figures["serve"] = {"seconds": round(seconds), "processor_seconds": round(processor_seconds() - before)}
        before, start = processor_seconds(), time.monotonic()
        subprocess.run(["make", "build-tests"], cwd=folder, env=environment, check=True, stdout=log, stderr=log)
        figures["tests"] = {
            "seconds": round(time.monotonic() - start), "processor_seconds": round(processor_seconds() - before)}
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--https", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--limits", type=pathlib.Path, default=ROOT / "Benchmarks/build.json")
    options = parser.parse_args()
    (ROOT / ".build").mkdir(exist_ok=True)
    figures = measure(options.https)
    limits = json.loads(options.limits.read_text()) if options.limits.exists() else {}
    kind = "with HTTPS=1" if options.https else "default"
    known = limits.get(kind, {})
    over = False
    for name, found in figures.items():
        limit = known.get(name)
        is_over = limit is not None and found["processor_seconds"] > limit
        over = over or is_over
        print(
            f"{kind}, {name}: {found['seconds']} s, {found['processor_seconds']} s of the processors"
            + ("" if limit is None else f", limit {limit}") + (": OVER" if is_over else ""))
    if options.record:
        limits[kind] = {name: round(found["processor_seconds"] * 1.1) for name, found in figures.items()}
        options.limits.write_text(json.dumps(limits, indent=2, sort_keys=True) + "\n")
        return 0
    return 1 if over else 0


sys.exit(main())
