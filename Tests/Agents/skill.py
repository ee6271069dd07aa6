#!/usr/bin/env python3
"""Runs everything that skills/entrupy-sim/SKILL.md says, in order, with the real program, and compares what it shows.

    skill.py --binary .build/release/entrupy-sim

The skill starts its own server. Its example for pytest runs in a virtual environment in .build/agents, with the plugin of
recipes/python. Exits with 1 if a command fails, or prints something else than the skill shows.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from document import ROOT, problems, run, steps  # noqa: E402

SKILL = ROOT / "skills" / "entrupy-sim" / "SKILL.md"
ENVIRONMENT = ROOT / ".build" / "agents"
PYTEST = "pytest==8.3.4"


def form(text):
    """What is wrong with the form of the skill."""
    found = []
    front = re.match(r"---\nname: (.+)\ndescription: (.+)\n---\n", text)
    if not front:
        return ["SKILL.md begins with front matter that has name and description, a line each"]
    if front.group(1) != SKILL.parent.name:
        found.append(f"the name is that of the folder, {SKILL.parent.name}, not {front.group(1)}")
    if len(front.group(2)) > 1024:
        found.append(f"the description has at most 1,024 characters, not {len(front.group(2))}")
    if text.count("\n") >= 500:
        found.append(f"the skill has fewer than 500 lines, not {text.count(chr(10))}")
    return found


def python_problems(blocks, binary):
    """Runs the examples for pytest."""
    python = ENVIRONMENT / "bin" / "python3"
    stamp = ENVIRONMENT / "installed"
    if not stamp.exists() or stamp.read_text() != PYTEST:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTEST], check=True)
        stamp.write_text(PYTEST)
    found = []
    for block in blocks:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "test_skill.py").write_text(block.text + "\n", encoding="utf-8")
            ended = subprocess.run(
                [python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_entrupy_sim", "test_skill.py"], cwd=folder,
                capture_output=True, text=True, timeout=120,
                env={**os.environ, "ENTRUPY_SIM_BINARY": binary, "PYTHONPATH": str(ROOT / "recipes" / "python"), "PYTHONDONTWRITEBYTECODE": "1"})
        if ended.returncode != 0 or "1 passed" not in ended.stdout:
            found.append(f"{SKILL.name}:{block.line}: the example for pytest fails:\n{ended.stdout[-1500:]}{ended.stderr[-500:]}")
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", required=True)
    options.add_argument("--document", type=pathlib.Path, default=SKILL, help=argparse.SUPPRESS)
    options = options.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    text = options.document.read_text(encoding="utf-8")
    found = form(text)
    todo = steps(text)
    shell = [step for step in todo if step.kind in ("sh", "command")]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "bin").mkdir()
        (folder / "bin" / "entrupy-sim").symlink_to(binary)
        # Nothing of the caller's may choose a server.
        variables = {name: "" for name in os.environ if name.startswith("ENTRUPY_SIM_")}
        shell_variables = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        for name in variables:
            os.environ.pop(name)
        (folder / "work").mkdir()
        errors = run(shell, folder / "work", shell_variables)
        found += problems(shell, options.document.name)
        left = sorted(path.name for path in (folder / "work").iterdir() if path.name not in (".output", ".errors"))
        if left and not found:
            found.append(f"the skill leaves files behind: {', '.join(left)}")
    examples = [step for step in todo if step.kind == "python"]
    found += python_problems(examples, binary)
    if found:
        print("\n".join(found))
        print(f"what was printed on standard error:\n{errors[-3000:]}" if errors else "")
        return 1
    print(f"skill: {sum(step.kind == 'sh' for step in shell)} blocks, {sum(step.kind == 'command' for step in shell)} commands and "
          f"{len(examples)} example for pytest do what it says; {sum(step.shown is not None for step in shell)} outputs are as shown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
