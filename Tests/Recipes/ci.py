"""Runs the recipes of recipes/ci as their CI system would, with tests that pass and with tests that fail.

    .build/test-recipes/bin/python -B Tests/Recipes/ci.py --binary PROGRAM     (needs PyYAML: make test-recipes)

The scripts are taken out of the files and run as they stand, in a folder with a small project. Only the way in which the program gets
there is another one, since nothing is published yet: each recipe has one step that downloads it, and that one is replaced by PROGRAM.
Of GitHub's services the container is replaced too, by PROGRAM with the environment of the image and of the service. Checked are the exit
code, the JUnit files, the summary, and that every artifact that a recipe names is there.
"""

import argparse
import contextlib
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECIPES = ROOT / "recipes" / "ci"
VERSION = (ROOT / "VERSION").read_text().strip()
failures = []

# The project of the team that copies a recipe. MODE says what its tests do.
MAKEFILE = "test:\n\t@python3 tests.py\n"
TESTS = '''
import json, os, pathlib, sys, urllib.request

def ask(path, **headers):
    request = urllib.request.Request(os.environ["ENTRUPY_SIM_URL"] + path, headers={
        "Authorization": "Token " + os.environ["ENTRUPY_SIM_API_TOKEN"], **headers})
    try:
        return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code

mode = pathlib.Path("MODE").read_text()
status = ask("/v2/webhooks" + ("?token=demo-api-token" if mode == "misuse" else ""))
if mode == "more":
    ask("/v1/health", **{"Api-Version": "1.3"})
wanted = 404 if mode == "fail" else 200
fails = status != wanted
pathlib.Path("reports").mkdir(exist_ok=True)
pathlib.Path("reports/tests.xml").write_text(
    f'<testsuites tests="1" failures="{int(fails)}"><testsuite name="shop" tests="1" failures="{int(fails)}">'
    '<testcase classname="shop" name="webhooks are listed">' + ("<failure/>" if fails else "") + "</testcase></testsuite></testsuites>")
sys.exit(3 if fails else 0)
'''


def check(name, holds, text=""):
    print(("ok    " if holds else "FAIL  ") + name + ("" if holds else f"\n{text}"), flush=True)
    if not holds:
        failures.append(name)


class Job:
    """A folder with the project, in which the scripts of a recipe run."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        (self.workspace / "Makefile").write_text(MAKEFILE)
        (self.workspace / "tests.py").write_text(TESTS)
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.said = ""
        self.paths = []

    def set_mode(self, mode):
        (self.workspace / "MODE").write_text(mode)

    def put_program(self, place):
        """What a recipe's download does."""
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.program, place / "entrupy-sim")

    def run(self, shell, script, environment=None):
        """Runs a script. Returns its exit code."""
        # Nothing of the caller's environment gives a recipe what it lacks.
        plain = {"PATH": ":".join([*self.paths, os.environ["PATH"]]), "HOME": str(self.folder), "LANG": "C.UTF-8",
                 "TMPDIR": str(self.temporary)}
        done = subprocess.run(
            [*shell, script], cwd=self.workspace, env={**plain, **(environment or {})}, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300)
        self.said += done.stdout
        return done.returncode

    def files(self, pattern):
        """The files that a path or pattern of artifacts names: of a folder, all in it."""
        found = []
        for path in glob.glob(str(self.workspace / pattern), recursive=True, include_hidden=True):
            found += [path] if os.path.isfile(path) else [str(one) for one in pathlib.Path(path).rglob("*") if one.is_file()]
        return sorted({os.path.relpath(path, self.workspace) for path in found})


def junit(path, beginning=""):
    """The numbers of test cases and of those that failed, of those whose names begin so."""
    root = xml.etree.ElementTree.parse(path).getroot()
    cases = [case for case in root.iter("testcase") if case.get("name").startswith(beginning)]
    return len(cases), sum(1 for case in cases if case.find("failure") is not None)


