#!/usr/bin/env python3
"""Checks what reads and compares the documents of coding agents: Tests/Agents/document.py, llms.py and scripts/agents. Takes seconds, and needs no simulator."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import document  # noqa: E402
import llms  # noqa: E402
import skill  # noqa: E402

AGENTS = HERE.parent.parent / "scripts" / "agents"


def ran(text):
    """The problems of a document that is run, with a program `entrupy-sim` that prints its arguments."""
    todo = document.steps(text)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "entrupy-sim"
        program.write_text('#!/bin/sh\n[ "$1" = fails ] && exit 1\necho "got $*"\n')
        program.chmod(0o755)
        document.run(todo, folder, {"PATH": f"{folder}:/usr/bin:/bin"})
    return document.problems(todo, "a.md")


class DocumentTest(unittest.TestCase):
    def test_blocks_and_commands_come_in_order(self):
        text = "Run `entrupy-sim a`, not `other`.\n```sh\nX=1\n```\n```text\n1\n```\n| `entrupy-sim b` | `entrupy-sim` |\n"
        found = [(step.kind, step.text, step.line, step.shown) for step in document.steps(text)]
        self.assertEqual(found, [("command", "entrupy-sim a", 1, None), ("sh", "X=1", 2, "1"), ("command", "entrupy-sim b", 8, None),
                                 ("command", "entrupy-sim", 8, None)])

    def test_a_text_block_without_its_block_is_refused(self):
        for text in ("```text\n1\n```", "```sh\na\n```\n```text\n1\n```\n```text\n1\n```", "```sh\na\n", "```\na\n```"):
            with self.assertRaises(SystemExit):
                document.steps(text)

    def test_what_is_right_has_no_problems(self):
        self.assertEqual(ran("```sh\nA=two\n```\n`entrupy-sim one`\n```sh\nentrupy-sim $A; echo; echo end\n```\n```text\ngot …o\n\nend\n```\n"), [])

    def test_a_command_that_fails_is_a_problem(self):
        self.assertIn("a.md:1: exit status 1", ran("`entrupy-sim fails`")[0])
        self.assertIn("a.md:1: exit status 1", ran("```sh\nentrupy-sim fails\necho later\n```")[0])
        self.assertIn("exit status 127", ran("`entrupy-sim-other`\n```sh\nno-such-program-here\n```")[0])
        self.assertEqual(ran('```sh\nentrupy-sim fails || echo "exit code $?"\n```\n```text\nexit code 1\n```\n'), [])

    def test_another_output_is_a_problem(self):
        self.assertIn("the document shows", ran("```sh\nentrupy-sim a\n```\n```text\ngot b\n```\n")[0])
        self.assertIn("the document shows", ran("```sh\nentrupy-sim a; echo more\n```\n```text\ngot a\n```\n")[0])

    def test_a_block_that_leaves_the_shell_is_a_problem(self):
        self.assertIn("did not end", ran("```sh\nexit 0\n```\n`entrupy-sim a`")[0])

    def test_outputs_are_compared(self):
        for shown, output in [("a", "a"), ("a …", "a b c"), ("…\nb", "b"), ("…\nb", "x\ny\nb"), ("a\n…", "a"), ("a…", "a")]:
            self.assertTrue(document.is_as_shown(shown, output), (shown, output))
        for shown, output in [("a", "ab"), ("a", "a\nb"), ("…\nb", "x"), ("a.c", "abc"), ("a\n…\nb", "a")]:
            self.assertFalse(document.is_as_shown(shown, output), (shown, output))


class FormTest(unittest.TestCase):
    def test_the_form_of_llms_txt(self):
        good = "# a\n\n> b\n\nText.\n\n## Links\n\n- [c](/d): e\n"
        self.assertEqual(llms.form(good), [])
        for old, new in [("# a", "a"), ("> b", "b"), ("## Links", "### Links"), ("- [c](/d)", "- [c](d)"), ("- [c](/d): e", "text"), ("\n## Links\n\n- [c](/d): e", "")]:
            self.assertNotEqual(llms.form(good.replace(old, new)), [], new)

    def test_the_form_of_a_skill(self):
        good = "---\nname: entrupy-sim\ndescription: a\n---\n# b\n"
        self.assertEqual(skill.form(good), [])
        for bad in ("# b\n", good.replace("entrupy-sim", "other"), good.replace(": a", ": " + "a" * 1025), good + "\n" * 500):
            self.assertNotEqual(skill.form(bad), [])


class AgentsTest(unittest.TestCase):
    """scripts/agents on a small checkout."""

    def agents(self, text, lines=0):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("Tests/A", "scripts", "Sources/Server/Wire"):
                (root / name).mkdir(parents=True)
            (root / "Makefile").write_text("PORT ?= 1\ntest: release\n\ttrue $(if $(FILTER),1)\n")
            (root / "scripts/x").write_text("")
            (root / "Tests/A/RuleTests.swift").write_text("@Suite struct RuleTests {\n    @Test func aRule() {}\n}\n")
            (root / "AGENTS.md").write_text(text + "\n" * lines)
            ended = subprocess.run([sys.executable, "-B", str(AGENTS), "--root", str(root)], capture_output=True, text=True)
        return ended.returncode, ended.stderr

    def test_what_exists_is_accepted(self):
        text = "`make test FILTER=RuleTests`, `scripts/x`, `Sources/Server/Wire`, `Tests/A/*.swift`, `RuleTests`, `aRule()`, `[D name]`, `Wire/`, `Tests/A`"
        self.assertEqual(self.agents(text), (0, ""))

    def test_what_is_missing_is_named(self):
        for text, problem in [
                ("`make tests`", "AGENTS.md:1: the Makefile has no target 'tests'"), ("a\n`scripts/y`", "AGENTS.md:2: there is no scripts/y"),
                ("`Tests/A/*.py`", "no file matches Tests/A/*.py"), ("`OtherTests`", "there is no test or suite OtherTests"),
                ("`make test FILTR=a`", "the Makefile knows no FILTR"), ("[a](scripts/z)", "there is no scripts/z"),
                ("```sh\nmake tset\n```", "AGENTS.md:2: the Makefile has no target 'tset'"), ("`make test FILTER=GoneTests`", "no test or suite GoneTests")]:
            status, said = self.agents(text)
            self.assertEqual(status, 1, text)
            self.assertIn(problem, said)

    def test_a_long_file_is_refused(self):
        self.assertIn("fewer than 150 lines", self.agents("a", 150)[1])


if __name__ == "__main__":
    unittest.main()
