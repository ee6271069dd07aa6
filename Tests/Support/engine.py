"""Runs a container engine: the command that scripts/engine finds. Shared by the checks of the image and of the recipes."""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# What an engine says, and what it means for the person who called it.
MEANINGS = [
    (r"Temporary failure resolving|Could not resolve|Unable to locate package|server misbehaving|no such host",
     "the engine's build has no network. Give it this machine's with ENGINE_BUILD_FLAGS='--network host', or set its proxy"),
    (r"[Ee]xec format error",
     "the image is for another architecture than the engine's. Build it on this machine, or set up emulation (binfmt)"),
    (r"address already in use|port is already allocated|[Pp]ort .* is already in use|cannot listen on the TCP port",
     "a port that is to be published is in use. Stop the program that listens there, or choose another port"),
    (r"short-name .* did not resolve|image not known|[Nn]o such image|pull access denied|manifest unknown",
     "an image that is needed is not there, and cannot be fetched"),
    (r"OCI runtime|OCI permission|(runc|crun).*(failed|error)", "the engine cannot start a container on this machine"),
]


class EngineError(Exception):
    """A command of the engine that failed."""

    def __init__(self, arguments, said):
        self.said = said.strip()
        self.meaning = meaning(said)
        lines = [f"`{' '.join(arguments[:2])} …` failed"] + ([f": {self.meaning}"] if self.meaning else [])
        super().__init__("".join(lines) + "\n" + "\n".join("  " + line for line in self.said.splitlines()[-12:]))


def without_notes(said):
    """The text without Podman's log lines, of which there are many where systemd is missing."""
    return "".join(line for line in said.decode(errors="replace").splitlines(True) if not re.match(r'time="[^"]*" level=', line))


def meaning(said):
    """What the engine's words mean in a sentence; `None` if they are not known."""
    return next((sentence for pattern, sentence in MEANINGS if re.search(pattern, said)), None)


class Engine:
    """The container engine that answers. Everything that it makes has a name that begins with `prefix`, and is removed at the end."""

    def __init__(self, prefix):
        found = subprocess.run([ROOT / "scripts/engine"], capture_output=True, text=True)
        if found.returncode != 0:
            raise SystemExit(found.stderr.strip())
        self.command = shlex.split(found.stdout.strip())
        self.prefix = f"{prefix}-{os.getpid()}"
        self.is_podman = "podman" in self.run("--version").lower()
        self._made = []
        # What ends a check that takes too long ends it with its clean-up.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.build_flags = shlex.split(os.environ.get("ENGINE_BUILD_FLAGS", ""))
        # Podman's own format has no health check.
        if self.is_podman and not any(flag.startswith("--format") for flag in self.build_flags):
            self.build_flags += ["--format", "docker"]

    def run(self, *arguments, timeout=300, binary=False):
        """Runs a command of the engine and returns its output."""
        try:
            done = subprocess.run([*self.command, *arguments], capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise EngineError(arguments, f"no end within {timeout} seconds") from None
        if done.returncode != 0:
            raise EngineError(arguments, without_notes(done.stdout + done.stderr))
        return done.stdout if binary else done.stdout.decode(errors="replace").strip()

    def status(self, *arguments, timeout=60):
        """Runs a command of the engine and returns its exit code and all it wrote."""
        done = subprocess.run([*self.command, *arguments], capture_output=True, timeout=timeout)
        return done.returncode, without_notes(done.stdout + done.stderr)

    def build(self, *arguments):
        """Builds an image, with the output shown, and explains a failure."""
        process = subprocess.Popen(
            [*self.command, "build", *self.build_flags, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")
        lines = []
        for line in process.stdout:
            lines.append(line)
            if os.environ.get("VERBOSE"):
                print("  " + line, end="", flush=True)
        if process.wait() != 0:
            # What was said first may explain what was said last.
            own = [line for line in lines if line.startswith("dist/")]
            raise EngineError(["build", *arguments], "".join(lines[-30:] + own) if not own else own[-1])

    def name(self, word):
        return f"{self.prefix}-{word}"

    def remove_later(self, *command):
        """Notes a command of the engine that removes something at the end."""
        self._made.append(command)

    def start(self, word, image, *options, command=()):
        """Starts a container in the background, and returns its name."""
        name = self.name(word)
        self.remove_later("rm", "--force", "--volumes", name)
        self.run("run", "--detach", "--name", name, *options, image, *command)
        return name

    def volume(self, word):
        name = self.name(word)
        self.remove_later("volume", "rm", "--force", name)
        self.run("volume", "create", name)
        return name

    def network(self, word):
        name = self.name(word)
        self.remove_later("network", "rm", name)
        self.run("network", "create", name)
        return name

    def inspect(self, name, kind="container"):
        return json.loads(self.run("inspect", "--type", kind, name))[0]

    def address(self, name, port=8642):
        """The host and the port where a container's port is published."""
        shown = self.run("port", name, f"{port}/tcp").splitlines()[0]
        return shown.rsplit(":", 1)[0], int(shown.rsplit(":", 1)[1])

    def clean(self):
        """Removes everything that was made, the last first."""
        while self._made:
            subprocess.run([*self.command, *self._made.pop()], capture_output=True, timeout=120)


def ask(url, method="GET", body=None, headers=None, timeout=30):
    """Sends a request. Returns the status and the bytes."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json"} if data is not None and not isinstance(body, bytes) else {}
    request = urllib.request.Request(url, data=data, method=method, headers={**fields, **(headers or {})})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def must(url, method="GET", body=None, headers=None):
    """Sends a request that must succeed, and returns the JSON of the answer."""
    status, data = ask(url, method, body, headers)
    if status >= 300:
        raise AssertionError(f"{method} {url}: {status} {data[:300]!r}")
    return json.loads(data) if data else None


def wait_until(condition, seconds, text, pause=0.2):
    """Waits until a condition holds. An error of the connection counts as "not yet"."""
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise AssertionError(f"{text}: not within {seconds} seconds")
        time.sleep(pause)