def check_reports(name, job, mode, audited, summary, page, bundle):
    """The JUnit files and the summary, whatever the tests did; after a failure the page and the bundle."""
    tests = junit(job.workspace / "reports/tests.xml")
    check(f"{name}, {mode}: JUnit of the tests", tests == (1, 1 if mode == "fail" else 0), str(tests))
    cases, wrong = junit(audited, "audit ") if audited.is_file() else (0, None)
    check(f"{name}, {mode}: JUnit of the audit", cases > 10 and wrong == (1 if mode == "misuse" else 0), f"{audited}: {cases} {wrong}\n{job.said}")
    text = summary.read_text() if summary.is_file() else ""
    check(f"{name}, {mode}: summary", "## Audit of" in text and ("token-in-url" in text) == (mode == "misuse"), text)
    failed = mode in ("fail", "misuse", "lost")
    if failed and page is not None:
        opened = subprocess.run([job.program, "audit", "--fail-on", "never", str(bundle)], capture_output=True, text=True)
        check(f"{name}, {mode}: a page, and a bundle that opens",
              page.is_file() and "</html>" in page.read_text() and opened.returncode == 0, f"{page} {opened.stderr}\n{job.said}")
    elif page is not None:
        check(f"{name}, {mode}: no page and no bundle", not page.exists() and not bundle.exists())


def check_artifacts(name, mode, job, patterns, may_lack=()):
    for pattern in patterns:
        if pattern not in may_lack:
            check(f"{name}, {mode}: {pattern} is there", bool(job.files(pattern)), job.said)


# MARK: GitLab and Jenkins


def gitlab(path):
    """The scripts of the job, with the download replaced; its artifacts; its JUnit files."""
    recipe = yaml.safe_load(path.read_text())
    (job,) = [one for one in recipe.values() if "script" in one]
    downloads = [line for line in job["before_script"] if line == f"pip install --quiet entrupy-sim=={VERSION}"]
    check("gitlab-ci.yml: one line gets the program, in this version", len(downloads) == 1, str(job["before_script"]))
    artifacts = job["artifacts"]
    check("gitlab-ci.yml: artifacts are kept always", artifacts["when"] == "always")
    lines = [line for line in job["before_script"] if line not in downloads] + job["script"]

    def run(one):
        one.put_program(one.folder / "bin")
        one.paths = [str(one.folder / "bin")]
        return one.run(["bash", "-eo", "pipefail", "-c"], "\n".join(lines), {"CI": "true", "code": "7"})

    return run, artifacts["paths"], artifacts["reports"]["junit"]


def jenkins(path):
    text = path.read_text()
    # What Groovy would change: a backslash, and a dollar in double quotes.
    blocks = [textwrap.dedent(block) for block in re.findall(r"sh '''\n(.*?)'''", text, re.S)]
    check("Jenkinsfile: two blocks of sh, without a backslash", len(blocks) == 2 and "\\" not in "".join(blocks), str(blocks))
    bare = re.sub(r"'''.*?'''|'[^'\n]*'|//[^\n]*", "", text, flags=re.S)
    depth, lowest = 0, 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        lowest = min(lowest, depth)
    check("Jenkinsfile: braces are in pairs", depth == 0 and lowest == 0)
    kept = re.search(r"post \{\s+always \{(.*?)\n        \}", text, re.S)
    check("Jenkinsfile: results are kept always", kept is not None)
    reports = re.findall(r"junit testResults: '([^']+)'", kept.group(1))
    artifacts = re.search(r"archiveArtifacts artifacts: '([^']+)'", kept.group(1)).group(1).split(", ")
    install, test = blocks
    check("Jenkinsfile: the first block gets the program, in this version, and nothing else",
          f"/releases/download/v{VERSION}/install.sh" in install and '--to "$WORKSPACE/.tools"' in install and "make" not in install, install)

    def run(one):
        one.put_program(one.workspace / ".tools")
        return one.run(["sh", "-xec"], test, {"WORKSPACE": str(one.workspace), "CI": "true", "code": "7"})

    return run, artifacts, reports


