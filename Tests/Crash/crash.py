#!/usr/bin/env python3
"""Kills the server under load, cuts its power and breaks its disk, and checks everything that it had acknowledged.

    crash.py --binary .build/release/entrupy-sim [--rounds 20] [--seed N]

In each round eight clients work at once until the process is killed with SIGKILL. Five log in, start captures, upload, submit,
cancel and flag. One saves, restores, deletes and resets in its own namespace. One submits items and moves a frozen clock. One makes
and deletes namespaces. Webhooks go to a receiver that refuses every third event once. In a namespace beside them all webhooks go
to a receiver that never answers, and requests are reset. Then SQLite checks the databases, and the server starts again on the same directory (sometimes it is killed while it starts). After that

- every acknowledged operation must have happened exactly once, and an operation in progress must be done completely or not at all;
- pending results and webhooks come, each event with the same bytes; an event whose delivery was recorded is not sent again, all
  others arrive;
- the recording of the first round in a directory can be replayed up to its cut (exit code 0 or 2).

Every tenth round, and at least once, the power is cut under both durabilities and the disk is broken: see powerloss.py. Both need
Linux and a C compiler (Swift includes one). The last line is `N passed, N failed`.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from acknowledged import Operations  # noqa: E402
from checks import Checks, check_files, check_webhooks, delivered  # noqa: E402
from clients import Work  # noqa: E402
from disklog import library  # noqa: E402
from nuisance import Nuisance  # noqa: E402
from powerloss import broken_disk, power_loss  # noqa: E402
from receiver import Receiver  # noqa: E402
from simulator import Simulator  # noqa: E402

# The number of rounds that share one directory. The first of them makes a recording.
ROUNDS_IN_A_DIRECTORY = 10
# The time limit for the replay of a cut recording, in seconds.
REPLAY_TIME = 120


class Crashes:
    """All rounds and their results."""

    def __init__(self, options, chance):
        self.options, self.chance = options, chance
        self.receiver = Receiver(self.answer)
        self.total = collections.Counter()
        self.replays = collections.Counter()
        self.passed = self.failed = 0

    @staticmethod
    def answer(event_id, before):
        """Refuses every third event the first time that it comes."""
        return 500 if before == 0 and zlib.crc32(event_id.encode()) % 3 == 0 else 204

    def note(self, what, problems, operations):
        self.total += operations.counts()
        if not operations.counts():
            problems.append("nothing was acknowledged")
        for problem in problems[:20]:
            print(f"{what}: {problem}", flush=True)
        if problems:
            self.failed += 1
        else:
            self.passed += 1

    def run(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="entrupy-sim-crash-"))
        try:
            for number in range(self.options.rounds):
                directory = folder / f"data-{number // ROUNDS_IN_A_DIRECTORY}"
                problems, operations = self.kill(f"r{number}", directory)
                self.note(f"round {number}", problems, operations)
            self.cut_and_break(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def cut_and_break(self, folder):
        """Runs the power cuts and the broken disks."""
        built = library(folder)
        if built is None:
            print("no power was cut and no disk broken: that needs Linux and a C compiler")
            return
        for number in range(max(1, self.options.rounds // 10)):
            for durability in ("power-loss", "process"):
                problems, operations = power_loss(
                    self.options, durability, f"p{number}", self.chance, self.receiver, built)
                self.note(f"power {number}", problems, operations)
            for fault in ("is_full", "cannot_synchronize"):
                problems, operations = broken_disk(
                    self.options, fault, f"d{number}", self.chance, self.receiver, built)
                self.note(f"disk {number}", problems, operations)

    def kill(self, name, directory):
        """Runs one round. Returns the problems and the operations."""
        # The receiver distinguishes events by their ids, so the ids of two directories must differ.
        flags = ["--data-dir", str(directory), "--rate-limits", "off", "--random-seed", str(1 + int(directory.name[5:]))]
        recording = None if directory.exists() else directory.with_suffix(".recording")
        operations = Operations()
        server = Simulator(self.options.binary, *flags, *(["--record", str(recording)] if recording else []))
        work = Work(server, operations, self.chance, self.receiver, name)
        work.prepare()
        nuisance = Nuisance(server, f"nuisance-{name}", pause=0.02)
        nuisance.start()
        work.start()
        time.sleep(self.chance.uniform(0.2, 1.5))
        server.kill()
        work.join()
        nuisance.stop()
        problems = work.problems + check_files(directory)
        if recording:
            problems += self.replay(recording)
        if self.chance.random() < 0.25:
            self.interrupted_start(flags)
        recorded, restarted = delivered(directory, "default", f"clock-{name}"), time.monotonic()
        server = Simulator(self.options.binary, *flags)
        checks = Checks(server, operations, name)
        checks.run()
        problems += checks.results()
        server.stop()
        problems += check_webhooks(directory, operations, self.receiver, name, recorded, restarted)
        return problems + check_files(directory, "default", f"clock-{name}", f"keeper-{name}", nuisance.name), operations

    def interrupted_start(self, flags):
        """Kills the server while it starts."""
        process = Simulator.spawn(self.options.binary, *flags)
        time.sleep(self.chance.uniform(0, 0.3))
        process.kill()
        process.communicate()

    def replay(self, recording):
        """Replays the complete part of a recording that ends where the process was killed."""
        if self.options.without_replay:
            return []
        try:
            replay = subprocess.run([self.options.binary, "replay", str(recording)], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, timeout=REPLAY_TIME)
        except subprocess.TimeoutExpired:
            return [f"the replay does not end within {REPLAY_TIME} s"]
        self.replays[replay.returncode] += 1
        return [] if replay.returncode in (0, 2) else [f"the replay ends with {replay.returncode}: {replay.stdout[-1000:]}"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options.add_argument("--without-replay", action="store_true", help="do not replay recordings")
    options = options.parse_args()
    # The disks of the power cuts are written by this program, and the server warns of files that others can read.
    os.umask(0o077)
    print(f"crash test: {options.rounds} rounds, seed {options.seed}", flush=True)
    crashes = Crashes(options, random.Random(options.seed))
    crashes.run()
    print("acknowledged: " + ", ".join(f"{count} {kind}s" for kind, count in sorted(crashes.total.items())))
    print(f"webhooks: {crashes.receiver.total} came, {crashes.receiver.cut} were cut by the end of the server")
    print("replays: " + (", ".join(f"{count} ended with {code}" for code, count in sorted(crashes.replays.items())) or "none"))
    print(f"{crashes.passed} passed, {crashes.failed} failed")
    return 1 if crashes.failed else 0


if __name__ == "__main__":
    sys.exit(main())
