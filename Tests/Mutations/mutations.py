#!/usr/bin/env python3
"""Breaks one rule of the sources at a time and checks that the test which is named for it fails.

`mutations.json` lists the changes. They are made in a copy of the tree, `.build/mutations`, so an interrupted run leaves nothing
behind. Up to 20 changes are judged together, in several builds: each change is in half of the builds, and no change is in all the
builds of another one. A change is killed if its test fails in exactly the builds that have it: no other change can explain that,
since each other one is also in a build without it, where the test passed. Every other pattern is settled by a build with that
change alone, so a survivor is never hidden.

A test fails if the report says so, or if its process ends by a trap. A test that exceeds its limit twice has timed out, which counts as
noticed if it passed within the limit without any change. All else, such as a test without a result, is an error of the run.
"""
import argparse
import collections
import contextlib
import fcntl
import functools
import itertools
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path("Tests/Mutations/mutations.json")
# The number of lines below `near` in which the text is found.
NEAR_LINES = 20
# Seconds for the tests of one build, and for one test alone.
TESTS_LIMIT, TEST_LIMIT = 600, 180
# Results of tests are no evidence if fewer bytes are free.
MIN_FREE_BYTES = 200 * 10**6
# Names of variables that would change the programs and tests, such as `ENTRUPY_SIM_PROGRAM`, another binary for the end-to-end tests.
OWN_VARIABLES = "ENTRUPY_SIM_"
# SwiftPM's message for a test process that ended by a signal, and the signals of a trap. Others, such as `SIGKILL` if memory is short,
# are no evidence.
END_BY_SIGNAL = re.compile(r"exited with unexpected signal code (\d+)", re.I)
TRAPS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}

Mutation = collections.namedtuple("Mutation", "id rule file near find replace test")
# `word` is passed, failed, timed out or error.
Outcome = collections.namedtuple("Outcome", "word reason seconds", defaults=["", 0])


class ListError(Exception):
    """What is wrong with an entry of the list."""


# The list


def load(root):
    """The entries of the list, and what is wrong with them."""
    problems, entries = [], []
    for number, members in enumerate(json.loads((root / LIST).read_text("utf-8")), 1):
        unknown = set(members) - set(Mutation._fields)
        missing = set(Mutation._fields) - {"near"} - set(members)
        if unknown or missing:
            problems.append(f"entry {number}: unknown {sorted(unknown)}, missing {sorted(missing)}")
            continue
        entries.append(Mutation(**{"near": None, **members}))
    for name, count in collections.Counter(entry.id for entry in entries).items():
        if count > 1:
            problems.append(f"{name}: the id is given {count} times")
    for entry in entries:
        try:
            path = root / entry.file
            if not path.is_file():
                raise ListError(f"there is no file {entry.file}")
            mutated(path.read_text("utf-8"), entry)
            check_test(root, entry.test)
        except ListError as error:
            problems.append(f"{entry.id}: {error}")
    return entries, problems


def mutated(text, entry):
    """The text of a file with the change."""
    start, end = 0, len(text)
    if entry.near is not None:
        start = only_place(text, entry.near, 0, end, entry.file)
        lines = text[start:].splitlines(keepends=True)
        end = start + sum(map(len, lines[:NEAR_LINES]))
    place = only_place(text, entry.find, start, end, entry.file + (f", near {entry.near!r}" if entry.near else ""))
    if entry.find == entry.replace:
        raise ListError("it changes nothing")
    return text[:place] + entry.replace + text[place + len(entry.find):]


def only_place(text, wanted, start, end, where):
    count = text.count(wanted, start, end)
    if count != 1:
        raise ListError(f"{wanted!r} is found {count} times in {where}; it must be found once")
    return text.index(wanted, start, end)


def check_test(root, test):
    """Checks that `Module.Suite/function` is a test."""
    match = re.fullmatch(r"(\w+)\.(\w+)/(\w+)", test)
    if not match:
        raise ListError(f"the test {test!r} has not the form Module.Suite/function")
    if test not in tests_of(root, match.group(1)):
        raise ListError(f"there is no test {test}")


@functools.cache
def tests_of(root, module):
    """The tests of a module, as `Module.Suite/function`."""
    found = set()
    for path in (root / "Tests" / module).rglob("*.swift"):
        suite = None
        before, *rest = path.read_text("utf-8").split("@Test")
        for text in rest:
            # A suite is the last type that begins at the left edge.
            suite = next(reversed(re.findall(r"^(?:@Suite.*? )?(?:struct|class|extension) (\w+)", before, re.M)), suite)
            function = re.search(r"\bfunc (\w+)\(", text)
            if suite and function:
                found.add(f"{module}.{suite}/{function.group(1)}")
            before = text
    return found