def check_one_line(name, read, folder, program, modes):
    """A recipe whose heart is `entrupy-sim run`."""
    run, artifacts, reports = read(RECIPES / name)
    # 2 is that of make.
    codes = {"pass": 0, "fail": 2, "misuse": 1, "lost": 1}
    for mode in modes:
        job = Job(folder / f"{name}-{mode}", program)
        if mode == "lost":
            job.set_mode("more")
            check(f"{name}, {mode}: the first run writes the baseline", run(job) == 0 and job.files("coverage.json") != [], job.said)
            shutil.rmtree(job.workspace / "reports")
        job.set_mode(mode)
        begin = time.monotonic()
        code = run(job)
        check(f"{name}, {mode}: exit code {codes[mode]} ({time.monotonic() - begin:.1f} s)", code == codes[mode], f"{code}\n{job.said}")
        place = job.workspace / "reports"
        check_reports(name, job, mode, place / "audit.xml", place / "summary.md", place / "report.html", place / "bundle.tar")
        # The baseline is written by a run that succeeds.
        check_artifacts(name, mode, job, artifacts + reports, may_lack=["coverage.json"] if mode in ("fail", "misuse") else [])
        if mode == "lost":
            check(f"{name}, {mode}: the lost edge is named", "GET /v1/health 200" in job.said, job.said)


# MARK: GitHub


TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(&&|\|\||==|!=|[!()])|([A-Za-z_][\w.-]*(?:\['[^']+'\])?))")


def evaluate(text, names, status):
    """An expression of a workflow: names, texts, comparisons, and the functions of a step's status."""
    code, at = "", 0
    text = text.strip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise SystemExit(f"an expression that this test does not know: {text}")
        at = found.end()
        literal, operator, name = found.groups()
        if literal:
            code += repr(literal[1:-1].replace("''", "'"))
        elif operator:
            code += {"&&": " and ", "||": " or ", "!": " not "}.get(operator, operator)
        elif name in ("always", "failure", "success"):
            code += name
        elif name in names:
            code += repr(names[name])
        else:
            raise SystemExit(f"an expression names {name}, which this test does not know")
    functions = {"always": lambda: True, "failure": lambda: status == "failure", "success": lambda: status == "success"}
    return eval(code, {"__builtins__": {}}, functions)  # Only what the lines above wrote.


class Workflow:
    """A job of a workflow: its steps, and those of the actions of this repository that it uses."""

    def __init__(self, path, job, services=None):
        (self.recipe,) = yaml.safe_load(path.read_text())["jobs"].values()
        self.name, self.job, self.status = path.name, job, "success"
        self.uploads, self.replaced = {}, []
        self.names = {"github.server_url": "https://github.com", "github.action_repository": "OWNER/entrupy-sim", "github.job": "test",
                      "github.run_attempt": "1", "strategy.job-index": "0", **(services or {})}
        for name in ("ENV", "PATH", "OUTPUT", "STEP_SUMMARY"):
            (job.temporary / name).write_text("")
        self.summary = job.temporary / "STEP_SUMMARY"
        self.environment = {key: str(value) for key, value in self.recipe.get("env", {}).items()}

    def text(self, value, names):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: self.shown(evaluate(found.group(1), names, self.status)), str(value))

    @staticmethod
    def shown(value):
        return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)

    def run(self):
        """Runs the job. Returns whether it succeeded."""
        self.steps(self.recipe["steps"], {}, None)
        return self.status == "success"

    def steps(self, steps, inputs, action):
        for step in steps:
            names = {**self.names, "job.status": self.status, **{f"inputs.{key}": value for key, value in inputs.items()}}
            condition = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", str(step.get("if", "success()")))
            # Without a function of the status, a step needs the success of those before.
            if "always()" not in condition and "failure()" not in condition:
                condition = f"success() && ({condition})"
            if not evaluate(condition, names, self.status):
                continue
            if not (self.use(step, names) if "uses" in step else self.script(step, names, action)):
                self.status = "failure"

    def script(self, step, names, action):
        script = step["run"]
        if "docker cp " in script:
            self.replaced.append(script)
            self.job.put_program(self.job.temporary / "bin")
            script = "\n".join(line for line in script.splitlines() if not line.startswith("docker cp "))
        for line in (self.job.temporary / "ENV").read_text().splitlines():
            key, _, value = line.partition("=")
            self.environment[key] = value
        self.job.paths = list(reversed((self.job.temporary / "PATH").read_text().split()))
        environment = {
            **self.environment, **{key: self.text(value, names) for key, value in step.get("env", {}).items()},
            "GITHUB_ACTIONS": "true", "CI": "true", "RUNNER_TEMP": str(self.job.temporary), "GITHUB_WORKSPACE": str(self.job.workspace),
            **{f"GITHUB_{name}": str(self.job.temporary / name) for name in ("ENV", "PATH", "OUTPUT", "STEP_SUMMARY")},
            **({"GITHUB_ACTION_PATH": str(action)} if action else {})}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"] if step.get("shell") == "bash" else ["bash", "-e", "-c"]
        return self.job.run(shell, self.text(script, names), environment) == 0

    def use(self, step, names):
        given = {key: self.text(value, names) for key, value in step.get("with", {}).items()}
        name, _, version = step["uses"].partition("@")
        if name == "actions/checkout":
            return True
        if name == "actions/upload-artifact":
            files = self.job.files(given["path"])
            self.uploads[given["name"]] = files
            return bool(files) or given.get("if-no-files-found") != "error"
        if not name.startswith("OWNER/entrupy-sim") or version != f"v{VERSION}":
            raise SystemExit(f"{self.name} uses {step['uses']}, which this test does not know in this version")
        folder = ROOT / name.removeprefix("OWNER/entrupy-sim").strip("/")
        action = yaml.safe_load((folder / "action.yml").read_text())
        if unknown := set(given) - set(action["inputs"]):
            raise SystemExit(f"{self.name} gives {', '.join(unknown)}, which {folder.name}/action.yml does not have")
        inputs = {key: self.text(given.get(key, one.get("default", "")), names) for key, one in action["inputs"].items()}
        if "binary" in inputs:
            self.replaced.append(step["uses"])
            inputs["binary"] = self.job.program
        # For the steps of an action, success() is that of the action: it begins anew.
        before, self.status = self.status, "success"
        self.steps(action["runs"]["steps"], inputs, folder)
        succeeded, self.status = self.status == "success", before
        return succeeded

    def close(self):
        """Ends a server that a step left."""
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((self.job.temporary / "entrupy-sim-action/pid").read_text()), signal.SIGTERM)


def check_action(folder, program, modes):
    name = "github-action.yml"
    for mode in modes:
        if mode == "lost":
            continue  # The recipe has no baseline.
        job = Job(folder / f"{name}-{mode}", program)
        job.set_mode(mode)
        with contextlib.closing(Workflow(RECIPES / name, job)) as workflow:
            succeeded = workflow.run()
            check(f"{name}, {mode}: the job {'succeeds' if mode == 'pass' else 'fails'}", succeeded == (mode == "pass"), job.said)
            check(f"{name}, {mode}: one step gets the program", workflow.replaced == [f"OWNER/entrupy-sim@v{VERSION}"], str(workflow.replaced))
            place = job.workspace / "entrupy-sim-report"
            # The end of the action has no page of a job whose tests pass, also if an audit then fails it.
            shown = (place / "default.html", place / "default.bundle") if mode != "misuse" else (None, None)
            check_reports(name, job, mode, place / "default.audit.xml", workflow.summary, *shown)
            kept = workflow.uploads.get("entrupy-sim-test-0-1", [])
            wanted = ["default.audit.xml"] + (["default.bundle", "default.html", "server.log"] if mode == "fail" else [])
            check(f"{name}, {mode}: artifacts", workflow.uploads.get("reports") == ["reports/tests.xml"]
                  and {f"entrupy-sim-report/{one}" for one in wanted} <= set(kept), str(workflow.uploads))
            check(f"{name}, {mode}: the server has ended", not (job.temporary / "entrupy-sim-action/pid").exists())


