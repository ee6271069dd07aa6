#!/usr/bin/env python3
"""Measures a namespace with very many items: time and peak memory of each command, and how long other requests wait meanwhile.

    large.py --binary dist/entrupy-sim [--items 1000000] [--in-memory]

Generates the items, saves, exports, imports, restores, forks and deletes them with the command line. Prints one line for each
command: its seconds, the CPU time and peak memory of the server, the peak memory of the command, and the longest wait of
requests to the same and to another namespace.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Support"))
from simulator import Client, Simulator, log_in  # noqa: E402
from waits import Waits, took  # noqa: E402


def peak(pid):
    """The peak resident memory of a process since `reset_peak`, in MB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1000


def reset_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def cpu_seconds(pid):
    """The CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Commands:
    def __init__(self, binary, server, tokens):
        self.binary, self.server, self.tokens = binary, server, tokens

    def __call__(self, what, *arguments, namespace="default", watched=("default", "other")):
        pid = self.server.process.pid
        reset_peak(pid)
        used = cpu_seconds(pid)
        command = [self.binary, *arguments, "--url", self.server.url]
        if namespace:
            command += ["--namespace", namespace]
        with contextlib.ExitStack() as stack:
            waits = [stack.enter_context(Waits(self.server, self.tokens[name], "" if name == "default" else f"/ns/{name}"))
                     for name in watched]
            usage = []

            def run():
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                usage.append(used.ru_maxrss / 1000)
                if process.returncode:
                    raise SystemExit(f"{' '.join(command)} failed")

            seconds = took(run)
        worst = ", ".join(f"{name} {wait.worst:.0f} ms" for name, wait in zip(watched, waits))
        print(f"{what}: {seconds:.1f} s, server {cpu_seconds(pid) - used:.1f} s of CPU time and {peak(pid):.0f} MB, command {usage[0]:.0f} MB; worst waits: {worst}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--binary", required=True)
    options.add_argument("--items", type=int, default=1_000_000)
    options.add_argument("--in-memory", action="store_true")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="entrupy-sim-large-") as directory:
        place = ["--in-memory"] if options.in_memory else ["--data-dir", f"{directory}/data"]
        server = Simulator(options.binary, *place, "--rate-limits", "off")
        client = Client(server)
        client.must("PUT", "/_sim/namespaces/other")
        tokens = {"default": log_in(client, "waits-test-user"), "other": log_in(Client(server, "/ns/other"), "waits-test-user")}
        run = Commands(options.binary, server, tokens)
        file = f"{directory}/large.tar"
        run("generate", "items", "generate", "--count", str(options.items))
        run("save", "snapshot", "save", "large")
        run("export", "snapshot", "export", "large", "--output", file)
        print(f"the file: {os.path.getsize(file) / 1e6:.0f} MB")
        run("import", "snapshot", "import", "copy", file, namespace="other")
        run("restore", "snapshot", "restore", "copy", namespace="other", watched=("default",))
        run("fork", "snapshot", "fork", "large", "child", watched=("default",))
        run("list namespaces", "namespace", "list", namespace=None, watched=("default",))
        run("reset", "reset", namespace="other", watched=("default",))
        run("delete", "namespace", "drop", "child", namespace=None, watched=("default",))
        server.stop()


if __name__ == "__main__":
    main()
