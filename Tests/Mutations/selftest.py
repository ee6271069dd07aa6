#!/usr/bin/env python3
"""Tests of `mutations.py` with a program in SwiftPM's place, in seconds: survivors, changes that disturb other tests, tests that end the
process or hang, changes that do not compile, and ends by a signal."""
import contextlib
import io
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
import mutations

# The rule of number n holds in `n < 5`. Test 3 does not notice change 3, but change 5, as test 4 does. The changes 6 and 8 make their tests
# end the process and hang.
SWIFT = r'''#!/usr/bin/env python3
import glob, os, re, sys, time
sources = {name: open(name).read() for name in glob.glob("Sources/A/*.swift")}
if "--build-tests" in sys.argv:
    broken = [name for name, text in sources.items() if "SYNTAX" in text]
    for name in broken: print(f"{os.getcwd()}/{name}:3:1: error: it is broken")
    sys.exit(1 if broken else 0)
changed = {int(re.search(r"\d+", name).group()) for name, text in sources.items() if "<=" in text}
wanted = [int(re.search(r"/t(\d+)", value).group(1)) for name, value in zip(sys.argv, sys.argv[1:]) if name == "--filter"]
if 6 in changed and 6 in wanted: os.abort()
if 8 in changed and 8 in wanted: time.sleep(1000)
os.makedirs(".build", exist_ok=True)
with open(sys.argv[sys.argv.index("--xunit-output") + 1], "w") as report:
    cases = ""
    for number in wanted:
        failed = number in changed and number != 3 or number in (3, 4) and 5 in changed
        cases += f'<testcase classname="ATests.S" name="t{number}()">{"<failure/>" if failed else ""}</testcase>'
    report.write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
'''


class Tree:
    """A tree with twelve rules, and a program in SwiftPM's place."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for folder in ["Sources/A", "Tests/Mutations", "Tests/ATests"]:
            (self.path / folder).mkdir(parents=True)
        entries = []
        for number in range(12):
            file = f"Sources/A/F{number}.swift"
            (self.path / file).write_text(f"func f{number}() {{\n    return {number} < 5\n}}\n")
            entries.append({
                "id": f"m{number}", "rule": f"rule {number}", "file": file, "near": f"func f{number}(", "find": f"{number} < 5",
                "replace": "SYNTAX" if number == 7 else f"{number} <= 5", "test": f"ATests.S/t{number}"})
        self.write(entries)
        tests = "".join(f"    @Test func t{number}() {{}}\n" for number in range(12))
        (self.path / "Tests/ATests/T.swift").write_text(f"@Suite struct S {{\n    func helper() {{}}\n{tests}}}\n")
        (self.path / ".gitignore").write_text(".build/\n")
        self.swift = self.path / "swift"
        self.swift.write_text(SWIFT)
        self.swift.chmod(0o755)
        subprocess.run(["git", "init", "--quiet", "."], cwd=self.path, check=True)

    def write(self, entries):
        self.entries = entries
        (self.path / mutations.LIST).write_text(json.dumps(entries))

    def problems(self, **changes):
        """What is wrong with the list if its first entry is changed."""
        mutations.tests_of.cache_clear()
        self.write([{**self.entries[0], **changes}, *self.entries[1:]])
        return mutations.load(self.path)[1]


class MutationsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)
        mutations.TESTS_LIMIT, mutations.TEST_LIMIT = 3, 2

    def judge(self, size):
        mutations.tests_of.cache_clear()
        entries, problems = mutations.load(self.tree.path)
        self.assertEqual(problems, [])
        with mutations.Copy(self.tree.path).opened() as copy, contextlib.redirect_stdout(io.StringIO()):
            swift = mutations.Swift(copy, [str(self.tree.swift)], [str(self.tree.swift)])
            mutations.check_unchanged(swift, entries)
            judge = mutations.Judge(swift)
            judge.judge(entries, size)
        return judge.verdicts

    def test_verdicts_are_the_same_together_and_alone(self):
        expected = {f"m{number}": "killed" for number in range(12)} | {"m3": "survived", "m7": "error"}
        for size in [20, 1]:
            self.assertEqual(self.judge(size), expected)
        for entry in self.tree.entries:
            for root in [self.tree.path, self.tree.path / ".build/mutations"]:
                self.assertIn(entry["find"], (root / entry["file"]).read_text(), "nothing stays changed")

    def test_no_change_is_in_all_builds_of_another(self):
        for count in range(1, 40):
            builds, members = mutations.plan(count)
            self.assertTrue(all(places and places < set(range(builds)) or builds == 1 for places in members))
            pairs = itertools.permutations(members, 2)
            self.assertFalse([pair for pair in pairs if pair[0] <= pair[1]])

    def test_an_entry_that_does_not_fit_is_an_error(self):
        for changes, problem in [
            ({"find": "nothing"}, "found 0 times"), ({"find": "f"}, "found 2 times"), ({"near": "func g"}, "found 0 times"),
            ({"replace": "0 < 5"}, "changes nothing"), ({"file": "Sources/B.swift"}, "no file"), ({"id": "m1"}, "given 2 times"),
            ({"test": "ATests.S/t99"}, "no test"), ({"test": "ATests.S/helper"}, "no test"), ({"test": "t1"}, "has not the form"),
            ({"rul": "x"}, "unknown ['rul']"),
        ]:
            first = dict(self.tree.entries[0])
            found = self.tree.problems(**changes)
            self.assertTrue(found and problem in found[0], f"{changes}: {found}")
            self.tree.write([first, *self.tree.entries[1:]])

    def test_a_signal_ends_what_was_started(self):
        swift = mutations.Swift(mutations.Copy(self.tree.path), [], [])
        swift.copy.path.mkdir(parents=True)
        before = signal.signal(signal.SIGTERM, mutations.end)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGTERM]).start()
        begin = time.monotonic()
        with self.assertRaises(SystemExit) as ended:
            swift.run(["sleep", "1000"])
        self.assertEqual(ended.exception.code, 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 10)


if __name__ == "__main__":
    unittest.main()
