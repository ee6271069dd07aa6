#!/usr/bin/env python3
"""Lets one server work for long, and compares what it takes of the machine after the first minutes and at the end.

    soak.py --binary .build/release/entrupy-sim [--minutes 60] [--out docs/soak.json]

Four workers do what test runs do, each run in a namespace of its own that is dropped at the end: log in, capture, upload, submit,
move the clock, search, read the journal, save, restore, fork and download snapshots, receive webhooks. Beside them users work in the
namespace `default`, whose clock runs, whose journal is full and which is reset now and then, and somebody listens to its events.

Every second is measured. The warm-up is a quarter of the time, at most two minutes. What is compared are the medians of the window
after it and of the last window, each a quarter of the time, at most five minutes:

| | may be at the end |
|---|---|
| anonymous memory | 10 % and 16 MB more |
| data directory | 10 % and 24 MB more |
| descriptors | 16 more |
| the server's CPU time for a request | 25 % and 0.5 ms more |
| 99th percentile of all answers | half as much again and 25 ms more; as much slower as an echo beside it became, if it did |

Answers' times are shown but not judged in runs of less than ten minutes: windows of seconds say more of the machine.

Exits with 1 where more is taken, where an answer is not as it should be, or where a webhook is missing.
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
from receiver import Receiver  # noqa: E402
from simulator import Simulator  # noqa: E402
from work import EventListener, Load  # noqa: E402
from yardstick import Yardstick  # noqa: E402

# From how many seconds on the times of answers are judged.
JUDGED_TIMES = 600

# What may be at the end: a factor of what was after the warm-up, and so much more.
TOLERANCES = {"memory_mb": (1.1, 16), "disk_mb": (1.1, 24), "descriptors": (1.0, 16), "cpu_ms": (1.25, 0.5),
              "p99_ms": (1.5, 25)}


def size_on_disk(folder):
    """Bytes of all files below a folder. Files come and go meanwhile."""
    total = 0
    for path in pathlib.Path(folder).rglob("*"):
        try:
            total += path.stat().st_blocks * 512
        except OSError:
            pass
    return total


def memory(pid):
    """Megabytes in memory: all of them, and those that no file backs."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else None


def cpu_seconds(pid):
    """CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(server, directory, load, yardstick, began, cpu):
    """One sample; latencies and CPU time are those since the last one."""
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
    """The samples after the warm-up, and the last ones."""
    warm_up, length = min(120, seconds / 4), min(300, seconds / 4)
    return ([sample for sample in samples if warm_up <= sample["seconds"] < warm_up + length],
            [sample for sample in samples if sample["seconds"] >= seconds - length])


def compare(samples, seconds):
    """A row for each figure: its name, what it was, what it is, what it may be."""
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
        yardstick.close()
        for thread in threads:
            thread.join()
        problems = load.problems + load.check_webhooks() + listener.problems()
        namespaces = load.count_namespaces()
        if namespaces != 1:
            problems.append(f"{namespaces} namespaces are left")
        server.stop()
    receiver.close()
    took = samples[-1]["seconds"]
    rows = compare(samples, took) if not load.problems else []
    total = sum(sample["requests"] for sample in samples)
    print(f"{took / 60:.1f} minutes, {load.runs} runs, {total} requests, {receiver.total} webhooks, "
          f"{listener.count} events heard")
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
            "comparison": rows, "samples": samples}, separators=(",", ":")) + "\n")
    for problem in problems[:20]:
        print(problem)
    print("failed" if problems else "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
