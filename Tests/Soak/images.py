#!/usr/bin/env python3
"""Checks that a server with a new namespace for each test run does not grow.

    images.py --binary .build/release/entrupy-sim [--runs 1000] [--kept 5] [--in-memory]

Each run makes a namespace, takes one item to its result, cancels a capture, lets one time out, saves a snapshot and restores it.
Then the namespace is deleted. A few namespaces exist at a time. The disk, or the memory, is measured after the first tenth of the
runs and at the end, each time after all unreferenced images are gone. The last line is `N passed, N failed`.
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from simulator import Client, Simulator, log_in, picture  # noqa: E402

# The longest time until unreferenced images are removed, in seconds.
PATIENCE = 60
PICTURE_BYTES = 20_000


def run(simulator, number):
    """Does one test run and returns its namespace."""
    root = Client(simulator)
    name = f"run-{number}"
    root.must("PUT", f"/_sim/namespaces/{name}", {"clock": {"freeze": "2026-01-05T09:00:00Z"}})
    client = Client(simulator, f"/ns/{name}")
    token = log_in(client, "soak-test-user")
    for fate in ["submit", "cancel", "time out"]:
        started = client.must("POST", "/sdk/captures", {
            "config_type": "debug", "item": {"brand": "Nike", "style_name": "AJ1", "customer_item_id": f"{name} {fate}"}}, token)
        capture = started["capture_id"]
        for step in started["steps"]:
            client.must(
                "PUT", f"/sdk/captures/{capture}/images/{step['region_id']}",
                picture(f"{name} {fate} {step['region_id']}", PICTURE_BYTES), token)
        if fate != "time out":
            client.must("POST", f"/sdk/captures/{capture}/{fate}", token=token)
    client.must("PUT", "/_sim/snapshots/base")
    client.must("POST", "/_sim/clock/advance", {"by": "3h"})
    if number % 2:
        client.must("POST", "/_sim/snapshots/base/restore")
    client.close()
    root.close()
    return name


def images(directory):
    """The number of images on disk, and the bytes of the whole directory."""
    files = [path for path in pathlib.Path(directory).rglob("*") if path.is_file()]
    return len([path for path in files if path.parent.parent.name == "images"]), sum(path.stat().st_size for path in files)


def memory(simulator):
    status = pathlib.Path(f"/proc/{simulator.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


def measure(simulator, directory, expected):
    """Waits until at most the expected images are left. Returns the bytes on disk or in memory, and the problems."""
    if not directory:
        # The server does not report the end of the removal, but two rounds of its sweeper are enough.
        time.sleep(12)
        return memory(simulator), []
    deadline = time.monotonic() + PATIENCE
    while True:
        count, size = images(directory)
        if count <= expected:
            return size, []
        if time.monotonic() > deadline:
            return size, [f"{count} pictures are there after {PATIENCE} s, expected at most {expected}"]
        time.sleep(0.5)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--kept", type=int, default=5, help="how many namespaces are alive at a time")
    options.add_argument("--in-memory", action="store_true")
    options = options.parse_args()
    directory = None if options.in_memory else tempfile.mkdtemp(prefix="entrupy-sim-images-")
    simulator = Simulator(
        options.binary, *(["--in-memory"] if options.in_memory else ["--data-dir", directory]), "--rate-limits", "off")
    problems = []
    try:
        root = Client(simulator)
        alive = []
        before = None
        started = time.monotonic()
        for number in range(options.runs):
            alive.append(run(simulator, number))
            if len(alive) > options.kept:
                root.must("DELETE", f"/_sim/namespaces/{alive.pop(0)}")
            if before is None and number + 1 >= max(options.runs // 10, options.kept + 1):
                # At most three captures with two images for each living namespace.
                before, found = measure(simulator, directory, 6 * len(alive))
                problems += found
        seconds = time.monotonic() - started
        after, found = measure(simulator, directory, 6 * len(alive))
        problems += found
        # The sizes of write-ahead logs vary.
        slack = 4_000_000 + (before // 5 if options.in_memory else 0)
        if after > before + slack:
            problems.append(f"it grew from {before} to {after} bytes")
        for name in alive:
            root.must("DELETE", f"/_sim/namespaces/{name}")
        _, found = measure(simulator, directory, 0)
        problems += found
        print(
            f"{options.runs} runs in {seconds:.0f} s: {before / 1e6:.1f} MB "
            f"{'of memory' if options.in_memory else 'on disk'} after the first, {after / 1e6:.1f} MB after the last")
        simulator.stop()
    finally:
        if directory:
            shutil.rmtree(directory, ignore_errors=True)
    for problem in problems:
        print(problem)
    print(f"{options.runs if not problems else 0} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