# The copy


class Copy:
    """A copy of the tree with its own build."""

    def __init__(self, root):
        self.root = root
        self.path = root / ".build/mutations"
        # The texts of the files that have been changed in the copy, as they were. The tree may be edited meanwhile.
        self.originals = {}
        self.changed = set()

    @contextlib.contextmanager
    def opened(self):
        """Makes the copy equal to the tree, and again at the end."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.root / ".build/mutations.lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SystemExit("error: another run uses .build/mutations; wait for its end")
            self.synchronize()
            self.take_dependencies()
            try:
                yield self
            finally:
                self.synchronize()

    def files(self):
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.split("\0")
        # It is not in Git, and says which versions of other packages the tree is built with.
        return {name for name in [*names, "Package.resolved"] if name and self.is_file_or_link(self.root / name)}

    @staticmethod
    def is_file_or_link(path):
        # A link may lead to a folder.
        return path.is_symlink() or path.is_file()

    def synchronize(self):
        """Writes only what differs, so that the next build compiles only that."""
        wanted = self.files()
        for folder, folders, names in os.walk(self.path):
            if pathlib.Path(folder) == self.path:
                folders[:] = [name for name in folders if name != ".build"]
            for path in [pathlib.Path(folder, name) for name in names + folders]:
                if self.is_file_or_link(path) and str(path.relative_to(self.path)) not in wanted:
                    path.unlink()
        for name in wanted:
            if (self.root / name).is_symlink():
                self.put_link(name, os.readlink(self.root / name))
                continue
            self.put(name, (self.root / name).read_bytes())
            shutil.copymode(self.root / name, self.path / name)

    def put(self, name, content):
        path = self.path / name
        if path.is_symlink():
            path.unlink()
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def put_link(self, name, target):
        path = self.path / name
        if path.is_symlink() and os.readlink(path) == target:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    def take_dependencies(self):
        """Takes what the build of the tree has fetched of other packages, so that a first run needs no network."""
        source, target = self.root / ".build", self.path / ".build"
        if target.exists() or not (source / "workspace-state.json").exists():
            return
        for name in ["repositories", "checkouts", "artifacts"]:
            if (source / name).is_dir():
                shutil.copytree(source / name, target / name, symlinks=True)
        target.mkdir(exist_ok=True)
        shutil.copy2(source / "workspace-state.json", target)

    def apply(self, mutations):
        """Makes exactly these changes, each in another file."""
        for name in self.changed - {entry.file for entry in mutations}:
            self.put(name, self.originals[name].encode())
        for entry in mutations:
            if entry.file not in self.originals:
                self.originals[entry.file] = (self.path / entry.file).read_text("utf-8")
            self.put(entry.file, mutated(self.originals[entry.file], entry).encode())
        self.changed = {entry.file for entry in mutations}


# Builds and tests


class Swift:
    """Builds the copy and runs tests in it."""

    def __init__(self, copy, build, test):
        self.copy, self.build_command, self.test_command = copy, build, test
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
        # The tests that passed without any change, within the limit of a test alone.
        self.timely = set()

    def run(self, command, limit=None):
        """The exit code, or `None` after the limit, and the output. Nothing that it started is left."""
        try:
            process = subprocess.Popen(
                command, cwd=self.copy.path, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        except OSError as error:
            return 127, f"{command[0]} does not start: {error}"
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except BaseException as error:
            self.end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                return None, ""
            raise

    @staticmethod
    def end(process):
        """Ends a command: SwiftPM ends its own children at SIGINT, and only then."""
        for number, seconds in [(signal.SIGINT, 15), (signal.SIGKILL, None)]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=seconds)
                return

    def build(self):
        """The output of a build that failed; `None` if it succeeded."""
        code, output = self.run([*self.build_command, "--build-tests"])
        return None if code == 0 else output

    def outcomes(self, tests):
        """The outcome of each test. A test without a result after a run of all of them runs alone."""
        found = self.results(tests, TESTS_LIMIT)[0] if len(tests) > 1 else {}
        return {test: found[test] if test in found else self.alone(test) for test in tests}

    def alone(self, test):
        """The outcome of a test that runs alone, and again if it takes too long."""
        for _ in range(2):
            results, code, output = self.results([test], TEST_LIMIT)
            if test in results:
                return results[test]
            if code is not None:
                break
        else:
            return Outcome("timed out", f"it took longer than {TEST_LIMIT} s twice")
        found = END_BY_SIGNAL.search(output)
        if found and int(found.group(1)) in TRAPS:
            return Outcome("failed", f"its process ended by {signal.Signals(int(found.group(1))).name}")
        lines = output.strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return Outcome("error", f"it has no result, and the command ended with {code}{last}")

    def results(self, tests, limit):
        """The outcomes of the tests that have one in the report, the exit code, `None` after the limit, and the output."""
        report = self.copy.path / ".build/mutations.xml"
        reports = [report, report.with_name("mutations-swift-testing.xml")]
        for path in reports:
            path.unlink(missing_ok=True)
        filters = itertools.chain.from_iterable(
            ("--filter", "^" + re.escape(test) + r"\(") for test in tests)
        code, output = self.run(
            [*self.test_command, "--skip-build", "--disable-xctest", *filters, "--xunit-output", str(report)], limit)
        for folder in [self.copy.path, tempfile.gettempdir()]:
            if (free := shutil.disk_usage(folder).free) < MIN_FREE_BYTES:
                return {}, code or 0, f"only {free} bytes are free in {folder}"
        results = {}
        for path in reports:
            try:
                cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
            except (FileNotFoundError, xml.etree.ElementTree.ParseError):
                continue
            for case in cases:
                test = f"{case.get('classname')}/{case.get('name').split('(')[0]}"
                # A test that was skipped has no result.
                if case.find("skipped") is not None or case.find("error") is not None:
                    continue
                seconds = float(case.get("time") or 0)
                if case.find("failure") is not None:
                    results[test] = Outcome("failed", "", seconds)
                elif test not in results:
                    results[test] = Outcome("passed", "", seconds)
        return {test: results[test] for test in tests if test in results}, code, output


# Judging


def groups(mutations, size):
    """Groups of about the same size, each of changes that concern different files and have different tests."""
    files = collections.Counter(entry.file for entry in mutations)
    tests = collections.Counter(entry.test for entry in mutations)
    found = [[] for _ in range(max(math.ceil(len(mutations) / size), *files.values(), *tests.values()))]
    for entry in sorted(mutations, key=lambda entry: -max(files[entry.file], tests[entry.test])):
        fitting = [group for group in found if all(entry.file != other.file and entry.test != other.test for other in group)]
        if not fitting:
            found.append([])
            fitting = found[-1:]
        min(fitting, key=len).append(entry)
    return [group for group in found if group]


def plan(count):
    """For each of some changes the builds that have it, none of which holds all builds of another."""
    builds = 1
    while math.comb(builds, max(1, builds // 2)) < count:
        builds += 1
    chosen = list(itertools.combinations(range(builds), max(1, builds // 2)))
    # Spread evenly, so that all builds have about the same number of changes.
    return builds, [set(chosen[index * len(chosen) // count]) for index in range(count)]


class Judge:
    def __init__(self, swift):
        self.swift = swift
        self.verdicts = {}

    def say(self, verdict, entry, reason=""):
        self.verdicts[entry.id] = verdict
        print(f"{verdict:10}{entry.id}: {entry.rule} ({entry.test}){reason and ': ' + reason}", flush=True)

    def together(self, group):
        """Judges a group, and returns the changes that need a build of their own."""
        builds, members = plan(len(group))
        if len(group) <= builds:
            return group
        failures = {entry.id: set() for entry in group}
        # The changes whose tests neither passed nor failed in some build.
        unclear = set()
        for build in range(builds):
            changes = [entry for entry, places in zip(group, members) if build in places]
            self.swift.copy.apply(changes)
            output = self.swift.build()
            if output is not None:
                return self.without_broken(group, changes, output)
            tested = [entry for entry in group if entry.id not in unclear]
            outcomes = self.swift.outcomes([entry.test for entry in tested])
            found = {"passed": [], "failed": [], "timed out": [], "error": []}
            for entry in tested:
                found[outcomes[entry.test].word].append(entry)
            passed = [entry.id for entry in found["passed"] if entry in changes]
            others = [entry.id for entry in found["failed"] if entry not in changes]
            without = [entry.id for entry in found["timed out"] + found["error"]]
            print(
                f"  build {build + 1} of {builds}: {len(changes)} changes; not noticed: {', '.join(passed) or 'none'}; "
                f"failed without their change: {', '.join(others) or 'none'}; no result: {', '.join(without) or 'none'}", flush=True)
            unclear.update(without)
            for entry in found["failed"]:
                failures[entry.id].add(build)
        doubtful = []
        for entry, places in zip(group, members):
            if entry.id not in unclear and failures[entry.id] == places:
                self.say("killed", entry)
            else:
                doubtful.append(entry)
        return doubtful

    def without_broken(self, group, changes, output):
        """Judges a group again without the changes in whose files the compiler found errors; returns those that are left."""
        broken = [entry for entry in changes if f"/{entry.file}:" in output]
        if not broken:
            return group
        rest = [entry for entry in group if entry not in broken]
        return broken + (self.together(rest) if rest else [])

    def alone(self, entry):
        self.swift.copy.apply([entry])
        output = self.swift.build()
        if output is not None:
            lines = [line for line in output.splitlines() if "error:" in line]
            self.say("error", entry, "it does not compile: " + (lines[0] if lines else output[-200:]))
            return
        outcome = self.swift.outcomes([entry.test])[entry.test]
        if outcome.word == "passed":
            self.say("survived", entry, f"{entry.file}: {entry.find!r} -> {entry.replace!r}")
        elif outcome.word == "failed":
            self.say("killed", entry, outcome.reason)
        elif outcome.word == "timed out" and entry.test not in self.swift.timely:
            self.say("error", entry, f"{outcome.reason}, and did not pass within that time without any change")
        else:
            self.say(outcome.word, entry, outcome.reason)

    def judge(self, mutations, size):
        found = groups(mutations, size)
        for number, group in enumerate(found, 1):
            print(f"group {number} of {len(found)}: {len(group)} changes", flush=True)
            for entry in self.together(group):
                self.alone(entry)

    def count(self, verdict):
        return sum(1 for found in self.verdicts.values() if found == verdict)


def check_unchanged(swift, mutations):
    """Builds the unchanged tree and checks that each test runs and passes."""
    print("building the unchanged tree", flush=True)
    output = swift.build()
    if output is not None:
        raise SystemExit(f"error: the unchanged tree does not build:\n{output[-4000:]}")
    tests = sorted({entry.test for entry in mutations})
    outcomes = swift.outcomes(tests)
    words = {"failed": "fails", "timed out": "takes too long", "error": "does not run"}
    wrong = {test: outcome for test, outcome in outcomes.items() if outcome.word != "passed"}
    for test, outcome in wrong.items():
        print(f"error     {test} {words[outcome.word]} without any change{outcome.reason and ': ' + outcome.reason}")
    if wrong:
        raise SystemExit(1)
    swift.timely = {test for test, outcome in outcomes.items() if outcome.seconds <= TEST_LIMIT}


def choose(entries, arguments):
    """The changes to judge."""
    if arguments.only:
        try:
            entries = [entry for entry in entries if re.search(arguments.only, f"{entry.id} {entry.file}")]
        except re.error as error:
            raise SystemExit(f"error: ONLY must be a regular expression: {error}")
        if not entries:
            raise SystemExit(f"error: ONLY={arguments.only} matches the id or file of no entry of {LIST}")
    if arguments.count is None:
        if arguments.seed:
            raise SystemExit("error: SEED needs COUNT, the number of entries to draw")
        return entries
    if not 1 <= arguments.count <= len(entries):
        raise SystemExit(f"error: COUNT must be 1 to {len(entries)}, got {arguments.count}")
    seed = arguments.seed or str(random.SystemRandom().randrange(10**6))
    print(f"{arguments.count} of {len(entries)} changes, drawn with SEED={seed}")
    return random.Random(seed).sample(sorted(entries), arguments.count)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="swift build", help="the command that builds the package")
    parser.add_argument("--test", default="swift test", help="the command that runs tests")
    parser.add_argument("--only", help="a regular expression that the id or file of an entry must match")
    parser.add_argument("--count", type=int, help="draws so many entries")
    parser.add_argument("--seed", help="repeats a draw")
    parser.add_argument("--together", type=int, default=20, help="judges so many changes together; 1 builds each alone")
    parser.add_argument("--check", action="store_true", help="only checks that the list fits the sources")
    return parser.parse_args()


def end(number, _):
    raise SystemExit(128 + number)


def main():
    arguments = parse_arguments()
    # An end by a signal ends what was started, and restores the copy.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)
    if arguments.together < 1:
        raise SystemExit(f"error: --together must be at least 1, got {arguments.together}")
    entries, problems = load(ROOT)
    for problem in problems:
        print(f"error     {problem}")
    if problems or arguments.check:
        print(f"{len(entries)} changes in the list, {len(problems)} errors")
        raise SystemExit(1 if problems else 0)
    chosen = choose(entries, arguments)
    start = time.monotonic()
    copy = Copy(ROOT)
    with copy.opened():
        swift = Swift(copy, shlex.split(arguments.build), shlex.split(arguments.test))
        check_unchanged(swift, chosen)
        judge = Judge(swift)
        judge.judge(chosen, arguments.together)
    print(f"{round(time.monotonic() - start)} s")
    killed, survived, errors, late = (judge.count(verdict) for verdict in ("killed", "survived", "error", "timed out"))
    print(f"{killed} killed, {survived} survived, {errors} errors, {late} timed out")
    raise SystemExit(1 if survived or errors else 0)


if __name__ == "__main__":
    main()
