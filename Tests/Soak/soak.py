#!/usr/bin/env python3
"""Lets one server work for a long time, and compares its use of the machine after the first minutes and at the end.

    soak.py --binary .build/release/entrupy-sim [--minutes 60] [--out docs/soak.json]

Four workers do test runs, each in its own namespace, which is deleted at the end. A run logs in, captures, uploads, submits, moves
the clock, searches, reads the journal, saves, restores, forks and downloads snapshots, and receives webhooks. At the same time users
work in the namespace `default`. Its clock runs, its journal is full, it is reset now and then, and a client listens to its events. In a
third namespace all webhooks go to a receiver that never answers, clients reset their requests, read audits and exports, send seed data
and bodies that become large, have requests held, and send hundreds at once.

Every second is measured. The warm-up is a quarter of the time, at most ten minutes: until then journals fill, each up to
16 MiB. The medians of two windows are compared: the one
after the warm-up and the last one. Each is a quarter of the time, at most five minutes. These increases are allowed:

| | allowed at the end |
|---|---|
| anonymous memory | 10 % and 6 MB more |
| data directory | 10 % and 24 MB more |
| descriptors | 16 more |
| the server's CPU time for a request | 25 % and 0.5 ms more |
| 99th percentile of all answers | 50 % and 25 ms more; also as much slower as a concurrent echo became |

Runs of less than ten minutes show the response times but do not judge them: short windows measure the machine and not the server.

Exits with 1 if an increase is larger, an answer is wrong, or a webhook is missing.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Support"))
from nuisance import Nuisance  # noqa: E402
from receiver import Receiver  # noqa: E402
from simulator import Simulator  # noqa: E402
from work import EventListener, Load  # noqa: E402
from yardstick import Yardstick  # noqa: E402

# The run time from which response times are judged, in seconds.
JUDGED_TIMES = 600

# The largest allowed value at the end: a factor of the value after the warm-up, and an addition.
TOLERANCES = {"memory_mb": (1.1, 6), "disk_mb": (1.1, 24), "descriptors": (1.0, 16), "cpu_ms": (1.25, 0.5),
              "p99_ms": (1.5, 25)}


def size_on_disk(folder):
    """The bytes of all files below a folder. Files may appear and disappear during the count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                pass
    return total


def memory(pid):
    """The resident memory in megabytes, and its anonymous part."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else None


def cpu_seconds(pid):
    """The CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(server, directory, load, yardstick, began, cpu):
    """Takes one sample. Latencies and CPU time are those since the last sample."""
    durations, echoes = load.take_durations(), yardstick.take_durations()
    resident, anonymous = memory(server.process.pid)
    return {
        "seconds": round(time.monotonic() - began, 1), "resident_mb": round(resident, 1), "memory_mb": round(anonymous, 1),
        "disk_mb": round(size_on_disk(directory) / 1e6, 2),
        "descriptors": len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir())),
        "requests": len(durations), "p99_ms": round(1000 * (percentile(durations, 0.99) or 0), 2),
        "cpu_ms": round(1000 * (cpu_seconds(server.process.pid) - cpu) / max(1, len(durations)), 3),
        "echo_p99_ms": round(1000 * (percentile(echoes, 0.99) or 0), 3)}


def windows(samples, seconds):
    """The windows of samples after the warm-up and at the end."""
    warm_up, length = min(600, seconds / 4), min(300, seconds / 4)
    return ([sample for sample in samples if warm_up <= sample["seconds"] < warm_up + length],
            [sample for sample in samples if sample["seconds"] >= seconds - length])


def compare(samples, seconds):
    """A row for each figure: name, first value, last value, largest allowed value."""
    first, last = windows(samples, seconds)
    echo = [statistics.median(sample["echo_p99_ms"] for sample in window) or 1 for window in (first, last)]
    rows = []
    for name, (factor, more) in TOLERANCES.items():
        was, now = (statistics.median(sample[name] for sample in window) for window in (first, last))
        if name == "p99_ms":
            factor *= max(1, echo[1] / echo[0])
        rows.append({"figure": name, "after_the_warm_up": round(was, 2), "at_the_end": round(now, 2),
                     "may_be": round(was * factor + more, 2)})
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--workers", type=int, default=4)
    options.add_argument("--out", type=pathlib.Path, help="where the figures are written, as JSON")
    options = options.parse_args()
    seconds = options.minutes * 60
    receiver = Receiver(keeps=False)
    with tempfile.TemporaryDirectory(prefix="entrupy-sim-soak-") as folder:
        directory = pathlib.Path(folder) / "data"
        server = Simulator(options.binary, "--data-dir", str(directory), "--rate-limits", "off")
        load = Load(server, receiver)
        load.prepare()
        nuisance = Nuisance(server)
        nuisance.start()
        yardstick = Yardstick()
        listener = EventListener(server)
        began = time.monotonic()
        threads = [threading.Thread(target=load.test_runs, args=(number,)) for number in range(options.workers)]
        threads += [threading.Thread(target=load.users, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        samples, cpu = [], cpu_seconds(server.process.pid)
        while time.monotonic() - began < seconds and not load.problems:
            time.sleep(max(0, began + len(samples) + 1 - time.monotonic()))
            cpu, used = cpu_seconds(server.process.pid), cpu
            samples.append(measure(server, directory, load, yardstick, began, used))
        load.stop()
        nuisance.stop()
        yardstick.close()
        for thread in threads:
            thread.join()
        problems = load.problems + load.check_webhooks() + listener.problems()
        namespaces = load.count_namespaces()
        if namespaces != 2:
            problems.append(f"{namespaces} namespaces are left, not those of the users and the nuisance")
        if nuisance.problem:
            problems.append(f"the nuisance ended early: {nuisance.problem}")
        server.stop()
    receiver.close()
    took = samples[-1]["seconds"]
    rows = compare(samples, took) if not load.problems else []
    total = sum(sample["requests"] for sample in samples)
    print(f"{took / 60:.1f} minutes, {load.runs} runs, {total} requests, {receiver.total} webhooks, "
          f"{nuisance.resets} connections reset, {nuisance.events} events to a receiver that hangs, {nuisance.floods} floods, {listener.count} events heard")
    for row in rows:
        is_fine = row["at_the_end"] <= row["may_be"] or (row["figure"] == "p99_ms" and took < JUDGED_TIMES - 1)
        print(f"{row['figure']:<14}{row['after_the_warm_up']:>10} after the warm-up{row['at_the_end']:>10} at the end"
              f"{row['may_be']:>10} at most{'' if is_fine else '  TOO MUCH'}")
        if not is_fine:
            problems.append(f"{row['figure']} is {row['at_the_end']}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({
            "minutes": round(took / 60, 2), "runs": load.runs, "requests": total, "webhooks": receiver.total,
            "comparison": rows, "samples": samples[::max(1, len(samples) // 600)]}, separators=(",", ":")) + "\n")
    for problem in problems[:20]:
        print(problem)
    print("failed" if problems else "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
