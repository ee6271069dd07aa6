#!/usr/bin/env python3
"""Checks the real binary against openapi/entrupy-sim.yaml with schemathesis, with all of its checks.

    contract.py --binary .build/release/entrupy-sim [--examples 50] [--seed N] [--only RUN] [--switches]

Makes a virtual environment for schemathesis. The platform's routes are tested in separate namespaces with limits off: as they are today,
and with what the vendor may change tomorrow, all at once or, with `--switches`, also each change by itself. The control API's routes are
tested in `default`, the only namespace that cannot be deleted. `--seed` repeats a run. Exits with 0 if there is no finding, else with 1.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUPPORT = ROOT / "Tests" / "Support"
sys.path.insert(0, str(SUPPORT))
from simulator import Client, Simulator, log_in  # noqa: E402

ENVIRONMENT = ROOT / ".build" / "contract"
REQUIREMENTS = ["schemathesis==4.32.5", "openapi-spec-validator==0.9.0"]

# The seed data's test user, who has no login limit.
USER = "sim-test-user"
PLATFORM = r"^/(v1|v2|sdk|login|images|certificates|partner|components)(/|$)"
SWITCHES = ["members", "order", "errors", "events", "opaque"]
RUNS = {
    "platform": {"base": "/ns/contract", "paths": PLATFORM},
    "future": {"base": "/ns/future", "paths": PLATFORM, "switches": SWITCHES},
    # A stream of events does not end.
    "control": {"base": "", "paths": r"^/(_sim/(?!events)|openapi)"},
}


def environment():
    """The path of schemathesis, which is installed if necessary."""
    stamp = ENVIRONMENT / "installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(REQUIREMENTS):
        print(f"Installing {' and '.join(REQUIREMENTS)} in {ENVIRONMENT.relative_to(ROOT)}.", flush=True)
        try:
            venv.create(ENVIRONMENT, clear=True, with_pip=True)
        except subprocess.CalledProcessError:
            sys.exit("Python's venv needs a package of its own here. On Debian or Ubuntu: apt-get install python3-venv")
        subprocess.run(
            [ENVIRONMENT / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS],
            check=True)
        stamp.write_text("\n".join(REQUIREMENTS))
    return ENVIRONMENT / "bin"


def prepare(client, run):
    """Makes a namespace with a user, and items with every result, for requests to find."""
    name = run["base"].removeprefix("/ns/")
    if not name:
        return
    client.must("PUT", f"/ns/default/_sim/namespaces/{name}", {"random_seed": 7})
    client.base = run["base"]
    future = {switch: True for switch in run.get("switches", [])}
    client.must("PATCH", "/_sim/settings", {"rate_limits": "off", "future": future})
    log_in(client, USER)
    for result in ["authentic", "unknown", "not_supported", "needs_review", "invalid"]:
        client.must("POST", "/_sim/authentications",
                    {"count": 20, "template": {"result": result, "username": f"DemoOrg-{USER}"}})


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--examples", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=None)
    arguments.add_argument("--only", choices=RUNS)
    arguments.add_argument("--switches", action="store_true")
    options = arguments.parse_args()
    runs = dict(RUNS)
    if options.switches:
        runs |= {f"future.{switch}": {"base": f"/ns/future-{switch}", "paths": PLATFORM, "switches": [switch]}
                 for switch in SWITCHES}
    if options.only is not None:
        runs = {options.only: RUNS[options.only]}
    seed = random.randrange(2**31) if options.seed is None else options.seed

    tools = environment()
    description = ROOT / "openapi" / "entrupy-sim.yaml"
    subprocess.run([tools / "openapi-spec-validator", description], check=True)
    server = Simulator(options.binary, "--in-memory", "--random-seed", "8642", "--rate-limits", "off")
    failed = []
    try:
        for name, run in runs.items():
            prepare(Client(server), run)
            print(f"== {name}: {options.examples} examples an operation, seed {seed}", flush=True)
            done = subprocess.run(
                [tools / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", description,
                 "--url", server.url + run["base"], "--include-path-regex", run["paths"], "--checks", "all",
                 # Where a method is not described, the status is not the one of today.
                 *(["--exclude-checks", "unsupported_method"] if "errors" in run.get("switches", []) else []),
                 "--max-examples", str(options.examples), "--seed", str(seed),
                 # An advance to the last day makes each attempt of each webhook on its way, and may ask for a minute of that.
                 "--request-timeout", "60", "--max-response-time", "60"],
                # Its cache stays in the environment.
                cwd=ENVIRONMENT, env=os.environ | {
                    "SIM_HOST": server.host, "SIM_PORT": str(server.port), "SIM_BASE": run["base"], "SIM_USER": USER,
                    "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": f"{HERE}{os.pathsep}{SUPPORT}", "PYTHONDONTWRITEBYTECODE": "1"})
            if done.returncode != 0:
                failed.append(name)
            if server.process.poll() is not None:
                sys.exit(f"the server ended with {server.process.returncode}")
    finally:
        server.stop()
    if failed:
        sys.exit(f"{' and '.join(failed)}: departs from the description; repeat with SEED={seed}")
    print(f"the server keeps to the description: {len(runs)} runs, seed {seed}")


if __name__ == "__main__":
    main()
