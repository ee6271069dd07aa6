#!/usr/bin/env python3
"""Builds the image with the container engine that answers, and tries it: hardened, with a volume, killed, stopped, by every address.

    Tests/Container/image.py [--source | --image NAME] [--dist FOLDER] [--tag NAME]

Without an option the image is made from the archive in dist/ (`make dist`), which takes seconds; --source builds it from the source, --image
takes one that is there. ENGINE names the engine's command, ENGINE_BUILD_FLAGS has flags for its `build`, VERBOSE=1 shows the build.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Support"))
from engine import Engine, EngineError, ask, must, wait_until  # noqa: E402
from simulator import API_TOKEN, picture  # noqa: E402

TOKEN = {"Authorization": f"Token {API_TOKEN}"}
CONTROL = "control-token-of-a-test"
# What a careful cluster allows a container.
HARDENED = ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
# Docker looks often, so that the check need not wait for half a minute.
HEALTH = ["--health-interval", "1s"]

since = time.monotonic()


def ok(text):
    global since
    print(f"ok  {text} ({time.monotonic() - since:.1f} s)", flush=True)
    since = time.monotonic()


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def no_tmpfs(engine):
    """Podman makes /tmp and more writable on a read-only root. Docker and Kubernetes do not."""
    return ["--read-only-tmpfs=false"] if engine.is_podman else []


def make_image(engine, arguments):
    """Builds the image, unless there is one, and returns its name."""
    if arguments.image:
        return arguments.image
    if arguments.source:
        engine.build("--tag", arguments.tag, str(ROOT))
        return arguments.tag
    dist = pathlib.Path(arguments.dist)
    archives = sorted(path.name for path in dist.glob("entrupy-sim-*-linux-*.tar.gz"))
    if not archives:
        raise SystemExit(f"{dist} has no archive entrupy-sim-VERSION-linux-MACHINE.tar.gz: `make dist` makes it, FROM_SOURCE=1 does without")
    engine.build("--tag", arguments.tag, "--target", "released", "--file", str(ROOT / "Dockerfile"), str(dist))
    return arguments.tag


def check_image(engine, image):
    base = re.search(r"(?m)^base=(\S+)$", (ROOT / "scripts/engine").read_text())[1]
    check(f"\nFROM {base} AS runtime\n" in (ROOT / "Dockerfile").read_text(), f"scripts/engine runs {base}, which is not the Dockerfile's base")
    shown = engine.inspect(image, "image")
    machine = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
    if shown["Architecture"] != machine:
        raise SystemExit(
            f"the image {image} is for {shown['Architecture']}, and this machine is {machine}: "
            f"build it here, or on a machine of that kind")
    configuration = shown["Config"]
    check(re.fullmatch(r"\d+(:\d+)?", configuration["User"]), f"USER is {configuration['User']!r}, not a number")
    check(not any(pair.startswith("ENTRUPY_SIM_PUBLIC_URL") for pair in configuration["Env"]), "the image has a public URL")
    version = subprocess.run([ROOT / "scripts/version"], capture_output=True, text=True, check=True).stdout.strip()
    said = engine.run("run", "--rm", "--network", "none", *HARDENED, image, "--version")
    check(said == version, f"the image has version {said}, this is {version}")
    inside = "test -s /etc/ssl/certs/ca-certificates.crt && test -s /usr/local/share/entrupy-sim/seed-data/standard.yaml" \
             " && test -s /opt/entrupy-sim/LICENSE"
    code, said = engine.status("run", "--rm", "--network", "none", "--entrypoint", "bash", image, "-c", inside)
    check(code == 0, f"the image lacks certificates, seed data or the license: {said}")
    return ok(f"the image: {shown['Size'] / 1e6:.0f} MB, {shown['Architecture']}, version {version}, not root")


def ready(engine, name):
    """Waits until the server of a container answers at its published port, and returns its URL."""
    def is_running():
        if engine.inspect(name)["State"]["Running"]:
            return True
        raise AssertionError(f"{name} ended: {engine.status('logs', name)[1].strip()}")

    wait_until(lambda: is_running() and ask(url(engine, name) + "/_sim/ready", timeout=5)[0] == 200, 60, f"{name} is not ready")
    return url(engine, name)


def url(engine, name):
    host, port = engine.address(name)
    return f"http://{'127.0.0.1' if host in ('0.0.0.0', '::', '[::]') else host}:{port}"


def make_item(base, user="container-user"):
    """Makes an item that is authentic at once, as an app would. Returns its id and the session's token."""
    signed = must(f"{base}/v2/integrations/authorize-user", "POST", {
        "sdk_authorization_request": "test", "unique_user_id": user, "email": f"{user}@example.com"}, TOKEN)
    login = must(f"{base}/sdk/login", "POST", {"signed_authorization_request": signed["signed_authorization_request"]})
    session = {"Authorization": f"Token {login['token']}"}
    capture = must(f"{base}/sdk/captures", "POST", {"item": {
        "brand": "Nike", "style_name": "Air Jordan 1", "us_size": "9.5", "customer_item_id": "sim-authentic-after-0s"}}, session)
    for step in capture["steps"]:
        must(f"{base}/sdk/captures/{capture['capture_id']}/images/{step['region_id']}", "PUT", picture(step["region_id"]), session)
    return must(f"{base}/sdk/captures/{capture['capture_id']}/submit", "POST", None, session)["entrupy_id"], session


