#!/usr/bin/env python3
"""Feeds every parser with mutated inputs, each target in its own process, and keeps the input of a finding.

    fuzz.py --binary .build/debug/fuzz [--runs 10000] [--seed 1] [--target NAME ...] [--artifacts DIR]

A target that costs more than the cheapest gets that many times fewer inputs, unless `--whole` is given. A finding is a process
that dies by a signal, an answer of 500, an input that takes over a second of CPU time, or memory that grows. Its input is saved
in DIR, and the command that repeats it is printed. The last line is `N targets, M inputs: no finding`.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time


def save(artifacts, target):
    """Saves the input at which a process ended, under a name that follows from its bytes. Returns `None` if there is none."""
    trace = artifacts / f"{target}-input"
    if not trace.exists():
        return None
    data = trace.read_bytes()
    # A process that died by a signal left the file at its full length, with the input's length at the end.
    length = int.from_bytes(data[-8:], sys.byteorder)
    if len(data) > 8 and length <= len(data) - 8:
        data = data[:length]
    kept = artifacts / f"{target}-{hashlib.sha1(data).hexdigest()[:12]}"
    kept.write_bytes(data)
    trace.unlink()
    return kept


def run(options, target, cost):
    """Runs one target. Returns the number of inputs read and the finding."""
    runs = options.runs if options.whole else max(1, options.runs // cost)
    command = [options.binary, target, "--runs", str(runs), "--seed", str(options.seed),
               "--artifacts", str(options.artifacts), "--max-seconds", str(options.max_seconds)]
    started = time.monotonic()
    environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             env=environment)
    output = process.stdout
    guided = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
    if guided and process.returncode == 0:
        memory = re.search(r"stat::peak_rss_mb:\s*(\d+)", output).group(1)
        reached = re.findall(r"cov: (\d+)", output)[-1]
        print(f"{target}: {guided.group(1)} inputs in {time.monotonic() - started:.1f} s, {reached} places reached, "
              f"at most {memory} MB", flush=True)
    elif process.returncode == 0:
        print(output.strip(), flush=True)
    if process.returncode == 0:
        return runs, None
    kept = save(options.artifacts, target)
    lines = [line for line in output.splitlines() if line.strip()]
    # libFuzzer prints the path of the input.
    left = re.search(r"Test unit written to (\S+)", output)
    kept = left.group(1) if left else kept
    told = [line for line in lines if "rror" in line or line.startswith(f"{target}:")] or lines[-3:]
    print(f"{target}: FOUND, status {process.returncode}: {' | '.join(told[:3])[:600]}\n"
          f"  repeat it with: {options.binary} {target} --input {kept}", flush=True)
    return runs, target


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--runs", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--target", action="append", help="only this one; may be given several times")
    options.add_argument("--whole", action="store_true", help="give every target as many inputs, whatever they cost")
    options.add_argument("--max-seconds", type=float, default=1.0)
    options.add_argument("--artifacts", type=pathlib.Path, default=pathlib.Path(".build/fuzz-artifacts"))
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options = options.parse_args()
    options.artifacts.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run([options.binary], stdout=subprocess.PIPE, text=True, check=True).stdout
    targets = [(name, int(cost)) for name, cost in (line.split() for line in listed.splitlines())
               if not options.target or name in options.target]
    print(f"{len(targets)} targets, seed {options.seed}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # The most expensive first, so that none of them runs alone at the end.
        ordered = sorted(targets, key=lambda target: -target[1])
        results = list(pool.map(lambda target: run(options, *target), ordered))
    found = [target for _, target in results if target]
    count = sum(runs for runs, _ in results)
    print(f"{len(targets)} targets, {count} inputs: " + (f"found in {', '.join(found)}" if found else "no finding"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
