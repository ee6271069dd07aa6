#!/usr/bin/env python3
"""Tests of `mutations.py` with a program in SwiftPM's place, in less than a minute: survivors, changes that disturb other tests, tests that
end the process, hang or have no result, changes that do not compile, and ends by a signal."""
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
from unittest import mock

sys.dont_write_bytecode = True
import mutations

# The rule of number n holds in `n < 5`. Test 3 does not notice change 3, but change 5, as test 4 does. The other changes above 5 make their
# tests end the process by a trap (6) or by SIGKILL (12), hang (8; 13 only in the first of two runs), or end without a report (9), or they
# make SwiftPM skip the test (10) or crash (14). With another program to test, no test notices any change.
SWIFT = r'''#!/usr/bin/env python3
import glob, os, pathlib, re, sys, time
sources = {name: open(name).read() for name in glob.glob("Sources/A/*.swift")}
if "--build-tests" in sys.argv:
    broken = [name for name, text in sources.items() if "SYNTAX" in text]
    for name in broken: print(f"{os.getcwd()}/{name}:3:1: error: it is broken")
    sys.exit(1 if broken else 0)
changed = {int(re.search(r"\d+", name).group()) for name, text in sources.items() if "<=" in text}
wanted = [int(re.search(r"/t(\d+)", value).group(1)) for name, value in zip(sys.argv, sys.argv[1:]) if name == "--filter"]
if "ENTRUPY_SIM_PROGRAM" in os.environ: changed = set()
acting = changed.intersection(wanted)
os.makedirs(".build", exist_ok=True)
for number, code in [(6, 5), (12, 9)]:
    if number in acting: sys.exit(f"error: Process '/A.xctest' exited with unexpected signal code {code}")
if 8 in acting: time.sleep(1000)
if 9 in acting: sys.exit("error: no space")
if 14 in acting: os.abort()
if 13 in acting:
    hung = pathlib.Path(".build/hung")
    if not hung.exists():
        hung.touch()
        time.sleep(1000)
    hung.unlink()
with open(sys.argv[sys.argv.index("--xunit-output") + 1], "w") as report:
    cases = ""
    for number in wanted:
        failed = number in changed and number != 3 or number in (3, 4) and 5 in changed
        content = "<skipped/>" if number == 10 and failed else "<failure/>" if failed else ""
        seconds = os.environ.get("SECONDS_OF_TESTS", 0.1)
        cases += f'<testcase classname="ATests.S" name="t{number}()" time="{seconds}">{content}</testcase>'
    report.write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
'''


RULES = 15
VERDICTS = {f"m{number}": "killed" for number in range(RULES)} | {
    "m3": "survived", "m7": "error", "m8": "timed out", "m9": "error", "m10": "error", "m12": "error", "m14": "error"}