def check_urls(base, control):
    """Follows the URLs in answers as they stand, in a namespace and in the default one."""
    made = must(f"{base}/_sim/namespaces", "POST", {"prefix": "mapped"}, control)
    check(made["url"] == f"{base}/ns/{made['name']}", f"a namespace made at {base} has the URL {made['url']}")
    for place in (base, made["url"]):
        item, session = make_item(place)
        result = must(f"{place}/sdk/results/{item}", headers=session)
        for address in (result["images"]["item_photo"], result["more_details"]["certificate"]["site"]):
            check(address.startswith(place + "/"), f"an answer of {place} names {address}")
            status, data = ask(address)
            check(status == 200 and data, f"{address}, as printed, answers {status}")


def check_hardened(engine, image):
    volume = engine.volume("data")
    options = [*HARDENED, *no_tmpfs(engine), "--volume", f"{volume}:/data", "--publish", "127.0.0.1::8642"]
    name = engine.start("hardened", image, *options, *HEALTH)
    base = ready(engine, name)
    ok("starts with a read-only root, no capability, a volume and a published port")

    # The control API is closed to others until its token, which is printed.
    check(ask(f"{base}/_sim/clock")[0] == 401, "the control API needs no token")
    printed = re.search(r"X-Sim-Control-Token: (\S+)", engine.status("logs", name)[1])
    check(printed, "no control token is printed")
    control = {"X-Sim-Control-Token": printed[1]}
    check(ask(f"{base}/_sim/clock", headers=control)[0] == 200, "the printed control token is refused")
    ok("the control API asks for the token that is printed")

    check_urls(base, control)
    ok("URLs in answers lead to the published port")

    # Acknowledged writes survive kill -9 in the middle of more.
    item, session = make_item(base, "killed-user")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        written = pool.submit(write_until_killed, base, control)
        time.sleep(0.5)
        engine.run("kill", "--signal", "KILL", name)
        made = written.result()
    check(made, "nothing was written before the end")
    engine.run("start", name)
    base = ready(engine, name)
    names = {each["name"] for each in must(f"{base}/_sim/namespaces", headers={"X-Sim-Control-Token": printed_last(engine, name)})["namespaces"]}
    check(made <= names, f"acknowledged namespaces are gone after kill -9: {made - names}")
    check(must(f"{base}/sdk/results/{item}", headers=session)["entrupy_id"] == item, "an item is gone after kill -9")
    ok(f"after kill -9 and a restart, the item and {len(made)} namespaces are there")

    check_health(engine, name)

    # SIGTERM, with a client that listens to a stream.
    stream = subprocess.Popen(
        [sys.executable, "-c", "import sys, urllib.request; urllib.request.urlopen(urllib.request.Request(sys.argv[1],"
         " headers={'X-Sim-Control-Token': sys.argv[2]})).read()", f"{base}/_sim/events", printed_last(engine, name)],
        stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    begun = time.monotonic()
    engine.run("stop", "--time", "30", name)
    took = time.monotonic() - begun
    code = engine.inspect(name)["State"]["ExitCode"]
    stream.wait(timeout=10)
    check(took < 20 and code == 0, f"SIGTERM: exit code {code} after {took:.1f} s")
    ok(f"SIGTERM ends it with exit code 0 after {took:.1f} s, with a client that listens")

    # Another container on the same volume, as after an update of the image.
    engine.run("rm", name)
    name = engine.start("updated", image, *options, "--env", f"ENTRUPY_SIM_CONTROL_TOKEN={CONTROL}", "--env", "ENTRUPY_SIM_PORT=8642")
    base = ready(engine, name)
    check(must(f"{base}/sdk/results/{item}", headers=session)["entrupy_id"] == item, "another container does not find the item")
    check(ask(f"{base}/_sim/clock", headers={"X-Sim-Control-Token": CONTROL})[0] == 200, "ENTRUPY_SIM_CONTROL_TOKEN does not count")
    engine.run("rm", "--force", name)
    ok("a new container on the volume has the data; a control token of one's own")


def printed_last(engine, name):
    """The control token of the latest start."""
    return re.findall(r"X-Sim-Control-Token: (\S+)", engine.status("logs", name)[1])[-1]


def write_until_killed(base, control):
    """Makes namespaces until the server is gone. Returns the names that were acknowledged."""
    made = set()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            made.add(must(f"{base}/_sim/namespaces", "POST", {"prefix": "killed"}, control)["name"])
        except (OSError, AssertionError, ValueError):
            return made
        except Exception as error:  # A connection that breaks within an answer.
            if type(error).__module__ != "http.client":
                raise
            return made
    return made


def check_health(engine, name):
    """The health check is positive, and negative for a server that hangs."""
    def healthy():
        # Podman's timers need systemd, so it is asked to look now.
        if engine.is_podman:
            return engine.status("healthcheck", "run", name)[0] == 0
        return engine.inspect(name)["State"]["Health"]["Status"] == "healthy"

    def unhealthy():
        if engine.is_podman:
            return engine.status("healthcheck", "run", name)[0] == 1
        return engine.inspect(name)["State"]["Health"]["Status"] == "unhealthy"

    wait_until(healthy, 30, "the health check of a server that answers is not positive")
    engine.run("kill", "--signal", "STOP", name)
    try:
        wait_until(unhealthy, 30, "the health check of a server that hangs is not negative")
    finally:
        engine.run("kill", "--signal", "CONT", name)
    wait_until(healthy, 30, "the health check does not recover")
    ok("the health check notices a server that hangs")


def check_users(engine, image):
    """Any user can run it on a fresh volume; one who may not write there is told so."""
    volume = engine.volume("other")
    name = engine.start(
        "other-user", image, *HARDENED, *no_tmpfs(engine), "--user", "12345", "--volume", f"{volume}:/data", "--publish", "127.0.0.1::8642")
    ready(engine, name)
    engine.run("rm", "--force", name)
    code, said = engine.status("run", "--rm", "--user", "23456:23456", "--volume", f"{volume}:/data", image)
    error = [line for line in said.splitlines() if line.startswith("error:")]
    check(code == 1 and len(error) == 1 and "/data" in error[0] and "Permission denied" in error[0],
          f"another user's volume: exit code {code}: {said}")
    ok("runs as another user with --user; another one's volume is refused in a sentence")
    name = engine.start("memory", image, *HARDENED, *no_tmpfs(engine), "--publish", "127.0.0.1::8642", "--env", "ENTRUPY_SIM_CONTROL_OPEN=1",
                        command=("serve", "--in-memory"))
    base = ready(engine, name)
    check(must(f"{base}/_sim/info")["data_dir"] is None, "--in-memory keeps data")
    item, session = make_item(base)
    must(f"{base}/_sim/snapshots/saved", "PUT")
    must(f"{base}/_sim/reset", "POST")
    must(f"{base}/_sim/snapshots/saved/restore", "POST")
    check(must(f"{base}/sdk/results/{item}", headers=session)["entrupy_id"] == item, "a snapshot in memory lacks the item")
    engine.run("rm", "--force", name)
    ok("runs in memory, with a snapshot, on a read-only root")


def check_names(engine, image):
    """Other containers reach it by its name, and can follow its URLs. With a public URL, these begin with that one."""
    network = engine.network("net")
    options = ["--network", network, "--env", "ENTRUPY_SIM_CONTROL_OPEN=1", "--publish", "127.0.0.1::8642"]
    name = engine.start("server", image, *options, "--network-alias", "entrupy-sim")
    outside = ready(engine, name)
    item, session = make_item(outside)

    def inside(target, base="http://entrupy-sim:8642"):
        """The answer to a request of another container, by the service's name."""
        return engine.run(
            "run", "--rm", "--network", network, image, "api", "GET", target, "--url", base,
            "-H", f"Authorization: {session['Authorization']}", binary=True)

    result = json.loads(inside(f"/sdk/results/{item}"))
    for address in (result["images"]["item_photo"], result["more_details"]["certificate"]["site"]):
        check(address.startswith("http://entrupy-sim:8642/"), f"another container got the URL {address}")
        check(inside(address.removeprefix("http://entrupy-sim:8642")), f"{address} is empty")
    check(json.loads(inside("/_sim/info"))["namespace"]["url"] == "http://entrupy-sim:8642", "the namespace has another URL")
    check(must(f"{outside}/sdk/results/{item}", headers=session)["images"]["item_photo"].startswith(outside), "outside, the URL differs")
    engine.run("rm", "--force", name)
    ok("another container reaches it by its name and follows its URLs; those of the published port stay")
    name = engine.start("public", image, *options, "--env", "ENTRUPY_SIM_PUBLIC_URL=https://sim.example.com/x")
    check(must(f"{ready(engine, name)}/_sim/info")["url"] == "https://sim.example.com/x", "ENTRUPY_SIM_PUBLIC_URL does not count")
    engine.run("rm", "--force", name)
    ok("ENTRUPY_SIM_PUBLIC_URL goes before the address that was asked")


def check_serve(engine, arguments):
    """`make serve` on a machine without Swift runs the archive in a container, with its data in a folder here."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        # All programs but Swift's.
        tools = pathlib.Path(folder) / "tools"
        tools.mkdir()
        for place in os.environ["PATH"].split(":"):
            for program in pathlib.Path(place).glob("*") if pathlib.Path(place).is_dir() else []:
                if not program.name.startswith("swift") and not (tools / program.name).is_symlink():
                    (tools / program.name).symlink_to(program)
        environment = {**os.environ, "PATH": str(tools), "DIST": arguments.dist, "ENGINE": " ".join(engine.command)}
        data = pathlib.Path(folder) / "data"
        process = subprocess.Popen(
            ["make", "--no-print-directory", "serve", f"PORT={port}", f"DATA={data}"], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        said = []
        try:
            for line in process.stdout:
                said.append(line)
                if "is open on" in line:
                    break
            printed = re.search(r"is open on (\S+)", said[-1] if said else "")
            check(printed, f"`make serve` without Swift: {''.join(said[-12:])}")
            check(any("There is no Swift on the PATH" in line for line in said), "it does not say that there is no Swift")
            base = printed[1]
            check(base == f"http://127.0.0.1:{port}", f"`make serve` prints {base} for the port {port}")
            check_urls(base, {})
            check((data / "lock").exists() and (data / "lock").stat().st_uid == os.getuid(), "the data is not in the folder")
        finally:
            # Like Ctrl-C: to everything that the terminal started.
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise AssertionError("`make serve` does not end by Ctrl-C") from None
        wait_until(lambda: not is_open(port), 20, "the server of `make serve` goes on after Ctrl-C")
    ok("`make serve` without Swift runs it in a container, prints its address, and ends by Ctrl-C")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def check_page(engine, arguments):
    """The commands of docs/containers.md, with the engine for `docker`, and with ports and names that are free."""
    text = (ROOT / "docs/containers.md").read_text()
    blocks = re.findall(r"make test-image runs it -->\n```sh\n(.*?)```", text, re.S)
    check(len(blocks) == 3, f"docs/containers.md has {len(blocks)} blocks, not 3")
    name = engine.name("page")
    engine.remove_later("volume", "rm", "--force", name, f"{name}-hardened")
    engine.remove_later("rm", "--force", "--volumes", name, f"{name}-hardened")
    script = re.sub(r"(--name |-v |docker (?:logs|stop|rm(?: -\S+)*) )entrupy-sim", rf"\1{name}", "\n".join(blocks))
    for port in ("127.0.0.1:8642", "127.0.0.1:9642"):
        script = script.replace(port, f"127.0.0.1:{free_port()}")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "Dockerfile").symlink_to(ROOT / "Dockerfile")
        (place / "dist").symlink_to(arguments.dist)
        (place / "bin").mkdir()
        shim = place / "bin/docker"
        command, flags = shlex.join(engine.command), shlex.join(engine.build_flags)
        shim.write_text(f'#!/bin/sh\nif [ "$1" = build ]; then shift; exec {command} build {flags} "$@"; fi\nexec {command} "$@"\n')
        shim.chmod(0o755)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=place, env={**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, f"docs/containers.md: exit code {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    for words in ('{"status":"ready"}', "is open on", '"mode":"running"'):
        check(words in done.stdout + done.stderr, f"docs/containers.md: no {words} in {done.stdout}")
    ok("the commands of docs/containers.md")


def check_refusals(engine):
    """What is wrong is said in a sentence: no engine, a folder without packages, packages of another machine, no network."""
    script = pathlib.Path(__file__)

    def refused(*words, **variables):
        done = subprocess.run([sys.executable, "-B", script, *words], env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
        check(done.returncode != 0 and "Traceback" not in done.stderr, f"{words}: exit code {done.returncode}: {done.stderr}")
        return done.stderr

    with tempfile.TemporaryDirectory() as folder:
        said = refused(ENGINE="no-such-engine --flag")
        check("ENGINE names does not answer" in said and "no-such-engine --flag: there is no such command" in said, said)
        said = refused("--dist", folder)
        check("has no archive" in said and "make dist" in said, said)
        machine = platform.machine().replace("aarch64", "arm64")
        for other in (["s390x"], [machine, machine]):
            for number, name in enumerate(other):
                (pathlib.Path(folder) / f"entrupy-sim-0.{number}.0-linux-{name}.tar.gz").write_bytes(b"")
            said = refused("--dist", folder, "--tag", engine.name("refused"))
            check(f"for linux-{machine}" in said and "make dist" in said and len(said.splitlines()) < 5, said)
    ok("no engine, no packages, packages of another machine and of two versions are explained")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--source", action="store_true")
    options.add_argument("--image")
    options.add_argument("--dist", default=str(ROOT / "dist"))
    options.add_argument("--tag", default="entrupy-sim")
    arguments = options.parse_args()
    engine = Engine("entrupy-sim-try")
    print(f"the engine: {' '.join(engine.command)}, {engine.run('--version')}", flush=True)
    arguments.dist = str(pathlib.Path(arguments.dist).absolute())
    try:
        image = make_image(engine, arguments)
        ok("built" if not arguments.image else "found")
        check_image(engine, image)
        check_hardened(engine, image)
        check_users(engine, image)
        check_names(engine, image)
        if not arguments.source and not arguments.image:
            check_page(engine, arguments)
            check_serve(engine, arguments)
            check_refusals(engine)
    except (AssertionError, EngineError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"FAILED: {error}") from None
    finally:
        engine.clean()
    print(f"the image {image} works")


if __name__ == "__main__":
    main()
