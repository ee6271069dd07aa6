"""Reads a Markdown document that coding agents follow, and runs what it says: blocks and commands in order, in one shell.

Shared by skill.py and llms.py. A step is an `sh` block, or a code span that begins with `entrupy-sim `, wherever it stands. A `text`
block after an `sh` block is what that prints: … stands for anything within a line, a line of … alone for any number of lines.
"""
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MARK = "@@ step"


class Step:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line
        #: What the document shows of its output; None if nothing.
        self.shown = None
        self.status, self.output = None, ""


def steps(text):
    """The steps of a document in order, those of other languages too: `python` blocks are the caller's."""
    found, fence, block, start = [], None, [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if fence is not None:
            if line.strip() == "```":
                if fence == "text":
                    if not found or found[-1].kind != "sh" or found[-1].shown is not None:
                        raise SystemExit(f"line {start}: a text block shows what the sh block before it prints; there is none")
                    found[-1].shown = "\n".join(block)
                else:
                    found.append(Step(fence, "\n".join(block), start))
                fence = None
            else:
                block.append(line)
        elif line.startswith("```"):
            fence, block, start = line[3:].strip(), [], number
            if fence not in ("sh", "text", "python", "json", "yaml"):
                raise SystemExit(f"line {number}: a block is sh, text, python, json or yaml, not {fence!r}")
        else:
            found += [Step("command", span, number) for span in spans(line) if re.match(r"entrupy-sim( |$)", span)]
    if fence is not None:
        raise SystemExit(f"line {start}: the block is not closed")
    return found


def spans(line):
    """The code spans of a line."""
    return re.findall(r"`([^`]+)`", line)


def run(todo, folder, variables, first=""):
    """Runs steps of a shell in order, in one bash in `folder`. Each step gets its exit status and what it printed."""
    lines = ["trap 'kill $(jobs -p) 2>/dev/null' EXIT", first]
    for number, step in enumerate(todo):
        # A block that has two commands fails if the first one does.
        text = step.text if step.kind == "sh" else f"{step.text} </dev/null"
        lines += [f"printf '\\n{MARK} {number} begins\\n'", f"eval {shlex.quote(guarded(text))}", f"printf '\\n{MARK} {number} ends %s\\n' $?"]
    with open(folder / ".output", "wb") as output, open(folder / ".errors", "wb") as errors:
        try:
            subprocess.run(
                ["bash", "--noprofile", "--norc", "-c", "\n".join(lines)], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                timeout=300, check=False, env={**os.environ, **variables})
        except subprocess.TimeoutExpired:
            pass
    shown = (folder / ".output").read_text(encoding="utf-8", errors="replace")
    for number, step in enumerate(todo):
        begun = shown.split(f"\n{MARK} {number} begins\n", 1)
        ended = re.search(rf"(.*?)\n?\n{MARK} {number} ends (\d+)\n", begun[1], re.S) if len(begun) == 2 else None
        step.output = ended.group(1) if ended else (begun[1] if len(begun) == 2 else "")
        step.status = int(ended.group(2)) if ended else None
    return (folder / ".errors").read_text(encoding="utf-8", errors="replace")


def guarded(text):
    """A block that ends with the first status that is not 0. A list (`a && b`, `a || b`) is one command, as in `set -e`."""
    return f"STEP_STATUS=0; trap 'STEP_STATUS=$?' ERR\n{text}\ntrap - ERR; (exit $STEP_STATUS)"


def is_as_shown(shown, output):
    """Whether an output is as the document shows it."""
    return is_like([line.rstrip() for line in shown.strip("\n").split("\n")], [line.rstrip() for line in output.strip("\n").split("\n")])


def is_like(shown, found):
    if not shown:
        return not found
    if shown[0].strip() == "…":
        return any(is_like(shown[1:], found[skipped:]) for skipped in range(len(found) + 1))
    pattern = ".*".join(map(re.escape, shown[0].split("…")))
    return bool(found) and re.fullmatch(pattern, found[0]) is not None and is_like(shown[1:], found[1:])


def problems(todo, name):
    """What is not as the document says, a text each."""
    found = []
    for step in todo:
        place = f"{name}:{step.line}"
        if step.status is None:
            found.append(f"{place}: this did not end, or the one before it: {step.text.splitlines()[0]}")
            break
        if step.status != 0:
            found.append(f"{place}: exit status {step.status}: {step.text.splitlines()[0]}\n{step.output[-800:]}")
        elif step.shown is not None and not is_as_shown(step.shown, step.output):
            found.append(f"{place}: the document shows\n{step.shown}\nand it printed\n{step.output}")
    return found