@contextlib.contextmanager
def service(recipe, program, port):
    """PROGRAM as the container of a service: the environment of the image, then that of the service. It listens on loopback alone."""
    image = dict(re.findall(r"(ENTRUPY_SIM_\w+)=(\S+)", re.search(r"^ENV (.*)$", (ROOT / "Dockerfile").read_text(), re.M).group(1)))
    if image.get("ENTRUPY_SIM_HOST") == "0.0.0.0" and "ENTRUPY_SIM_CONTROL_OPEN" not in recipe["env"]:
        raise SystemExit("the service would ask for a control token")
    with tempfile.TemporaryDirectory() as data:
        environment = {**image, **recipe["env"], "ENTRUPY_SIM_HOST": "127.0.0.1", "ENTRUPY_SIM_DATA_DIR": data, "ENTRUPY_SIM_PORT": str(port),
                       "ENTRUPY_SIM_PUBLIC_URL": f"http://127.0.0.1:{port}", "PATH": os.environ["PATH"]}
        process = subprocess.Popen([program, "serve", "--ready-json", "--exit-with-parent"], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            json.loads(process.stdout.readline())
            yield
        finally:
            process.terminate()
            process.communicate(timeout=60)


def check_services(folder, program, modes):
    name = "github-services.yml"
    recipe = yaml.safe_load((RECIPES / name).read_text())["jobs"]["test"]
    (one,) = recipe["services"].values()
    check(f"{name}: the image has this version", one["image"] == f"ghcr.io/OWNER/entrupy-sim:{VERSION}", one["image"])
    check(f"{name}: the tests ask the port of the service", one["ports"] == ["8642:8642"] and recipe["env"]["ENTRUPY_SIM_URL"].endswith(":8642"))
    for mode in modes:
        if mode == "lost":
            continue  # The recipe has no baseline.
        job = Job(folder / f"{name}-{mode}", program)
        job.set_mode(mode)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with service(one, program, port):
            workflow = Workflow(RECIPES / name, job, {"job.services.entrupy-sim.id": "container"})
            # Another port, since 8642 may be in use here.
            workflow.environment["ENTRUPY_SIM_URL"] = f"http://127.0.0.1:{port}"
            succeeded = workflow.run()
        check(f"{name}, {mode}: the job {'succeeds' if mode == 'pass' else 'fails'}", succeeded == (mode == "pass"), job.said)
        check(f"{name}, {mode}: one step gets the program", len(workflow.replaced) == 1 and "make" not in workflow.replaced[0])
        place = job.workspace / "reports"
        check_reports(name, job, mode, place / "audit.xml", workflow.summary, place / "report.html", place / "bundle.tar")
        wanted = {"audit.xml", "tests.xml", "coverage.html", "coverage.txt"} | ({"report.html", "bundle.tar"} if mode != "pass" else set())
        check(f"{name}, {mode}: artifacts", set(workflow.uploads["reports"]) == {f"reports/{one}" for one in wanted}, str(workflow.uploads))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--short", action="store_true", help="only tests that pass, and tests that fail")
    given = parser.parse_args()
    program = str(pathlib.Path(given.binary).resolve())
    modes = ("pass", "fail") if given.short else ("pass", "fail", "misuse", "lost")
    known = {"github-action.yml", "github-services.yml", "gitlab-ci.yml", "Jenkinsfile"}
    there = {path.name for path in RECIPES.iterdir() if path.name != "README.md"}
    check("each recipe is run here", there == known, str(there ^ known))
    if not shutil.which("make"):
        sys.exit("the project of this test needs make")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_one_line("gitlab-ci.yml", gitlab, folder, program, modes)
        check_one_line("Jenkinsfile", jenkins, folder, program, modes)
        check_action(folder, program, modes)
        check_services(folder, program, modes)
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


main()
