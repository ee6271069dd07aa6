#!/usr/bin/env python3
"""Runs the recipes for containers with the engine that answers: Compose, Kubernetes (with Podman) and Testcontainers.

    Tests/Container/recipes.py --tools VENV [--image NAME] [--only compose|kubernetes|testcontainers] [--short]

VENV has podman-compose, PyYAML, kubernetes-validate, pytest and testcontainers. --short leaves out what takes long to install: it then needs
podman-compose and PyYAML alone. PYTHON_IMAGE names an image with Python for Compose's back end, else one is made with Debian's Python.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STAND_INS = ROOT / "Tests/Container/stand-ins"
RECIPES = ROOT / "recipes"
sys.path[:0] = [str(ROOT / "Tests/Support"), str(ROOT / "Tests/Container")]
from engine import Engine, EngineError, ask, meaning, must, wait_until, without_notes  # noqa: E402
from image import check, check_urls, free_port, ok, ready  # noqa: E402


def python_image(engine):
    """An image with Python: the one that PYTHON_IMAGE names, or one made of the base image that is there already."""
    if os.environ.get("PYTHON_IMAGE"):
        return os.environ["PYTHON_IMAGE"]
    name = "localhost/entrupy-sim-try-python"
    base = next(line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("FROM debian"))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "Dockerfile").write_text(
            f"FROM {base}\nRUN apt-get update && apt-get install --yes --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*\n")
        engine.build("--tag", name, folder)
    return name


def shown(readme):
    """The lines of the block that a README promises to be run."""
    text = (RECIPES / readme).read_text()
    found = re.findall(r"make test-containers runs it -->\n```sh\n(.*?)```", text, re.S)
    check(len(found) == 1, f"{readme} has {len(found)} blocks that are run, not 1")
    return found[0].splitlines()


# Compose

def compose_command(engine, tools, folder):
    """`docker compose` where the engine has it, else podman-compose, which is given the engine as a program."""
    if not engine.is_podman and engine.status("compose", "version")[0] == 0:
        return [*engine.command, "compose"]
    program = folder / "engine"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(engine.command)} "$@"\n')
    program.chmod(0o755)
    return [str(tools / "bin/podman-compose"), "--podman-path", str(program)]


def check_compose(engine, image, arguments, folder):
    port = free_port()
    environment = {**os.environ, "ENTRUPY_SIM_IMAGE": image, "ENTRUPY_SIM_PORT": str(port), "PYTHON_IMAGE": python_image(engine),
                   "COMPOSE_PROJECT_NAME": engine.name("compose")}
    command = compose_command(engine, arguments.tools, folder)

    def compose(*words):
        done = subprocess.run([*command, *words], cwd=RECIPES / "compose", env=environment, capture_output=True, timeout=600,
                              stdin=subprocess.DEVNULL)
        return done.returncode, without_notes(done.stdout + done.stderr)

    change, tests, down = shown("compose/README.md")
    check(change == "cd recipes/compose" and all(line.startswith("docker compose ") for line in (tests, down)), "compose/README.md")
    tests, down = (shlex.split(line)[2:] for line in (tests, down))
    ok(f"an image with Python; {' '.join(command[:2])}")
    try:
        if not arguments.short:
            # It says so, and does not run the tests against another server.
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", port))
                taken.listen()
                code, said = compose(*tests)
                check(code != 0 and "port" in (meaning(said) or ""), f"a port that is in use: exit code {code}: {said}")
                check("Ran " not in said, "the tests ran although the port is in use")
            compose(*down)
            ok("a port that is in use ends it, with the reason")

        code, said = compose(*tests)
        check(code == 0 and "Ran 4 tests" in said and "\nOK" in said, f"the tests of the recipe: exit code {code}: {said}")
        ok("the back end's four tests pass; webhooks reach it by its service's name")
        base = f"http://127.0.0.1:{port}"
        check_urls(base, {})
        ok("the published port answers with its own address at the same time")

        if not arguments.short:
            code, said = compose(*tests[:-1], "-e", "ENTRUPY_SIM_URL=http://nobody:8642", tests[-1])
            check(code != 0 and "FAILED" in said, f"tests that fail exit with {code}")
            ok("tests that fail make it fail")
        names = engine.run("ps", "--format", "{{.Names}}").split()
        server = next(name for name in names if engine.name("compose") in name and "entrupy-sim" in name.removeprefix(engine.name("compose")))
        host = engine.inspect(server)["HostConfig"]
        check(host["ReadonlyRootfs"] and host["CapDrop"], "the compose file's limits do not count")
        if engine.is_podman:
            wait_until(lambda: engine.status("healthcheck", "run", server)[0] == 0, 20, "the health check of the compose file")
        else:
            wait_until(lambda: engine.inspect(server)["State"]["Health"]["Status"] == "healthy", 20, "the health check of the compose file")
        ok("the server is healthy, with a read-only root and no capability")
    finally:
        compose(*down)
    left = [name for name in engine.run("ps", "--all", "--format", "{{.Names}}").split() if engine.name("compose") in name]
    check(not left, f"`down` leaves {left}")


# Kubernetes

def restricted(template, place):
    """Checks a pod's template against the restricted policy of the Pod Security Standards, as far as it has parts that the policy names."""
    spec = template["spec"]
    pod = spec.get("securityContext", {})
    check(pod.get("runAsNonRoot") is True and pod.get("runAsUser", 1) != 0, f"{place}: runAsNonRoot")
    check(pod.get("seccompProfile", {}).get("type") == "RuntimeDefault", f"{place}: seccompProfile")
    check(not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")), f"{place}: it uses the host's namespaces")
    for volume in spec.get("volumes", []):
        kinds = set(volume) - {"name"}
        check(kinds <= {"emptyDir", "persistentVolumeClaim", "configMap", "secret", "projected", "csi", "ephemeral", "downwardAPI"},
              f"{place}: a volume is {kinds}")
    for container in spec["containers"]:
        own = container["securityContext"]
        check(own.get("allowPrivilegeEscalation") is False and own.get("readOnlyRootFilesystem") is True, f"{place}: {own}")
        check(own["capabilities"]["drop"] == ["ALL"] and not own["capabilities"].get("add"), f"{place}: capabilities")
        check(not any("hostPort" in port for port in container["ports"]), f"{place}: it takes a port of the node")
        check({"cpu", "memory"} <= set(container["resources"]["requests"]), f"{place}: resource requests")
        check(container["readinessProbe"]["httpGet"]["path"] == "/_sim/ready", f"{place}: readinessProbe")


def check_kubernetes_files(tools):
    """Checks the files against Kubernetes' own schema, and their pods against the restricted policy."""
    places = ["kubernetes.yaml", "fleet/kubernetes.yaml"]
    if tools:
        program = tools / "bin/kubernetes-validate"
        for place in places:
            done = subprocess.run([program, "--strict", "--quiet", RECIPES / place], capture_output=True, text=True)
            check(done.returncode == 0, f"{place}: {done.stdout}{done.stderr}")
    restricted(next(part for part in documents() if part["kind"] == "Deployment")["spec"]["template"], places[0])
    ok(f"{' and '.join(places)}: " + ("valid for Kubernetes' schema; " if tools else "") + "the first is restricted")


def documents():
    return list(yaml.safe_load_all((RECIPES / "kubernetes.yaml").read_text()))


def check_kubernetes(engine, image, arguments, folder):
    check_kubernetes_files(None if arguments.short else arguments.tools)
    if not engine.is_podman:
        return print("skipped: kubernetes.yaml in a pod, which needs Podman (`podman kube play`)")
    port, token = free_port(), "token-of-the-secret"
    parts = documents()
    deployment = next(part for part in parts if part["kind"] == "Deployment")
    # What depends on the machine: names, the image, and the port, which a cluster reaches by the service.
    deployment["metadata"]["name"] = pod = engine.name("kube")
    spec = deployment["spec"]["template"]["spec"]
    container = spec["containers"][0]
    container["image"] = image
    container["ports"][0].update(hostPort=port, hostIP="127.0.0.1")
    volume = engine.name("kube-data")
    spec["volumes"][0]["name"] = container["volumeMounts"][0]["name"] = volume
    secret = engine.name("kube-secret")
    container["env"][0]["valueFrom"]["secretKeyRef"]["name"] = secret
    # Podman reads a secret that it was given before, in JSON; older versions cannot read one of the same file.
    given = folder / "secret.json"
    encoded = base64.b64encode(token.encode()).decode()
    given.write_text(json.dumps({"control-token": encoded}))
    engine.run("secret", "create", secret, str(given))
    played = folder / "kubernetes.yaml"
    played.write_text(yaml.safe_dump_all([part for part in parts if part["kind"] != "Secret"]))
    try:
        engine.run("kube", "play", str(played))
        name = f"{pod}-pod-0-entrupy-sim"
        if engine.status("container", "exists", name)[0] != 0:
            name = f"{pod}-pod-entrupy-sim"
        base = f"http://127.0.0.1:{port}"
        wait_until(lambda: ask(base + "/_sim/ready", timeout=5)[0] == 200, 30, f"the pod is not ready: {engine.status('logs', name)[1]}")
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            target = container[probe]["httpGet"]
            check(target["port"] == container["ports"][0]["name"], f"{probe}: {target}")
            check(ask(base + target["path"])[0] == 200, f"{probe}: {target['path']} is not 200")
        ok("a pod answers what its probes ask")
        check(ask(f"{base}/_sim/clock")[0] == 401, "the control API needs no token")
        control = {"X-Sim-Control-Token": token}
        check_urls(base, control)
        for host, status in [("entrupy-sim", 200), ("entrupy-sim.testing.svc", 200), ("entrupy-sim.testing.svc.cluster.local", 200),
                             ("evil.example.com", 403)]:
            found = ask(f"{base}/_sim/clock", headers={**control, "Host": f"{host}:8642"})[0]
            check(found == status, f"the host {host} gets {found}, not {status}")
        ok("the secret is its control token; it answers to the service's names and to no other")
        state = dict(line.split(":\t", 1) for line in engine.run("exec", name, "cat", "/proc/1/status").splitlines() if ":\t" in line)
        check(int(state["CapBnd"], 16) == int(state["CapEff"], 16) == 0, f"it has capabilities: {state['CapBnd']}")
        check(state["NoNewPrivs"] == "1" and state["Seccomp"] == "2", f"NoNewPrivs {state['NoNewPrivs']}, Seccomp {state['Seccomp']}")
        check(state["Uid"].split() == ["10001"] * 4, f"its user is {state['Uid']}")
        check(engine.inspect(name)["HostConfig"]["ReadonlyRootfs"], "its root can be written")
        ok("no capability, no new privileges, seccomp, a read-only root, the user 10001")
    finally:
        engine.status("kube", "down", str(played))
        engine.status("secret", "rm", secret)
        engine.status("volume", "rm", "--force", volume)


# Testcontainers

def check_python(engine, image, arguments, folder):
    """The Python package, against the engine's socket."""
    environment = {**os.environ, "TESTCONTAINERS_RYUK_DISABLED": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    service = None
    if engine.is_podman and "DOCKER_HOST" not in environment:
        path = folder / "engine.sock"
        service = subprocess.Popen([*engine.command, "system", "service", "--time=0", f"unix://{path}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        # The ports are published on this machine, also where it is a container itself.
        environment.update(DOCKER_HOST=f"unix://{path}", TESTCONTAINERS_CONNECTION_MODE="docker_host", TESTCONTAINERS_HOST_OVERRIDE="127.0.0.1")
        wait_until(path.exists, 30, "the engine's socket")
    try:
        package = folder / "recipes/testcontainers/python"
        shutil.copytree(RECIPES / "testcontainers/python", package)
        # The image's name here may be another one.
        test = package / "test_example.py"
        test.write_text(test.read_text().replace("EntrupySimContainer()", f"EntrupySimContainer({image!r})"))
        environment.update(PATH=f"{arguments.tools}/bin:{environment['PATH']}", PIP_DISABLE_PIP_VERSION_CHECK="1")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(shown("testcontainers/README.md"))], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        check(done.returncode == 0 and "4 passed" in done.stdout, f"Python: {done.stdout}{done.stderr}")
        ok("Python: the package's example passes, against the engine's socket")
    finally:
        if service:
            # The engine's command may be a script with children.
            os.killpg(service.pid, signal.SIGTERM)
            service.wait(timeout=20)


def check_others(engine, image, folder):
    """The recipes in other languages, compiled and run against small stand-ins of the library."""
    name = engine.start("recipes", image, "--publish", "127.0.0.1::8642", "--env", "ENTRUPY_SIM_CONTROL_OPEN=1", command=("serve", "--in-memory"))
    base = ready(engine, name)
    environment = {**os.environ, "SIM_PORT": base.rsplit(":", 1)[1], "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(folder / "go-cache"),
                   "GO111MODULE": "on", "GOTOOLCHAIN": "local"}

    def run(*command, cwd=folder):
        done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
        check(done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def judge(language, said, asked):
        for word in asked:
            check(word in said, f"{language}: the recipe asks the library for {said.splitlines()[0]}, without {word}")
        lines = said.splitlines()
        check(lines[1] == base, f"{language}: the URL is {lines[1]}, not {base}")
        made = next(word for word in lines[2].split() if word.startswith("http"))
        check(made.startswith(f"{base}/ns/{language}-") and must(f"{made}/_sim/clock"), f"{language}: the namespace is {lines[2]}")
        check("no namespace: 400" in lines[3] and "prefix" in lines[3], f"{language}: a refusal is {lines[3]}")

    if shutil.which("javac"):
        java = STAND_INS / "java"
        sources = [*java.rglob("*.java"), RECIPES / "testcontainers/java/EntrupySimContainer.java"]
        run("javac", "-Xlint:all", "-Werror", "-d", folder / "java", *sources)
        judge("java", run("java", "-cp", folder / "java", "Try"), ["[8642]", "[serve, --in-memory]", "ENTRUPY_SIM_CONTROL_OPEN=1"])
        ok("Java: compiled and run against a stand-in of the library")
    else:
        print("skipped: Java, there is no javac")
    if shutil.which("node"):
        place = folder / "node"
        (place / "node_modules/testcontainers").mkdir(parents=True)
        shutil.copy(STAND_INS / "node/testcontainers.mjs", place / "node_modules/testcontainers/index.mjs")
        (place / "node_modules/testcontainers/package.json").write_text('{"name": "testcontainers", "exports": "./index.mjs"}')
        shutil.copy(STAND_INS / "node/try.mjs", place)
        shutil.copy(RECIPES / "testcontainers/node/entrupy-sim-container.mjs", place)
        run("node", "--check", place / "entrupy-sim-container.mjs")
        said = run("node", place / "try.mjs")
        judge("node", said, ["[8642]", '["serve","--in-memory"]', '"ENTRUPY_SIM_CONTROL_OPEN":"1"'])
        check(said.endswith("stopped\n"), "node: the container is not stopped")
        ok("Node: run against a stand-in of the library")
    else:
        print("skipped: Node, there is no node")
    if shutil.which("go"):
        place = folder / "go"
        shutil.copytree(STAND_INS / "go", place / "library")
        shutil.move(place / "library/try", place / "try")
        (place / "recipe").mkdir()
        shutil.copy(RECIPES / "testcontainers/go/entrupysim.go", place / "recipe")
        library = "github.com/testcontainers/testcontainers-go"
        (place / "library/go.mod").write_text(f"module {library}\n\ngo 1.18\n")
        (place / "recipe/go.mod").write_text(f"module example.com/entrupysim\n\ngo 1.18\n\nrequire {library} v0.0.0\n")
        (place / "try/go.mod").write_text(
            f"module example.com/try\n\ngo 1.18\n\nrequire (\n\texample.com/entrupysim v0.0.0\n\t{library} v0.0.0\n)\n\n"
            f"replace example.com/entrupysim => ../recipe\n\nreplace {library} => ../library\n")
        check(not run("gofmt", "-l", RECIPES / "testcontainers/go", STAND_INS / "go"), "go: gofmt would change it")
        run("go", "vet", "example.com/entrupysim", cwd=place / "try")
        judge("go", run("go", "run", ".", cwd=place / "try"), ["[8642/tcp]", "[serve --in-memory]", "ENTRUPY_SIM_CONTROL_OPEN:1"])
        ok("Go: vetted, compiled and run against a stand-in of the library")
    else:
        print("skipped: Go, there is no go")


def check_testcontainers(engine, image, arguments, folder):
    if arguments.short:
        return print("skipped: Testcontainers, as this is the short form")
    check_python(engine, image, arguments, folder)
    check_others(engine, image, folder)


CHECKS = {"compose": check_compose, "kubernetes": check_kubernetes, "testcontainers": check_testcontainers}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tools", type=pathlib.Path, required=True)
    options.add_argument("--image", default="entrupy-sim")
    options.add_argument("--only", choices=CHECKS)
    options.add_argument("--short", action="store_true")
    arguments = options.parse_args()
    arguments.tools = arguments.tools.absolute()
    engine = Engine("entrupy-sim-recipe")
    print(f"the engine: {' '.join(engine.command)}, {engine.run('--version')}", flush=True)
    if engine.status("image", "inspect", arguments.image)[0] != 0:
        raise SystemExit(f"there is no image {arguments.image}: `make test-image` makes it")
    # Podman's short names may mean images of several registries.
    image = f"localhost/{arguments.image}" if engine.is_podman and "/" not in arguments.image else arguments.image
    try:
        for name, run in CHECKS.items():
            if arguments.only in (None, name):
                with tempfile.TemporaryDirectory() as folder:
                    run(engine, image, arguments, pathlib.Path(folder))
    except (AssertionError, EngineError, OSError, subprocess.SubprocessError) as error:
        raise SystemExit(f"FAILED: {error}") from None
    finally:
        engine.clean()
    print("the recipes work")


if __name__ == "__main__":
    main()