class Tree:
    """A tree with some rules, and a program in SwiftPM's place."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for folder in ["Sources/A", "Tests/Mutations", "Tests/ATests"]:
            (self.path / folder).mkdir(parents=True)
        entries = []
        for number in range(RULES):
            file = f"Sources/A/F{number}.swift"
            (self.path / file).write_text(f"func f{number}() {{\n    return {number} < 5\n}}\n")
            entries.append({
                "id": f"m{number}", "rule": f"rule {number}", "file": file, "near": f"func f{number}(", "find": f"{number} < 5",
                "replace": "SYNTAX" if number == 7 else f"{number} <= 5", "test": f"ATests.S/t{number}"})
        self.write(entries)
        tests = "".join(f"    @Test func t{number}() {{}}\n" for number in range(RULES))
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

    def judge(self, size, only=None, test=None):
        """The verdicts, of all entries or of one, with the program in SwiftPM's place or another one."""
        mutations.tests_of.cache_clear()
        entries, problems = mutations.load(self.tree.path)
        self.assertEqual(problems, [])
        entries = [entry for entry in entries if only in (None, entry.id)]
        self.printed = io.StringIO()
        with mutations.Copy(self.tree.path).opened() as copy, contextlib.redirect_stdout(self.printed):
            swift = mutations.Swift(copy, [str(self.tree.swift)], test or [str(self.tree.swift)])
            mutations.check_unchanged(swift, entries)
            judge = mutations.Judge(swift)
            judge.judge(entries, size)
        return judge.verdicts

    def test_verdicts_are_the_same_together_and_alone(self):
        for size in [20, 1]:
            self.assertEqual(self.judge(size), VERDICTS)
        for entry in self.tree.entries:
            for root in [self.tree.path, self.tree.path / ".build/mutations"]:
                self.assertIn(entry["find"], (root / entry["file"]).read_text(), "nothing stays changed")

    def test_only_evidence_counts(self):
        for only, reason in [
            ("m6", "its process ended by SIGTRAP"), ("m8", "it took longer than 2 s twice"),
            ("m9", "it has no result, and the command ended with 1: error: no space"), ("m10", "it has no result"),
            ("m12", "unexpected signal code 9"), ("m14", f"the command ended with -{int(signal.SIGABRT)}"),
        ]:
            self.assertEqual(self.judge(20, only), {only: VERDICTS[only]})
            self.assertIn(reason, self.printed.getvalue())

    def test_a_slow_test_that_times_out_is_an_error(self):
        with mock.patch.dict(os.environ, SECONDS_OF_TESTS="2.5"):
            self.assertEqual(self.judge(1), VERDICTS | {"m8": "error"})

    def test_no_other_program_is_tested(self):
        with mock.patch.dict(os.environ, ENTRUPY_SIM_PROGRAM="/usr/bin/false", ENTRUPY_SIM_RECORD="1", ENTRUPY="kept"):
            swift = mutations.Swift(mutations.Copy(self.tree.path), [], [])
            self.assertEqual([name for name in swift.environment if name.startswith("ENTRUPY")], ["ENTRUPY"])
            self.assertEqual(self.judge(20, "m1"), {"m1": "killed"})

    def test_a_run_needs_tests_that_pass_without_any_change(self):
        passing = [str(self.tree.swift)]
        for test, free, reason in [
            (["/nowhere/swift"], 0, "does not run without any change: it has no result, and the command ended with 127: /nowhere/swift"),
            (["false"], 0, "does not run without any change: it has no result, and the command ended with 1"),
            (["true"], 0, "does not run without any change: it has no result, and the command ended with 0"),
            (["sh", "-c", "sleep 1000"], 0, "takes too long without any change: it took longer than 2 s twice"),
            (["sh", "-c", "echo exited with unexpected signal code 4"], 0, "fails without any change: its process ended by SIGILL"),
            (passing, 2**60, "bytes are free in"),
        ]:
            with mock.patch.object(mutations, "MIN_FREE_BYTES", free), self.assertRaises(SystemExit) as ended:
                self.judge(20, "m1", test)
            self.assertEqual(ended.exception.code, 1)
            self.assertIn(reason, self.printed.getvalue())

    def test_a_function_passes_if_all_its_results_pass(self):
        report = "<a><testcase classname='A.S' name='t()'>%s</testcase><testcase classname='A.S' name='t(x:)'>%s</testcase></a>"
        script = 'while [ "$1" != --xunit-output ]; do shift; done; printf "%s" "$0" > "$2"'
        swift = mutations.Swift(mutations.Copy(self.tree.path), [], [])
        (swift.copy.path / ".build").mkdir(parents=True)
        for contents, word in [
            (("", ""), "passed"), (("<failure/>", ""), "failed"), (("", "<failure/>"), "failed"), (("", "<skipped/>"), "passed"),
            (("<skipped/>", "<skipped/>"), "error"), (("<error/>", "<error/>"), "error"), (("", "<"), "error"),
        ]:
            swift.test_command = ["sh", "-c", script, report % contents]
            self.assertEqual(swift.outcomes(["A.S/t"])["A.S/t"].word, word, contents)

    def test_no_change_is_in_all_builds_of_another(self):
        for count in range(1, 40):
            builds, members = mutations.plan(count)
            self.assertTrue(all(places and places < set(range(builds)) or builds == 1 for places in members))
            pairs = itertools.permutations(members, 2)
            self.assertFalse([pair for pair in pairs if pair[0] <= pair[1]])

    def test_links_stay_links(self):
        # SwiftPM names the sources of a folder by the link that leads there.
        tree = self.tree.path
        (tree / "Shipped").symlink_to("Sources/A")
        (tree / "F.swift").symlink_to("Sources/A/F1.swift")
        for gone in [None, "Shipped", "F.swift"]:
            if gone:
                (tree / gone).unlink()
            with mutations.Copy(tree).opened() as copy:
                links = {path.name: os.readlink(path) for path in copy.path.iterdir() if path.is_symlink()}
            self.assertEqual(links, {path.name: os.readlink(path) for path in tree.iterdir() if path.is_symlink()})
        self.assertTrue((tree / ".build/mutations/Sources/A/F1.swift").is_file())
        (tree / "Shipped").write_text("a file now")
        with mutations.Copy(tree).opened() as copy:
            self.assertEqual((copy.path / "Shipped").read_text(), "a file now")

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
