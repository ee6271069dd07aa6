"""Starts entrupy-sim, and drives namespaces over its control API. Standard library only.

    with Simulator.start() as simulator:
        sim = simulator.make_namespace(frozen_at="2026-01-05T09:00:00Z")
        sim.outcome("unknown", customer_item_id="late-*", after="3h")
        ...
        sim.clock.advance("3h")
        sim.expect_request("POST", "/v2/search/authentications", times=1)
"""

import collections
import contextlib
import datetime
import difflib
import functools
import hashlib
import http.client
import json
import math
import numbers
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.parse

__all__ = ["Clock", "Namespace", "Simulator", "SimulatorError", "User", "VERSION", "name_requests"]

#: pytest shows the line of a test that failed, not those of this file.
__tracebackhide__ = True

#: The version of entrupy-sim that this file belongs to.
VERSION = "0.2.0"


class SimulatorError(Exception):
    """What is wrong, and what to do: one sentence. `status` is that of the server's answer, or None."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class _NotJudged(SimulatorError):
    """A rule of the audit could not judge something, so that nothing found says nothing."""


class _Real:
    """The clock as it was when this module was imported: real time, and time that only grows.

    freezegun replaces the functions of `time`, also those that modules have taken from it, but not those that classes hold, and not
    `clock_gettime`, which is right where a test imports this module under its clock.
    """
    monotonic = staticmethod(
        functools.partial(time.clock_gettime, time.CLOCK_MONOTONIC) if hasattr(time, "clock_gettime") else time.monotonic)
    sleep = staticmethod(time.sleep)
    gmtime = staticmethod(time.gmtime)
    datetime = datetime.datetime
    strftime = staticmethod(time.strftime)


def _has_ended(process, seconds):
    """Waits until a process ends, at most so many real seconds. `Popen.wait` would wait by a clock that tests replace."""
    end = _Real.monotonic() + seconds
    while process.poll() is None and _Real.monotonic() < end:
        _Real.sleep(0.01)
    return process.poll() is not None


def print_note(text):
    """Prints a note to standard error."""
    print(f"entrupy-sim: note: {text}", file=sys.stderr)


#: The variable with the name of the running test, for this process and those that it starts.
TEST_VARIABLE = "ENTRUPY_SIM_TEST"
#: The header with the name of the test. The journal shows it, and finds requests by it.
TEST_HEADER = "X-Sim-Test"


def name_requests(url=None):
    """Has `requests` and `httpx` send the name of the running test, ENTRUPY_SIM_TEST, as `X-Sim-Test` to the origin of `url`.

    The default of `url` is ENTRUPY_SIM_URL. Other origins never get the header, also not by a redirect, and a request that has
    one keeps it. Neither library needs to be installed or imported yet. The pytest plugin calls this; call it in a process that
    a test starts. Returns a function that ends it.
    """
    url = url or os.environ.get("ENTRUPY_SIM_URL")
    origin = _origin(url)
    if origin is None:
        raise SimulatorError(f"{url} is not an http or https URL: give the server's, or set ENTRUPY_SIM_URL")
    _named_origins[origin] += 1
    if _Namer not in map(type, sys.meta_path):
        sys.meta_path.insert(0, _Namer())
    for module in _SENDERS:
        if module in sys.modules:
            _patch(sys.modules[module])
    return functools.partial(_stop_naming, origin, [])


def _stop_naming(origin, ended):
    if ended:
        return
    ended.append(True)
    _named_origins[origin] -= 1
    if +_named_origins:
        return
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Namer)]
    while _originals:
        (owner, name), original = _originals.popitem()
        setattr(owner, name, original)


#: The methods through which each request goes to one host: redirects are followed above them.
_SENDERS = {
    "requests.adapters": [("HTTPAdapter", "send")],
    "httpx": [("HTTPTransport", "handle_request"), ("AsyncHTTPTransport", "handle_async_request")],
}
#: The origins that get the header, each with the number of callers that asked for it.
_named_origins = collections.Counter()
#: The methods that were replaced, by their class and name.
_originals = {}


def _origin(url):
    """Scheme, host and port of a URL; None if it has none."""
    try:
        parts = urllib.parse.urlsplit(str(url))
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname and port else None


@contextlib.contextmanager
def _named(request):
    """Adds the header while the request is sent. Afterwards it has none: a redirect would copy it to another host."""
    name = os.environ.get(TEST_VARIABLE)
    is_ours = bool(name) and _named_origins[_origin(request.url)] > 0
    if not is_ours or request.headers is None or TEST_HEADER in request.headers:
        yield
        return
    request.headers[TEST_HEADER] = _header_text(name)
    try:
        yield
    finally:
        request.headers.pop(TEST_HEADER, None)


def _header_text(text):
    """A text as the value of a header: percent signs for what is not ASCII, and at most 200 characters."""
    safe = "".join(
        c if " " <= c <= "~" else urllib.parse.quote(c, safe="", errors="surrogatepass") for c in text.strip())
    return safe if len(safe) <= 200 else f"{safe[:183]}-{_short_hash(text)}"


def _short_hash(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _patch(module):
    for name, method in _SENDERS[module.__name__]:
        owner = getattr(module, name, None)
        # A module that is being imported has no such class yet; the hook is called again.
        original = owner.__dict__.get(method) if owner else None
        if original and (owner, method) not in _originals:
            _originals[owner, method] = original
            setattr(owner, method, _naming(original, "async" in method))


def _naming(original, is_async):
    @functools.wraps(original)
    def send(self, request, *arguments, **options):
        with _named(request):
            return original(self, request, *arguments, **options)

    @functools.wraps(original)
    async def send_async(self, request, *arguments, **options):
        with _named(request):
            return await original(self, request, *arguments, **options)

    return send_async if is_async else send


class _Namer:
    """A finder that changes the libraries when they are imported. It finds nothing by itself."""

    def find_spec(self, name, path=None, target=None):
        if name not in _SENDERS:
            return None
        for finder in sys.meta_path:
            find = None if isinstance(finder, _Namer) else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _NamingLoader(spec.loader)
                return spec
        return None


class _NamingLoader:
    """The loader of a library, which changes it once it is loaded."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # Tools look at the loader of a module.
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _patch(module)


class _Limits:
    """The most that a server may take of a test's time and memory. Times are in seconds, sizes in bytes."""

    def __init__(self, silence=30.0, work=600.0, size=64_000_000):
        #: The longest time without a byte.
        self.silence = silence
        #: The longest time until the answer to a long operation begins: an advance waits for receivers of webhooks.
        self.work = work
        #: The maximum size of an answer that is held in memory.
        self.size = size


class _Control:
    """Requests to the control API below one address. It does not trust the server: see _Limits.

    It follows no redirect and uses no proxy, so that the control token reaches no other server.
    """

    def __init__(self, address, token=None, limits=None, headers=None):
        self.address = address.rstrip("/")
        self.token = token
        self.limits = limits or _Limits()
        self.headers = headers or {}

    def answer(self, method, path, body=None, content_type="application/json", takes_long=False):
        """Returns status and body. `body` is bytes, or a value to send as JSON."""
        with self.open(method, path, body, content_type, takes_long) as (response, watch):
            return response.status, self.whole(response, watch)

    def download(self, path, max_bytes, write):
        """Hands the parts of the answer to `write`. Raises SimulatorError for every status but 200."""
        with self.open("GET", path, takes_long=True) as (response, watch):
            if response.status == 200:
                return self._read(response, watch, max_bytes, write)
            raise SimulatorError(_problem("GET", path, response.status, self.whole(response, watch)), response.status)

    def send(self, method, path, body=None, content_type="application/json", takes_long=False):
        """Returns the answer's JSON, or its bytes if it is not JSON. Raises SimulatorError for every status but 2xx."""
        status, data = self.answer(method, path, body, content_type, takes_long)
        if not 200 <= status < 300:
            raise SimulatorError(_problem(method, path, status, data), status)
        try:
            return json.loads(data) if data else None
        except (ValueError, RecursionError):
            return data

    @contextlib.contextmanager
    def open(self, method, path, body=None, content_type="application/json", takes_long=False):
        """Sends a request, and gives its answer, whose head was read, and the watch over its connection."""
        headers = dict(self.headers)
        data = body
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        if self.token:
            headers["X-Sim-Control-Token"] = self.token
        seconds = self.limits.work if takes_long else self.limits.silence
        connection, prefix = self._connection(min(seconds, self.limits.silence))
        watch = None
        try:
            connection.connect()
            channel = connection.sock
            channel.settimeout(None)
            watch = _Watch(channel, seconds)
            connection.request(method, prefix + path, body=data, headers=headers)
            response = connection.getresponse()
            if 300 <= response.status < 400 and response.getheader("Location"):
                raise SimulatorError(
                    f"{self.address} redirects to {response.getheader('Location')!r}, and redirects are not followed: use the "
                    "address of the server itself", response.status)
            watch.expect(self.limits.silence)
        except BaseException as error:
            if watch:
                watch.end()
            connection.close()
            if not isinstance(error, (OSError, http.client.HTTPException)):
                raise
            if isinstance(error, socket.timeout) or (watch and watch.expired):
                raise SimulatorError(f"{self.address} did not answer within {_duration(seconds)}") from error
            raise SimulatorError(
                f"no server answers at {self.address} ({error}): start one with `entrupy-sim serve`, or let "
                "Simulator.start() do it") from error
        try:
            yield response, watch
        finally:
            watch.end()
            connection.close()

    def _connection(self, seconds):
        parts = urllib.parse.urlsplit(self.address)
        kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}.get(parts.scheme)
        try:
            if kind is None or not parts.hostname:
                raise ValueError
            return kind(parts.hostname, parts.port, timeout=seconds), parts.path
        except ValueError:
            raise SimulatorError(f"{self.address} is not an http or https URL") from None

    def whole(self, response, watch):
        parts = []
        self._read(response, watch, self.limits.size, parts.append)
        return b"".join(parts)

    def _read(self, response, watch, max_bytes, write):
        # read1 returns what there is; whether it counts the length down depends on the version of Python.
        size, left = 0, response.length
        while left is None or left > 0:
            watch.expect(self.limits.silence)
            try:
                part = response.read1(1 << 16 if left is None else min(left, 1 << 16))
            except (OSError, http.client.HTTPException) as error:
                raise self._broken(watch) from error
            if watch.expired or (not part and left):
                raise self._broken(watch)
            if not part:
                return
            size += len(part)
            if left is not None:
                left -= len(part)
            if size > max_bytes:
                raise SimulatorError(f"the answer of {self.address} is larger than {_size(max_bytes)}")
            # A slow disk is not the server's silence.
            watch.expect(None)
            write(part)

    def _broken(self, watch):
        if watch.expired:
            return SimulatorError(
                f"{self.address} sent nothing for {_duration(self.limits.silence)}, and its answer is not complete")
        return SimulatorError(f"the connection to {self.address} was lost before its answer was complete")


class _Watch:
    """Cuts a connection whose server is silent for too long.

    A time-out of the socket does not see that: it begins again with each byte, also of endless 1xx heads or trailers.
    """

    def __init__(self, channel, seconds):
        self.expired = False
        self._channel = channel
        self._changed = threading.Condition()
        self._ended = False
        self._looks_at = self._deadline = _Real.monotonic() + seconds
        threading.Thread(target=self._run, daemon=True).start()

    def expect(self, seconds):
        """The server now has so many seconds for its next bytes; None while none are awaited."""
        with self._changed:
            self._deadline = float("inf") if seconds is None else _Real.monotonic() + seconds
            if self._deadline < self._looks_at:
                self._changed.notify()

    def end(self):
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _run(self):
        with self._changed:
            while not self._ended:
                now = _Real.monotonic()
                if now >= self._deadline:
                    break
                # Python cannot wait for ever with a time.
                self._looks_at = min(self._deadline, now + 3600)
                self._changed.wait(self._looks_at - now)
            if self._ended:
                return
            self.expired = True
        try:
            # Not the method of a TLS socket, which the reading thread uses.
            socket.socket.shutdown(self._channel, socket.SHUT_RDWR)
        except OSError:
            pass


def _answer(request):
    """The answer of a request of the journal in words: `200`, or `200, not delivered`."""
    status = "no answer" if request["status"] is None else str(request["status"])
    return status + ("" if request.get("delivered", True) else ", not delivered")


def _problem(method, path, status, data):
    try:
        envelope = json.loads(data)
        text = str(envelope["error"])
        details = [f"{d['field']}: {d['problem']}" for d in envelope.get("details", []) if str(d["problem"]) not in text]
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{method} {path}: the server answered {status}"
    text = "; ".join([text, *details])
    if envelope.get("code") == "unknown_namespace":
        return f"{text}. The namespace was deleted, or its time to live is over"
    # The platform's own 401 and 403 are about its tokens.
    if envelope.get("code") in ("forbidden", "unauthorized") and path.startswith("/_sim"):
        return f"{text}. A server that does not listen on loopback requires its control token: set ENTRUPY_SIM_CONTROL_TOKEN"
    return f"{method} {path}: {text}"


def _refused(status, data, method):
    """The error of a refused `/_sim/requests/verify`, with the way out in Python."""
    problem = _problem("POST", "/_sim/requests/verify", status, data)
    name = re.search(r'"(any_[a-z]+)"', problem)
    return SimulatorError(problem + (f": {name[1]}=True in {method}" if name else ""), status)


#: The states of deliveries, and what stands for all.
_DELIVERY_STATES = ("waiting", "sending", "retrying", "delivered", "failed", "cancelled", "any")


class _LeftOut:
    """The default of an argument that narrows something down.

    None is not: it is mostly a value that is missing by mistake, and would match everything.
    """

    def __repr__(self):
        return "…"


_LEFT_OUT = _LeftOut()


def _narrowing(caller, **members):
    """The members that are given. Raises TypeError for None."""
    for name, value in members.items():
        if value is None:
            raise TypeError(f"{caller}: {name} is None: leave it out if it does not matter")
    return {name: value for name, value in members.items() if value is not _LEFT_OUT}


def _is_number(value):
    """Whether a value is a finite number. In Python, True is a number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


#: A name that a header can have.
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _check_headers(caller, headers):
    """Raises if no request can have the headers, or all have: a mistake would make the expectation worthless."""
    if not isinstance(headers, dict) or not headers:
        raise SimulatorError(f"{caller}: headers must be a dictionary that is not empty, such as {{'Api-Version': '1.3'}}, got {headers!r}")
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise SimulatorError(f"{caller}: headers: {name!r} is not the name of a header")
        is_right = value is None or _is_text_pattern(value) or _is_number(value) or isinstance(value, str)
        if not is_right:
            raise SimulatorError(f"{caller}: headers: {name} must be a text, a number, a compiled pattern of text or None, got {value!r}")
        if isinstance(value, str) and (value != value.strip() or not value.replace("\t", " ").isprintable()):
            raise SimulatorError(
                f"{caller}: headers: no {name} can be {value!r}: write it without spaces at its ends and without control characters")


def _check_body(caller, body):
    """Raises if no body can be as expected, or all are: a mistake would make the expectation worthless."""
    if isinstance(body, (dict, list, tuple)):
        return _check_json(caller, body, "body")
    if not isinstance(body, str) and not _is_text_pattern(body):
        raise SimulatorError(f"{caller}: body must be a dictionary, a list, a text or a compiled pattern of text, got {body!r}")
    if not getattr(body, "pattern", body):
        raise SimulatorError(f"{caller}: body is an empty text, which every body contains: leave it out if it does not matter")


def _check_json(caller, value, place):
    """Raises if a value inside of an expected body is none that JSON has, and no pattern."""
    if isinstance(value, dict):
        for name, part in value.items():
            if not isinstance(name, str):
                raise SimulatorError(f"{caller}: {place} has the name {name!r}: names in JSON are texts")
            _check_json(caller, part, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            _check_json(caller, part, f"{place}[{index}]")
    elif not (value is None or isinstance(value, (str, bool)) or _is_number(value) or _is_text_pattern(value)):
        raise SimulatorError(f"{caller}: {place} must be a value that JSON has, or a compiled pattern of text, got {value!r}")


#: The seconds by which two moments may differ that are the same: texts have microseconds.
_SAME = 1e-6
#: A number that no journal reaches.
_MANY = 1_000_000_000


class _Bounds:
    """How many are expected."""

    def __init__(self, times=None, at_least=None, at_most=None):
        given = _given(times=times, at_least=at_least, at_most=at_most)
        for name, value in given.items():
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MANY:
                raise SimulatorError(f"{name} must be a whole number from 0 to {_MANY}, got {value!r}")
        if times is not None and len(given) > 1:
            raise SimulatorError("times excludes at_least and at_most: give one of them")
        self.least = times if times is not None else at_least if at_least is not None else 0 if given else 1
        self.most = times if times is not None else at_most
        if self.most is not None and self.least > self.most:
            raise SimulatorError(f"at_least must be at most at_most, got {self.least} and {self.most}")
        if self.least == 0 and self.most is None:
            raise SimulatorError("at_least=0 matches whatever happened: give at_most too, or times")

    def holds(self, count):
        return self.least <= count and (self.most is None or count <= self.most)

    def depends_on(self, doubtful, count):
        """Whether so many more, of which each counts or not, would change what holds."""
        return any(self.holds(count + more) != self.holds(count) for more in range(1, doubtful + 1))

    def is_certain(self, count):
        """Whether a larger count changes nothing."""
        return count >= self.least if self.most is None else count > self.most

    def __str__(self):
        if self.most is None:
            return f"at least {self.least}"
        return str(self.least) if self.least == self.most else (
            f"{self.least} to {self.most}" if self.least else f"at most {self.most}")


#: What a step of `expect_requests` may have.
_STEP_MEMBERS = ("method", "route", "status", "delivered", "username", "test")


def _step(step):
    """A step of `expect_requests` as the control API takes it."""
    if isinstance(step, (tuple, list)) and 1 <= len(step) <= 3:
        step = dict(zip(_STEP_MEMBERS, step))
    if not isinstance(step, dict) or not set(step) <= set(_STEP_MEMBERS):
        raise SimulatorError(
            f"a step must be (method, route), (method, route, status), or a dict of {', '.join(_STEP_MEMBERS)}, got {step!r}")
    return _narrowing("a step", **step)


class _NotKept(Exception):
    """The journal lacks a part of a body that decides."""


def _short(value, length=120):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= length else f"{text[:length]}…"


def _wanted(match):
    """A condition in words: `POST /sdk/login 200, delivered: true`."""
    words = [str(match[name]) for name in ("event", "method", "route", "status") if match.get(name) is not None]
    others = []
    for name, value in match.items():
        if name in ("event", "method", "route", "status"):
            continue
        value = str(value).lower() if isinstance(value, bool) else value
        others.append(f"{name}: {_short(getattr(value, 'pattern', value), 300)}")
    return ", ".join([" ".join(words), *others] if words else others) or "any"


def _nearest(answer):
    near = "".join(
        f"\n  {n['request']['method']} {n['request']['path']} {_answer(n['request'])}{_because(n['request'])}"
        f"{': ' if n['differences'] else ''}{', '.join(n['differences'])}"
        for n in answer.get("nearest") or [])
    return f"; nearest:{near}" if near else ""


def _because(entry):
    """The fact behind a 403, 404 or 409, which the caller does not learn."""
    return f" (because {entry['because']})" if entry.get("because") else ""


def _is_pattern(value):
    return isinstance(value, re.Pattern)


def _is_text_pattern(value):
    return _is_pattern(value) and isinstance(value.pattern, str)


def _text_matches(expected, text):
    return bool(expected.search(text)) if _is_pattern(expected) else expected == text


#: The end of a difference from a text with a masked part: whether it is one is not known.
_MASKED = " (the journal masks secrets)"


#: The end of a difference of a delivery to a deleted subscription.
_DELETED = " (its subscription was deleted)"

#: How to ask for what is masked.
_ASK_OTHERWISE = "Ask by route, username or test, by other members of the JSON, or for the text as the journal shows it, with ***"


def _is_doubtful(differences):
    """Whether only what is not known differs."""
    return bool(differences) and all(part.endswith((_MASKED, _DELETED)) for part in differences)


def _may_be(expected, masked):
    """Whether what is expected may be what the journal shows masked: a text, a pattern, or a value under the name of a secret."""
    if not isinstance(masked, str) or "***" not in masked:
        return False
    if not isinstance(expected, str):
        # What a pattern would find in a secret is not known.
        return _is_pattern(expected) or masked == "***" and not (expected is None or isinstance(expected, bool))
    return _is_masked(expected, masked)


def _is_masked(text, masked):
    """Whether a text is the masked one but for its masked parts."""
    first, *rest = masked.split("***")
    place = len(first)
    if not text.startswith(first):
        return False
    for part in rest[:-1]:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return len(text) - place >= len(rest[-1]) and text.endswith(rest[-1])


def _instead(expected, actual, is_masked=None):
    hint = _MASKED if (_may_be(expected, actual) if is_masked is None else is_masked) else ""
    wanted = f"/{expected.pattern}/" if _is_pattern(expected) else repr(expected)
    return f"{_short(repr(actual))}, not {_short(wanted)}{hint}"


def _header_differences(expected, actual):
    found = []
    for name, value in expected.items():
        values = [text for key, text in actual if key.lower() == name.lower()]
        wanted = value if value is None or _is_pattern(value) else str(value)
        if value is None:
            found += [f"header {name} is {_short(repr(text))}, not absent" for text in values]
        elif not any(_text_matches(wanted, text) for text in values):
            is_masked = any(_may_be(wanted, text) for text in values)
            found.append(f"header {name} is {_instead(value, ', '.join(values), is_masked)}" if values else f"header {name} is absent")
    return found


def _body_differences(expected, message):
    """The differences of a journaled body from an expected one. Raises _NotKept if they are not known."""
    if expected is None:
        return []
    text, is_whole = message["body"], not message["truncated"]
    if text is None:
        raise _NotKept(f"a body of {message['bytes']} bytes is not text")
    if isinstance(expected, str) or _is_pattern(expected):
        if expected.search(text) if _is_pattern(expected) else expected in text:
            return []
        if is_whole:
            # The text may be in a secret, or reach into it.
            return [f"body is {_instead(expected, text, '***' in text)}"]
    if not is_whole:
        raise _NotKept(f"{len(text)} characters of a body of {message['bytes']} bytes were kept")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        hint = _MASKED if "***" in text else ""
        return [f"body is no JSON: {_short(repr(text))}{hint}"] if text else ["body is empty"]
    return _json_differences(expected, value, "body")


def _json_differences(expected, actual, place):
    """The differences of a value from an expected part of it: an object may have more members."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for name, value in expected.items():
            part = f"{place}.{name}"
            if name in actual:
                found += _json_differences(value, actual[name], part)
            else:
                found.append(f"{part} is absent" + (_MASKED if any(_may_be(name, key) for key in actual) else ""))
        return found
    if isinstance(expected, (list, tuple)) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{place} has {len(actual)} elements, not {len(expected)}"]
        return [
            text for index, pair in enumerate(zip(expected, actual)) for text in _json_differences(*pair, f"{place}[{index}]")]
    if _is_pattern(expected) and isinstance(actual, str):
        is_equal = bool(expected.search(actual))
    elif _is_pattern(expected) and isinstance(actual, (int, float)) and expected.search(json.dumps(actual)):
        raise SimulatorError(f"{place} is {json.dumps(actual)}, which is not a text, and a pattern is found in texts alone: expect the value")
    else:
        # In Python, True is 1.
        is_equal = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return [] if is_equal else [f"{place} is {_instead(expected, actual)}"]


def _delivery_differences(match, delivery, url):
    """The differences of a delivery from an expected one. `url` is the receiver's; None if it is not known."""
    found = []
    for name in ("event", "entrupy_id"):
        if name in match and delivery[name] != match[name]:
            found.append(f"{name} is {delivery[name]}, not {match[name]}")
    # A verification of the receiver's domain is no event.
    if "event" not in match and delivery["event"] == "verification":
        found.append("it verifies the domain")
    if match["status"] not in ("any", delivery["status"]):
        found.append(f"status is {delivery['status']}, not {match['status']}")
    if "url" in match and url is None:
        found.append(f"its url is not known{_DELETED}")
    elif "url" in match and not _text_matches(match["url"], url):
        found.append(f"url is {_instead(match['url'], without_secrets(url), _may_be(match['url'], url))}")
    if "since" in match and delivery["created_at"] < _epoch(match["since"]) - _SAME:
        found.append("it is from before since")
    if "attempts" in match and len(delivery["attempts"]) != match["attempts"]:
        found.append(f"attempts are {len(delivery['attempts'])}, not {match['attempts']}")
    if "body" in match:
        text = json.dumps(delivery["body"], ensure_ascii=False)
        found += _body_differences(match["body"], {"body": text, "bytes": len(text), "truncated": False})
    return found


def _check_delivery(caller, match):
    """Raises if no delivery can be as expected, or all are: a mistake would make the expectation worthless."""
    if "since" in match:
        _epoch(match["since"])
    if "body" in match:
        _check_body(caller, match["body"])
    if "url" in match and not (_is_text_pattern(match["url"]) or isinstance(match["url"], str) and match["url"]):
        raise SimulatorError(f"{caller}: url must be the text of a receiver's URL, or a compiled pattern of text, got {match['url']!r}")
    attempts = match.get("attempts", 1)
    if not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 0:
        raise SimulatorError(f"{caller}: attempts must be a whole number of at least 0, got {attempts!r}")
    if attempts == 0 and match["status"] == "delivered":
        raise SimulatorError(f"{caller}: attempts must be at least 1 where the status is delivered, as without one: give another status")


def _shown_url(url):
    return f"/{url.pattern}/" if _is_pattern(url) else without_secrets(url)


def without_secrets(url):
    """A receiver's URL without a password, and without the values of its query."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "***"
    host = parts.netloc.rsplit("@", 1)
    query = "&".join(f"{part.split('=', 1)[0]}=***" if "=" in part else "***" for part in parts.query.split("&") if part)
    return urllib.parse.urlunsplit((
        parts.scheme, f"***@{host[1]}" if len(host) > 1 else host[0], parts.path, query, ""))


def describe_delivery(delivery):
    """A delivery in words: `session.completed of QZ5HXWOU to http://a/hook, retrying after 2 attempts, connection refused`."""
    attempts = delivery["attempts"]
    words = [delivery["event"] + (f" of {delivery['entrupy_id']}" if delivery["entrupy_id"] else "")]
    words[0] += f" to {without_secrets(delivery['url'])}" if delivery["url"] else " to a deleted subscription"
    words.append(delivery["status"] + (
        f" after {len(attempts)} attempt{'' if len(attempts) == 1 else 's'}" if attempts else ""))
    if delivery["status"] != "delivered":
        words += _reasons(delivery)
    return ", ".join(words)


def _reasons(delivery):
    """Why a delivery did not arrive."""
    last = delivery["attempts"][-1] if delivery["attempts"] else {}
    words = []
    if last.get("status") is not None:
        answer = f": {_short(last['answer'], 160)}" if last.get("answer") else ""
        words.append(f"the receiver answered {last['status']}{answer}")
    if last.get("error"):
        words.append(last["error"])
    fault = last.get("fault") or delivery.get("fault")
    if fault:
        words.append(f"by the fault {fault}")
    if delivery.get("held_back"):
        words.append(delivery["held_back"])
    return words


#: Beside rules of the audit, what may be ignored: requests that the journal has forgotten. The server's reason has the word.
_FORGOTTEN = "forgotten"

_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}


def _seconds(duration):
    """The seconds of a duration: a number of them, or a text such as `"1h30m"` or `"300ms"`."""
    if not isinstance(duration, str):
        return duration
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)(ms|[dhms])", duration)
    units = [list(_UNITS).index(unit) for _, unit in parts]
    if (not parts or "".join(number + unit for number, unit in parts) != duration or units != sorted(set(units))
            or any("." in number for number, _ in parts[:-1])):
        raise SimulatorError(f"{duration!r} is not a duration such as 90s, 1h30m, 300ms, 1.5d, or a number of seconds")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _epoch(moment):
    """The epoch seconds of a moment: a number of them, or ISO 8601 with an offset."""
    if _is_number(moment):
        return moment
    try:
        # Python 3.9 does not know Z.
        parsed = _Real.datetime.fromisoformat(moment.replace("Z", "+00:00"))
        if parsed.tzinfo:
            return parsed.timestamp()
    except (AttributeError, ValueError):
        pass
    raise SimulatorError(f"since must be ISO 8601 with an offset, such as 2026-01-05T09:00:00Z, or epoch seconds, got {moment!r}")


def _duration(duration):
    """The text of a duration, as the simulator prints it: `1h30m` for 5400 seconds, `300ms`, `1m0.5s`."""
    count = round(_seconds(duration) * 1_000_000)
    if count < 0:
        return f"-{_duration(-count / 1_000_000)}"
    if 0 < count < 1_000_000 and count % 1000 == 0:
        return f"{count // 1000}ms"
    seconds, fraction = divmod(count, 1_000_000)
    parts = (("d", seconds // 86_400), ("h", seconds // 3600 % 24), ("m", seconds // 60 % 60))
    text = "".join(f"{number}{unit}" for unit, number in parts if number)
    if seconds % 60 or fraction or not text:
        digits = f"{fraction:06}".rstrip("0")
        text += f"{seconds % 60}{'.' if digits else ''}{digits}s"
    return text


def _size(count):
    """The text of a size in bytes, as the simulator prints it: `512 B`, `1.5 kB`, `64 MB`."""
    for name, unit in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        # 999,950 bytes are 1 MB, not 1000 kB.
        if count >= 1000 and count >= unit * 0.99995:
            whole, tenth = divmod((count * 10 + unit // 2) // unit, 10)
            return f"{whole}{f'.{tenth}' if tenth else ''} {name}"
    return f"{count} B"


def _quoted(text):
    return urllib.parse.quote(text, safe="")


def _check(route):
    """Raises if no request can have a route: a mistake would make an expectation of none worthless."""
    if route is not None and (not isinstance(route, str) or not route.startswith(("/", "*")) or route.startswith("/ns/")):
        raise SimulatorError(
            f"the route {route!r} matches no request: write the path without the namespace, with its first slash, for "
            "instance /sdk/results/*/flag")


def _notes(rule):
    """The notes of a rule. A server of before `note_details` has only their texts: those that may change end with "yet"."""
    return rule.get("note_details") or [
        {"field": None, "problem": text, "may_change": text.endswith(" yet")} for text in rule.get("notes") or []]


def _noted(subject, note):
    return ": ".join(part for part in (subject, note["field"], note["problem"]) if part)


def _given(**members):
    return {name: value for name, value in members.items() if value is not None}


class Simulator:
    """A running server."""

    #: The longest time that a server gets to stop.
    _stop_seconds = 30.0

    def __init__(self, url, control_token=None, process=None):
        self.url = url.rstrip("/")
        self.control_token = control_token
        #: `strict` of namespaces that are made without it.
        self.strict = False
        #: `on_note` of namespaces that are made without it.
        self.on_note = print_note
        self._process = process
        self._control = _Control(self.url, control_token)
        # The plugin gets each namespace that was made.
        self._on_made = None

    @classmethod
    def connect(cls, url, control_token=None):
        """Connects to a server that runs already. Raises SimulatorError if it is of another version."""
        simulator = cls(url.split("/ns/")[0], control_token or os.environ.get("ENTRUPY_SIM_CONTROL_TOKEN"))
        info = simulator._control.send("GET", "/_sim/info")
        version = str(info.get("version", "")) if isinstance(info, dict) else ""
        if version.split(".")[:2] != VERSION.split(".")[:2]:
            raise SimulatorError(
                f"the server at {url} is entrupy-sim {version or 'of an unknown version'}, this package needs {VERSION}: "
                "update the one that is behind")
        return simulator

    @classmethod
    def start(cls, binary=None, arguments=(), *, _is_recorded=False):
        """Starts a server on a free port of loopback, in memory. It ends with `stop()`, or with this process.

        The program is `binary`, else ENTRUPY_SIM_BINARY, else that of this Python environment, else `entrupy-sim` in PATH.
        `arguments` are more ones of `serve`. Of the server's variables in the environment only ENTRUPY_SIM_LOG_LEVEL counts. ENTRUPY_SIM_RECORD records the server of the pytest
        plugin alone, since a recording holds one server: `arguments=["--record", path]` records this one.
        """
        path = _program(binary)
        environment = _server_environment(_is_recorded)
        arguments = [str(argument) for argument in arguments]
        given = {argument.split("=", 1)[0] for argument in arguments}
        command = [path, "serve", "--ready-json", "--exit-with-parent"]
        command += ["--port", "0"] if "--port" not in given else []
        command += ["--in-memory"] if not given & {"--data-dir", "--in-memory"} else []
        command += [argument for argument in arguments if argument not in ("--ready-json", "--exit-with-parent")]
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # A program that is not entrupy-sim may never print anything. It gets 60 s.
        late = threading.Timer(60, process.kill)
        late.start()
        line = process.stdout.readline()
        late.cancel()
        if not line:
            _, log = process.communicate()
            text = log.decode(errors="replace").strip()
            raise SimulatorError(f"{path} did not start: {text or 'it printed nothing'}")
        # What it prints later must not fill a pipe.
        for pipe in (process.stdout, process.stderr):
            threading.Thread(target=_drain, args=(pipe,), daemon=True).start()
        try:
            ready = json.loads(line)
            return cls(ready["url"], ready.get("control_token"), process)
        except (ValueError, KeyError) as error:
            process.kill()
            raise SimulatorError(f"{path} is not entrupy-sim {VERSION}: it printed {line[:80]!r}") from error

    def stop(self):
        """Stops a server that `start()` started. One that does not end within 30 s is killed."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            if not _has_ended(self._process, self._stop_seconds):
                self._process.kill()
                _has_ended(self._process, self._stop_seconds)

    def coverage(self, prefix=None):
        """Which documented answers, errors, states and limits were met, over all namespaces of the server, as a dictionary.

        With a prefix only the living namespaces whose names begin with it (docs/coverage.md).
        """
        query = "" if prefix is None else f"?prefix={_quoted(prefix)}"
        return self._control.send("GET", f"/_sim/coverage{query}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def make_namespace(
            self, prefix="test", scenario=None, seed=None, frozen_at=None, random_seed=None, ttl="30m", strict=None,
            on_note=None):
        """Makes a namespace, which lives until it was not used for `ttl`.

        `scenario` is the name of one that the server has, or the path of a YAML file; `seed` is `standard`, `empty`, or the path
        of a file of seed data, which is added to `empty`; `frozen_at` freezes the clock at a moment in ISO 8601.

        Notes on rules and scenarios name parts that nothing matches, such as a misspelt route. `on_note` gets each as a text.
        With `strict`, those that no later event can resolve are errors, and the others are errors of `verify_rules()`; the next
        release makes that the default. Where `strict` or `on_note` is None, the simulator's own counts.
        """
        for name, value in (("scenario", scenario), ("seed", seed), ("frozen_at", frozen_at)):
            if value == "":
                raise SimulatorError(f"{name} must not be empty: leave it out if it does not matter")
        is_file = seed is not None and seed not in ("standard", "empty")
        data = _read(seed, "seed data") if is_file else None
        scenario = None if scenario is None else os.fspath(scenario)
        is_path = scenario is not None and ("/" in scenario or scenario.endswith((".yaml", ".yml")))
        document = _read(scenario, "scenario") if is_path else None
        made = self._control.send("POST", "/_sim/namespaces", _given(
            prefix=prefix, seed="empty" if is_file else seed, random_seed=random_seed, ttl=ttl,
            clock={"freeze": frozen_at} if frozen_at is not None and not scenario else None), takes_long=True)
        namespace = Namespace(
            made["name"], self.url, self.control_token, self.strict if strict is None else strict, on_note or self.on_note)
        try:
            if data:
                namespace.control("POST", "/_sim/seed", data, content_type="application/yaml")
            if scenario:
                namespace._start(scenario, document)
                if frozen_at is not None:
                    namespace.clock.freeze(frozen_at)
        except SimulatorError:
            namespace.delete()
            raise
        if self._on_made:
            self._on_made(namespace)
        return namespace


def _drain(pipe):
    for _ in pipe:
        pass


def _server_environment(is_recorded=False):
    """The environment of a program: its settings are for servers that are started by hand."""
    kept = ("ENTRUPY_SIM_LOG_LEVEL", *(["ENTRUPY_SIM_RECORD", "ENTRUPY_SIM_COVERAGE_FILE"] if is_recorded else []))
    return {name: value for name, value in os.environ.items() if not name.startswith("ENTRUPY_SIM_") or name in kept}


def _program(binary):
    for path, origin in ((binary, "the path"), (os.environ.get("ENTRUPY_SIM_BINARY"), "ENTRUPY_SIM_BINARY")):
        if path:
            if not os.access(path, os.X_OK) or os.path.isdir(path):
                raise SimulatorError(f"{origin} {path} is not a program: give the path of entrupy-sim")
            return str(path)
    # The wheel puts it beside Python, which is not in PATH where the environment is not activated.
    found = shutil.which("entrupy-sim", path=sysconfig.get_path("scripts")) or shutil.which("entrupy-sim")
    if not found:
        raise SimulatorError(
            "there is no entrupy-sim: install its wheel or put it in PATH, or set ENTRUPY_SIM_BINARY to its path")
    return found


def _read(path, what):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise SimulatorError(f"the {what} {path} cannot be read from {os.getcwd()}: give the path of a YAML file") from error


class Clock:
    """The clock of a namespace. Advancing it makes everything happen that falls due."""

    def __init__(self, control):
        self._control = control

    def state(self):
        """`{"now", "epoch", "mode"}`."""
        return self._control.send("GET", "/_sim/clock")

    def freeze(self, at=None):
        """Stops the clock, at a moment in ISO 8601 or now."""
        return self._control.send("POST", "/_sim/clock/freeze", _given(at=at))

    def advance(self, by=None, to=None):
        """Moves the clock by a duration (`"3h"`, or seconds), or to a moment or `"next"`.

        With `"next"` and nothing due, the answer has `reached` False and `nothing_due` True:
        `while clock.advance(to="next")["reached"]: ...` ends."""
        return self._control.send("POST", "/_sim/clock/advance", _given(by=by, to=to), takes_long=True)

    def resume(self):
        """Lets the clock run again, from where it is."""
        return self._control.send("POST", "/_sim/clock/resume")


#: The calls after which a namespace does not remember what happened before, beside its deletion.
_LOSING = re.compile(r"POST /_sim/(reset|snapshots/[^/]+/restore|scenarios/([^/]+/)?start)|DELETE /_sim/requests")


class Namespace:
    """A namespace: a platform of its own, with its own clock, data, limits and journal."""

    #: The API token of the seed data's organization DemoOrg.
    api_token = "demo-api-token"

    def __init__(self, name, address, token=None, strict=False, on_note=print_note):
        self.name = name
        #: Whether notes on rules and scenarios are errors.
        self.strict = strict
        self._on_note = on_note
        # Problems that were reported or raised.
        self._reported = set()
        # Whether notes that a later event can resolve wait for `verify_rules()`; the plugin calls it.
        self._defers_notes = False
        # Notes that wait, with their subjects, by the id of the rule.
        self._deferred = {}
        # The notes that stood when their rules were removed.
        self._left = []
        # The scenario that it was made with, if that expects something; the plugin verifies it.
        self._scenario = None
        # Called with a call of _LOSING before it is sent: the plugin judges what is about to be lost.
        self._on_losing = None
        # Whether it was deleted here.
        self._is_deleted = False
        # The call after which deliveries from before it are forgotten, and the clock then.
        self._forgot = None
        # The URLs of receivers by the ids of their subscriptions, which deliveries to deleted ones no longer have.
        self._urls = {}
        #: The base URL for clients.
        self.url = f"{address.rstrip('/')}/ns/{name}"
        self._control = _Control(self.url, token)
        self.clock = Clock(self._control)

    @property
    def environment(self):
        """The variables for a process that a test starts: where the namespace is, its API token, and the name of the test.

        `subprocess.run(["my-backend"], env={**os.environ, **sim.environment})`
        """
        return _given(
            ENTRUPY_SIM_URL=self.url, ENTRUPY_SIM_SERVER=self.url.rsplit("/ns/", 1)[0], ENTRUPY_SIM_NAMESPACE=self.name,
            ENTRUPY_SIM_API_TOKEN=self.api_token, ENTRUPY_SIM_TOKEN=self.api_token,
            ENTRUPY_SIM_CONTROL_TOKEN=self._control.token, ENTRUPY_SIM_TEST=os.environ.get(TEST_VARIABLE))

    @property
    def headers(self):
        """`X-Sim-Test` with the name of the test, for clients that are neither `requests` nor `httpx`. Empty without a name."""
        name = os.environ.get(TEST_VARIABLE)
        return {TEST_HEADER: _header_text(name)} if name else {}

    def control(self, method, path, body=None, content_type="application/json"):
        """Sends any request to the control API of this namespace, and returns the answer's JSON."""
        call = f"{method} {path.partition('?')[0]}"
        is_deletion = call in ("DELETE /_sim/namespaces", f"DELETE /_sim/namespaces/{self.name}")
        if call.startswith("DELETE /_sim/webhooks/"):
            self._subscriptions()
        if not is_deletion and not _LOSING.fullmatch(call):
            return self._control.send(method, path, body, content_type, takes_long=True)
        if is_deletion:
            self._keep_notes()
        if self._on_losing:
            self._on_losing(self, is_deletion)
        # The journal alone has no deliveries.
        loses_deliveries = not is_deletion and method == "POST" and bool(self.deliveries(limit=1))
        answer = self._control.send(method, path, body, content_type, takes_long=True)
        self._is_deleted = is_deletion
        if method == "POST":
            self._urls = {}
        if loses_deliveries:
            self._forgot = call, self.clock.state()
        return answer

    def outcome(self, result, reason=None, after=None, times=None, **match):
        """Decides the results of items that are submitted from now on: `outcome("unknown", customer_item_id="late-*")`."""
        match = _narrowing("outcome", **match)
        return self._report_rule("outcome rule", self.control(
            "POST", "/_sim/outcomes", _given(result=result, reason=reason, after=after, times=times, match=match)))

    def fault(self, effect, route=_LEFT_OUT, method=_LEFT_OUT, webhook=_LEFT_OUT, username=_LEFT_OUT, header=_LEFT_OUT, times=None,
              after_requests=None, probability=None):
        """Makes requests or webhooks fail: `fault({"status": 503}, route="/sdk/search", times=2)`.

        `header` is a dictionary of names of headers, each with a glob for its value.
        """
        match = _narrowing("fault", route=route, method=method, webhook=webhook, username=username, header=header)
        _check(match.get("route"))
        return self._report_rule("fault", self.control("POST", "/_sim/faults", _given(
            effect=effect, match=match, times=times, after_requests=after_requests, probability=probability)))

    def _report(self, subject, note):
        self._reported.add(note["problem"])
        self._on_note(_noted(subject, note))

    def _report_rule(self, kind, rule):
        """Reports the notes of a rule. Those that no later event can resolve fail a strict test."""
        subject = f"the {kind} {rule['id']}"
        notes = _notes(rule)
        wrong = [note for note in notes if self.strict and not note["may_change"]]
        for note in notes:
            if note["may_change"] and self._defers_notes:
                self._deferred.setdefault(rule["id"], []).append((subject, note))
            elif note not in wrong:
                self._report(subject, note)
        if wrong:
            self._reported.update(note["problem"] for note in wrong)
            raise AssertionError("; ".join(_noted(subject, note) for note in wrong))
        return rule

    def _standing_notes(self, kinds=("faults", "outcomes")):
        """The notes of all rules, with their subjects, but for those of rules that a request or item met."""
        standing = []
        for kind, name in (("faults", "fault"), ("outcomes", "outcome rule")):
            for rule in self.control("GET", f"/_sim/{kind}")[kind] if kind in kinds else []:
                self._deferred.pop(rule["id"], None)
                if not rule.get("hits") and not rule.get("seen"):
                    standing += [
                        (f"the {name} {rule['id']}", note) for note in _notes(rule)
                        if note["may_change"] or not self._was_reported(note)]
        return standing

    def _keep_notes(self, *kinds):
        """Keeps the notes of rules that are about to be removed."""
        if self._defers_notes:
            with contextlib.suppress(SimulatorError):
                self._left += self._standing_notes(*kinds)

    def _was_reported(self, note):
        # A scenario's note has the line before the problem.
        return any(text == note["problem"] or text.endswith(f": {note['problem']}") for text in self._reported)

    def verify_rules(self):
        """Reports the notes of rules that still stand, such as a user who was never created. Where the namespace is strict, they
        fail with AssertionError.

        A rule that was met has none. Those of rules that `clear_faults()` removes count as of then. The pytest plugin calls this
        after each test, for the namespaces that the test made.
        """
        standing = self._left
        try:
            standing = standing + self._standing_notes()
        except SimulatorError as error:
            if error.status != 404:
                raise
            self._report_gone()
        # Whether the notes of rules that were removed in another way, as by a reset, were resolved before is not known.
        unknown = [note for notes in self._deferred.values() for note in notes]
        self._defers_notes, self._deferred, self._left = False, {}, []
        shown = unknown if self.strict else standing + unknown
        for subject, note in [pair for pair in shown if not self._was_reported(pair[1])]:
            self._report(subject, note)
        if self.strict and standing:
            raise AssertionError("\n".join(_noted(*note) for note in standing))

    def _report_gone(self):
        """Reports that the namespace is gone. One that was not deleted here fails a strict test: nothing judged it before."""
        text = f"the namespace {self.name} is gone, so it was not judged: delete it with delete(), which judges it first"
        if self._is_deleted:
            return
        if self.strict:
            raise AssertionError(text)
        self._on_note(text)

    def _start(self, scenario, document):
        """Starts a scenario by its name, or the one in `document`, the bytes of its file."""
        path, body = f"/_sim/scenarios/{_quoted(scenario)}/start", {}
        if document is not None:
            try:
                path, body = "/_sim/scenarios/start", {"scenario": document.decode()}
            except UnicodeDecodeError:
                raise SimulatorError(f"the scenario {scenario} is not UTF-8: save it as UTF-8") from None
        # The namespace is new: nothing is lost.
        run = self._control.send("POST", path + ("?strict=true" if self.strict else ""), body, takes_long=True)
        for note in run["notes"]:
            self._report(f"the scenario {run['name']}", note)
        self._scenario = run["name"] if run["expectations"] else None

    def held(self):
        """The requests that faults hold, oldest first, as dictionaries. `wait("request:held")` waits for one."""
        return self.control("GET", "/_sim/held")["held"]

    def release(self, held=None, status=None, body=None, drop_connection=False):
        """Lets a held request go on: one of `held()`, or its id. Without one, all of them go on.

        With `status` it is answered so, with `drop_connection` its connection is reset. A request that was held before it was
        handled is then not handled. The answer of the request comes a moment later.
        """
        if held is None:
            if status is not None or body is not None or drop_connection:
                raise SimulatorError("status, body and drop_connection are for one held request: release(held()[0], status=503)")
            self.control("DELETE", "/_sim/held")
            return
        name = held["id"] if isinstance(held, dict) else held
        self.control("POST", f"/_sim/held/{_quoted(name)}/release", _given(
            status=status, body=body, drop_connection=drop_connection or None))

    def clear_faults(self):
        """Removes every fault."""
        self._keep_notes(("faults",))
        self.control("DELETE", "/_sim/faults")

    def settings(self, **changes):
        """Changes settings by a JSON merge patch, and returns all of them: `settings(rate_limits="off", result={"delay": "3h"})`."""
        return self.control("PATCH", "/_sim/settings", changes)

    def insert_items(self, count=None, **template):
        """Makes items without captures, and returns the ids of the first 1,000.

        Without `count` it is one item, which sends its webhooks. With `count`, even with 1, none are sent."""
        return self.control(
            "POST", "/_sim/authentications",
            _given(count=count, template={"brand": "Nike", **template}))["entrupy_ids"]

    def items(self, text=_LEFT_OUT, brand=_LEFT_OUT, category=_LEFT_OUT, result=_LEFT_OUT, flag=_LEFT_OUT, username=_LEFT_OUT, limit=1000):
        """The items, newest first, at most `limit`.

        `text` is the beginning of an item's id, its certificate's id or its `customer_item_id`.
        """
        return self._pages("/_sim/authentications", "authentications", limit, 25, _narrowing(
            "items", text=text, brand=brand, category=category, result=result, flag=flag, username=username))

    def item(self, entrupy_id):
        """An item with its timeline, and as the SDK and versions 1 and 2 of the partner API have it: `sdk`, `v1`, `v2`."""
        return self.control("GET", f"/_sim/authentications/{_quoted(entrupy_id)}")

    def set_result(self, entrupy_id, result, reason=None):
        """Sets the result of an item, as the platform would. `reason` is only for `invalid`."""
        return self.control(
            "PATCH", f"/_sim/authentications/{_quoted(entrupy_id)}", _given(result=result, reason=reason))

    def user(self, username="DemoOrg-sim-test-user"):
        """A user of the app, who can flag items: `sim.user().flag(item)`. Sends nothing yet.

        `username` is a username, or the `unique_user_id` of a user of the first organization. The default is the user of the items
        that `insert_items` makes. Each call gives a user who is not logged in.
        """
        return User(self, username)

    def resolve_flag(self, entrupy_id, note, result=None):
        """Answers a flag, as support would. `result` is the new result; without it, the result stays."""
        return self.control(
            "POST", f"/_sim/authentications/{_quoted(entrupy_id)}/flag/resolve", _given(note=note, result=result))

    def request_retake(self, entrupy_id, regions=None, message=None):
        """Asks for new pictures of an item, as support would.

        `regions` is a list of ids; without it, all that the workflow requires.
        """
        return self.control(
            "POST", f"/_sim/authentications/{_quoted(entrupy_id)}/retake", _given(regions=regions, message=message))

    def revoke_sessions(self, username=_LEFT_OUT):
        """Ends the sessions of a user, or of all: their next request is 401."""
        query = urllib.parse.urlencode(_narrowing("revoke_sessions", username=username))
        self.control("DELETE", "/_sim/sessions" + (f"?{query}" if query else ""))

    def subscribe(self, url, secret, events=None, organization=None, username=None, **more):
        """Subscribes a receiver to webhooks, as the back end of an organization, by default the first one, would.

        `events` is a list of their names, or `None` for all of them. `more` may be `channel`, `format` and `signature`. Each call
        makes a subscription, also for the same URL; it returns it, with its `id`."""
        made = self.control(
            "POST", "/_sim/webhooks",
            _given(url=url, secret_key=secret, events=events, organization=organization, username=username, **more))
        self._urls[made["id"]] = made["url"]
        return made

    def unsubscribe(self, subscription):
        """Deletes a subscription, of any organization: what `subscribe` returned, or its id. Its open deliveries are not sent."""
        name = subscription["id"] if isinstance(subscription, dict) else subscription
        self.control("DELETE", f"/_sim/webhooks/{_quoted(name)}")

    def _subscriptions(self):
        """The subscriptions, whose URLs are remembered."""
        found = self.control("GET", "/_sim/webhooks")["webhooks"]
        self._urls.update({subscription["id"]: subscription["url"] for subscription in found})
        return found

    def deliveries(self, entrupy_id=_LEFT_OUT, status=_LEFT_OUT, limit=1000):
        """The deliveries of webhooks, newest first, at most `limit`."""
        return self._pages("/_sim/webhook-deliveries", "deliveries", limit, 100, _narrowing(
            "deliveries", entrupy_id=entrupy_id, status=status))

    def events(self, subject=_LEFT_OUT, kind=_LEFT_OUT, limit=1000):
        """The event log, newest first, at most `limit`. `kind` is a glob: `result.*`."""
        return self._pages("/_sim/event-log", "events", limit, 1000, _narrowing("events", subject=subject, kind=kind))

    def due(self):
        """What is scheduled, the next first, as dictionaries with `kind`, `subject`, `at` and `seconds_left`."""
        return self.control("GET", "/_sim/due")["due"]

    def _pages(self, path, name, limit, per_page, members):
        """The entries of a list, page by page."""
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise SimulatorError(f"limit must be a whole number of at least 1, got {limit!r}")
        found, cursor = [], None
        while True:
            query = urllib.parse.urlencode(_given(limit=min(per_page, limit - len(found)), cursor=cursor, **{
                key: str(value).lower() if isinstance(value, bool) else value for key, value in members.items()}))
            page = self.control("GET", f"{path}?{query}")
            found += page[name]
            cursor = page.get("next_cursor")
            if not cursor or len(found) >= limit:
                return found

    def settle(self, within="5s"):
        """Waits until no result and no webhook is pending, in real time, at most `within`.

        Raises SimulatorError with the status 409 and the way out if a frozen clock holds something back, or the time has passed.
        """
        self.control("POST", "/_sim/settle", {"within": within})

    def wait(self, event, within=5.0, after=_LEFT_OUT):
        """Waits for an event such as `item:5ISJEYOQ:result` or `webhook:session.completed`, at most `within`: a duration
        such as `"1m30s"`, or real seconds. One that has happened already counts.

        `after`, with `request:held`, is the number of a request: only later ones count,
        `wait("request:held", after=held["request"]["sequence"])`.

        Raises SimulatorError if it does not happen in time, the namespace is deleted or the server stops.
        """
        end = _Real.monotonic() + _seconds(within)
        # Subscribes to the topic that the awaited event does not have. So the only event of its topic is the one that ends the stream.
        topic, other = ("webhook", "state") if event.startswith("webhook:") else ("state", "webhook")
        query = urllib.parse.urlencode({"until": event, "types": other, **_narrowing("wait", after=after)})
        silence = self._control.limits.silence
        with self._control.open("GET", f"/_sim/events?{query}") as (response, watch):
            if response.status != 200:
                data = self._control.whole(response, watch)
                raise SimulatorError(_problem("GET", "/_sim/events", response.status, data), response.status)
            text = b""
            # Heartbeats come every 15 s.
            while _Real.monotonic() < end:
                left = max(end - _Real.monotonic(), 0.001)
                watch.expect(min(left, silence))
                try:
                    part = response.read1(65536)
                except (OSError, http.client.HTTPException) as error:
                    if not watch.expired:
                        raise SimulatorError(f"the connection to {self.url} was lost: {error}") from error
                    part = b""
                # A line may come in two parts.
                text = text[-40:] + part
                if f"\nevent: {topic}\n".encode() in text:
                    return
                if b"\nevent: world.deleted\n" in text:
                    raise SimulatorError(f"{event} did not happen: the namespace {self.name} was deleted")
                if watch.expired:
                    if left > silence:
                        raise SimulatorError(f"{self.url} sent nothing for {_duration(silence)}")
                    break
                if not part:
                    raise SimulatorError(f"{event} did not happen: the server at {self.url.rsplit('/ns/', 1)[0]} stopped")
        clock = self.clock.state()
        hint = f". The clock is frozen at {clock['now']}: advance it" if clock["mode"] == "frozen" else ""
        raise SimulatorError(f"{event} did not happen within {_duration(within)}{hint}")

    def requests(self, route=_LEFT_OUT, method=_LEFT_OUT, status=_LEFT_OUT, delivered=_LEFT_OUT, username=_LEFT_OUT, since=_LEFT_OUT,
                 before=_LEFT_OUT, test=_LEFT_OUT, text=_LEFT_OUT, trace=_LEFT_OUT, limit=1000, any_route=False):
        """The requests of clients, newest first, at most `limit`. The arguments are those of `GET /_sim/requests`.

        A route that the platforms do not have is an error, since an empty list would prove nothing; `any_route` allows it.
        """
        match = _narrowing(
            "requests", route=route, method=method, status=status, delivered=delivered, username=username, since=since, before=before,
            test=test, text=text, trace=trace)
        _check(match.get("route"))
        if not isinstance(any_route, bool):
            raise SimulatorError(f"requests: any_route must be True or False, got {any_route!r}")
        if "route" in match and not any_route:
            code, data = self._control.answer("POST", "/_sim/requests/verify", {"match": {"route": match["route"]}})
            # Any other answer than 400 knows the route.
            if code == 400:
                raise _refused(code, data, "requests")
        if any_route:
            match["any_route"] = "true"
        return self._pages("/_sim/requests", "requests", limit, 1000, match)

    def request(self, id):
        """A request with headers and bodies, secrets masked, by its id or its number in the journal."""
        return self.control("GET", f"/_sim/requests/{f'sequence:{id}' if isinstance(id, int) else _quoted(id)}")

    def expect_request(self, method=_LEFT_OUT, route=_LEFT_OUT, status=_LEFT_OUT, username=_LEFT_OUT, times=_LEFT_OUT,
                       at_least=_LEFT_OUT, at_most=_LEFT_OUT, delivered=_LEFT_OUT, test=_LEFT_OUT, headers=_LEFT_OUT,
                       body=_LEFT_OUT, since=_LEFT_OUT, any_route=False, any_user=False, any_test=False, any_item=False,
                       any_region=False, any_status=False):
        """Fails with AssertionError unless so many requests came. Without a number, one is enough.

        What does not matter is left out. None is a TypeError: a value that is missing by mistake would match everything.
        A name that nobody has is an error where it would prove an absence: a route that the platforms do not have, or not with this
        method, a user, a test that has sent nothing, an item or a region in the route, a status that the routes do not answer;
        `any_route`, `any_user`, `any_test`, `any_item`, `any_region` and `any_status` allow it.
        `delivered` is True, False or "any": whether the answer reached the client. Without it only delivered answers count
        where there is a `status`, else all requests.
        `test` is the name of a test, as requests have it in `X-Sim-Test`.
        `since` is the earliest time that counts, by the namespace's clock, or `"sequence:N"`, the number of the first request in the
        journal: of what the journal has forgotten, as after a restore, nothing can be said, which is a SimulatorError.
        `headers` are those of the request: each name with a text, a compiled pattern, or None if the request must not have it.
        `body` is that of the request: a part of its JSON, a text that it contains, or a compiled pattern. The journal masks
        secrets as `***`: whether a request had one is not known, which is a SimulatorError where it decides.
        """
        caller = "expect_request"
        match = _narrowing(
            caller, method=method, route=route, status=status, delivered=delivered, username=username, test=test, since=since)
        numbers = _narrowing(caller, times=times, at_least=at_least, at_most=at_most)
        bounds = _Bounds(**numbers)
        message = _narrowing(caller, headers=headers, body=body)
        if "headers" in message:
            _check_headers(caller, headers)
        if "body" in message:
            _check_body(caller, body)
        allowed = _given(
            any_route=any_route or None, any_user=any_user or None, any_test=any_test or None, any_item=any_item or None,
            any_region=any_region or None, any_status=any_status or None)
        _check(match.get("route"))
        if message:
            return self._expect_message(match, allowed, bounds, message.get("headers", {}), message.get("body"))
        code, answer = self._verify(match, allowed, caller, numbers)
        if code == 409:
            raise AssertionError(f"{_wanted(match)}: {answer['error']}" + _nearest(answer))

    def expect_requests(self, steps, min_gap=_LEFT_OUT, max_gap=_LEFT_OUT, any_route=False):
        """Fails with AssertionError unless requests came in this order, with any others between them.

        A step is a tuple `(method, route)` or `(method, route, status)`, or a dict with some of `method`, `route`, `status`,
        `delivered`, `username` and `test`, as `expect_request` takes them.
        `min_gap` and `max_gap` are durations such as `"2s"`, or seconds: from the answer of a step to the request of the next one,
        in real time, or in the namespace's time where the clock was moved, whichever is longer.
        The failure names the step that was not found, counted from 0, and the nearest requests.
        """
        if isinstance(steps, (set, frozenset)):
            raise SimulatorError(f"expect_requests: steps must be a list, since a set has no order, got {steps!r}")
        sequence = [_step(step) for step in steps]
        for step in sequence:
            _check(step.get("route"))
        gaps = _narrowing("expect_requests", min_gap=min_gap, max_gap=max_gap)
        code, answer = self._ask_journal({"sequence": sequence, **gaps, **_given(any_route=any_route or None)}, "expect_requests")
        if code == 409:
            raise AssertionError(answer["error"] + _nearest(answer))

    def _verify(self, match, allowed, caller, bounds):
        """Returns the status, 200 or 409, and the answer of a verification."""
        return self._ask_journal({"match": match, **allowed, **bounds}, caller)

    def _ask_journal(self, body, caller):
        code, data = self._control.answer("POST", "/_sim/requests/verify", body)
        if code not in (200, 409):
            raise _refused(code, data, caller)
        answer = json.loads(data)
        if answer.get("code") == "forgotten":
            # Neither so nor otherwise.
            raise SimulatorError(f"{answer['error']}: since= in {caller}", code)
        if code == 409 and "nearest" not in answer:
            raise _refused(code, data, caller)
        return code, answer

    def _has_forgotten(self, after):
        """Whether the journal has forgotten requests that came after the one with a number."""
        code, data = self._control.answer("POST", "/_sim/requests/verify", {
            "match": {"since": f"sequence:{after + 1}"}, "at_most": 1_000_000_000})
        # It is 400 if no request came since.
        return code == 409 and json.loads(data).get("code") == "forgotten"

    def _expect_message(self, match, allowed, bounds, headers, body):
        """The part of `expect_request` that needs headers and bodies, at which the server's own verification does not look."""
        # The server alone knows routes, and with a maximum whether the journal dropped some.
        code, answer = self._verify(
            match, allowed, "expect_request", {"at_least": 1} if bounds.most is None else {"at_most": _MANY})
        wanted = _wanted({**match, **_given(headers=headers or None, body=body)})
        if code == 409 and bounds.most is not None:
            raise AssertionError(f"{wanted}: {answer['error']}" + _nearest(answer))
        found, doubtful, near = 0, [], []
        for entry in self._journal({"delivered": "true" if "status" in match else None, **match}):
            kept = self.control("GET", f"/_sim/requests/{_quoted(entry['id'])}?sequence={entry['sequence']}")
            differences = _header_differences(headers, kept["request"]["headers"])
            try:
                differences += _body_differences(body, kept["request"])
            except _NotKept as error:
                # Without the body this one counts or not.
                if not differences:
                    doubtful.append(f"{error}. The journal keeps more with settings(journal={{\"body_bytes\": …}})")
                    continue
            if _is_doubtful(differences):
                doubtful.append(f"{differences[0]}. {_ASK_OTHERWISE}")
            found += not differences
            if differences and len(near) < 3:
                near.append((entry, differences))
            if bounds.is_certain(found):
                break
        if bounds.depends_on(len(doubtful), found):
            # A secret that is not seen is not one that was not sent.
            raise SimulatorError(f"{wanted}: whether these requests match is not known: {doubtful[0]}")
        if not bounds.holds(found):
            shown = _nearest({"nearest": [{"request": entry, "differences": parts} for entry, parts in near]})
            if not near and not found:
                shown = _nearest(self._verify(match, {"any_route": True}, "expect_request", {"at_least": _MANY})[1])
            raise AssertionError(f"{wanted}: expected {bounds} such requests, found {found}" + shown)

    def _journal(self, match):
        """The requests that match, newest first, page by page. Names that nobody has were judged before."""
        cursor = None
        allowed = dict.fromkeys(("any_route", "any_user", "any_item", "any_region"), "true")
        while True:
            query = urllib.parse.urlencode(_given(limit=1000, cursor=cursor, **allowed, **{
                key: str(value).lower() if isinstance(value, bool) else value for key, value in match.items()}))
            page = self.control("GET", f"/_sim/requests?{query}")
            yield from page["requests"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def expect_webhook(self, event=_LEFT_OUT, entrupy_id=_LEFT_OUT, status="delivered", url=_LEFT_OUT, attempts=_LEFT_OUT,
                       body=_LEFT_OUT, times=_LEFT_OUT, at_least=_LEFT_OUT, at_most=_LEFT_OUT, within=0, since=_LEFT_OUT,
                       any_url=False):
        """Fails with AssertionError unless so many webhooks were delivered. Without a number, one is enough.

        What does not matter is left out. None is a TypeError: a value that is missing by mistake would match everything.
        `event` is for instance `session.completed`, `entrupy_id` the item. `status` is `waiting`, `sending`, `retrying`,
        `delivered`, `failed`, `cancelled` or `any`. `url` is the receiver's: a text or a compiled pattern; `attempts` a number.
        `body` is as in `expect_request`. `within` is how long to wait until enough have come, a duration such as `"1m30s"` or
        real seconds; without it, call `settle()` first, or advance a frozen clock. `times` and `at_most` wait for all of it, unless too
        many come.
        `since` is the earliest time of a delivery that counts, by the namespace's clock: ISO 8601, or epoch seconds. After a `reset()`, a
        `restore()` or the start of a scenario `times` and `at_most` need it, since deliveries before are forgotten.
        A `url` that no subscription has or had is an error where it would prove an absence; `any_url` allows it. That no webhook came
        where no subscription could get it is a note, and an error where the namespace is strict.
        """
        caller = "expect_webhook"
        bounds = _Bounds(**_narrowing(caller, times=times, at_least=at_least, at_most=at_most))
        match = _narrowing(caller, event=event, entrupy_id=entrupy_id, status=status, url=url, attempts=attempts, body=body, since=since)
        _check_delivery(caller, match)
        if not isinstance(any_url, bool):
            raise SimulatorError(f"{caller}: any_url must be True or False, got {any_url!r}")
        within = _narrowing(caller, within=within)["within"]
        patience = _seconds(within)
        if not _is_number(patience) or patience < 0:
            raise SimulatorError(f"{caller}: within must be a duration such as 5s, or a number of seconds, and not negative, got {within!r}")
        if status not in _DELIVERY_STATES:
            raise SimulatorError(f"status must be {', '.join(_DELIVERY_STATES[:-1])} or any, got {status!r}")
        self._check_event(match.get("event"))
        if "url" in match:
            self._subscriptions()
        end = _Real.monotonic() + patience
        while True:
            is_last = _Real.monotonic() >= end
            found, others, doubtful = self._deliveries(match)
            # More can come while it waits, and fewer cannot: what is too many stays so, and what is not too many holds at the end alone.
            if is_last or bounds.is_certain(found):
                break
            _Real.sleep(min(0.05, max(end - _Real.monotonic(), 0)))
        if not found and "entrupy_id" in match:
            # That an item which does not exist has no webhook says nothing: this is an error then.
            self.control("GET", f"/_sim/authentications/{_quoted(match['entrupy_id'])}")
        if bounds.depends_on(len(doubtful), found):
            way = "Ask without url" if doubtful[0].endswith(_DELETED) else _ASK_OTHERWISE
            raise SimulatorError(f"webhook {_wanted(match)}: whether these deliveries match is not known: {doubtful[0]}. {way}")
        if bounds.most is not None and found <= bounds.most:
            self._check_remembered(match, caller)
            if not found:
                self._check_possible(match, others, any_url)
        if not bounds.holds(found):
            raise AssertionError(
                f"webhook {_wanted(match)}: expected {bounds} such deliveries, found {found}" + self._webhook_hint(others, match))

    def _check_possible(self, match, others, any_url):
        """Raises or notes if no delivery could match: that none did proves nothing then."""
        if "since" in match:
            clock = self.clock.state()
            if _epoch(match["since"]) > clock["epoch"] + _SAME:
                raise SimulatorError(
                    f"since lies in the future, so that no delivery can match: {match['since']} is after the namespace's time, {clock['now']}")
        subscriptions = self._subscriptions()
        problem = self._unknown_receiver(match)
        if problem and not any_url:
            raise SimulatorError(f"{problem}. If it is meant: any_url=True in expect_webhook")
        event = match.get("event")
        if problem or event == "verification":
            return
        if not self._urls and not others:
            problem = "there is no subscription: make one with subscribe()"
        elif event and subscriptions and not any(event in subscription["events"] for subscription in subscriptions):
            problem = f"no subscription has the event {event}"
        if problem:
            text = f"webhook {_wanted(match)}: that none came proves nothing, since {problem}"
            if self.strict:
                raise SimulatorError(text)
            self._on_note(text)

    def _unknown_receiver(self, match):
        """The sentence about a URL that no subscription has or had, with those that are there; None for another one."""
        url = match.get("url")
        if url is None or any(_text_matches(url, known) or _may_be(url, known) for known in self._urls.values()):
            return None
        known = sorted(set(self._urls.values()))
        if not known:
            return f"no subscription has the url {_shown_url(url)}: there is none"
        if not _is_pattern(url):
            known.sort(key=lambda other: -difflib.SequenceMatcher(None, url, other).ratio())
        shown = [_shown_url(other) for other in known[:5]]
        nearest = "" if _is_pattern(url) or len(known) == 1 else ", the nearest first"
        more = f" and {len(known) - 5} more" if len(known) > 5 else ""
        hidden = "; the values behind *** differ" if shown[0] == _shown_url(url) else ""
        return f"no subscription has the url {_shown_url(url)}; subscriptions have {', '.join(shown)}{more}{nearest}{hidden}"

    def _check_remembered(self, match, caller):
        """Raises if deliveries were forgotten that may have matched: how many there were is not known then."""
        known = [(call, clock["epoch"], f'"{clock["now"]}"') for call, clock in filter(None, [self._forgot])]
        # Another program may have restored the namespace.
        restored = self.control("GET", "/_sim/webhook-deliveries?limit=1").get("forgotten_before")
        if restored is not None:
            known.append(("the namespace was restored", restored, restored))
        for call, epoch, since in known:
            if "since" not in match or _epoch(match["since"]) < epoch - _SAME:
                raise SimulatorError(
                    f"deliveries before {call} are forgotten, so this cannot be checked; all from {since} on are remembered: "
                    f"since={since} in {caller}")

    def _check_event(self, event):
        """Raises if there is no such event: a mistake would make an expectation of none worthless."""
        if event is None:
            return
        known = [entry["id"] for entry in self.control("GET", "/_sim/choices")["lists"]["webhook_events"]]
        if event not in [*known, "verification"]:
            raise SimulatorError(f"there is no event {event!r}: use one of {', '.join(known)}, or verification")

    def _deliveries(self, match):
        """The number of deliveries that match, the newest three that do not, with their differences, and what is masked in others."""
        found, others, doubtful, cursor = 0, [], [], None
        while True:
            query = urllib.parse.urlencode(_given(
                limit=100, cursor=cursor, entrupy_id=match.get("entrupy_id")))
            page = self.control("GET", f"/_sim/webhook-deliveries?{query}")
            for delivery in page["deliveries"]:
                url = delivery["url"] or self._urls.get(delivery["subscription_id"])
                differences = _delivery_differences(match, delivery, url)
                found += not differences
                doubtful += differences[:1] if _is_doubtful(differences) else []
                if differences and len(others) < 3:
                    others.append(f"\n  {describe_delivery(delivery)}: {', '.join(differences)}")
            cursor = page.get("next_cursor")
            if not cursor:
                return found, others, doubtful

    def _webhook_hint(self, others, match):
        subscriptions = self._subscriptions()
        receiver = self._unknown_receiver(match)
        hint = f"; {receiver}" if receiver and subscriptions else ""
        if others or hint:
            return hint + ("; nearest:" + "".join(others) if others else "")
        if not subscriptions:
            return "; there is no subscription: make one with POST /v2/webhooks"
        clock = self.clock.state()
        if clock["mode"] == "frozen" and self.control("GET", "/_sim/due?limit=1")["due"]:
            return f"; the clock is frozen at {clock['now']} and something is due: advance it"
        return ""

    def verify_scenario(self, name, strict=None):
        """Fails with AssertionError unless the expectations of the scenario that was started here are met.

        Notes name parts that nothing can match, and faults with a number of times that were never met. With `strict` they are
        failures too; None means that the namespace decides.
        """
        is_strict = self.strict if strict is None else strict
        code, data = self._control.answer(
            "POST", f"/_sim/scenarios/{_quoted(name)}/verify" + ("?strict=true" if is_strict else ""))
        if code == 200:
            for note in json.loads(data)["notes"]:
                self._report(f"the scenario {name}", note)
            return
        if code != 409:
            raise SimulatorError(_problem("POST", f"/_sim/scenarios/{name}/verify", code, data), code)
        answer = json.loads(data)
        if "scenario" not in answer:
            # It was not started here.
            raise SimulatorError(_problem("POST", f"/_sim/scenarios/{name}/verify", code, data), code)
        raise AssertionError("\n  ".join([answer["error"], *(f"{d['field']}: {d['problem']}" for d in answer["details"])]))

    def explain(self, id):
        """The chain of causes of something, and what followed from it, as a dictionary.

        `id` is that of a request, an item, a capture, a session or a delivery, or `sequence:N` (a request), `event:N`, `due:N`,
        `control:N`.
        """
        return self.control("GET", f"/_sim/explain/{_quoted(id)}")

    def audit(self, rule=None, level=None):
        """What the clients did that the vendor or HTTP asks them not to do, as a dictionary with `findings` and `rules`.

        `rule` and `level` (`"error"` or `"warning"`) leave the others out.
        """
        return self._audit(rule=rule, level=level)

    def _audit(self, **query):
        given = _given(**query)
        return self.control("GET", "/_sim/audit" + ("?" + urllib.parse.urlencode(given) if given else ""))

    def expect_no_misuse(self, failing_at="error", ignore=None):
        """Fails with AssertionError if the clients did what they should not.

        With `failing_at="warning"` warnings are failures too. `ignore` is a dictionary of rules whose findings are meant, with the
        reason for each.

        Where a rule could not judge requests because the journal has forgotten them, it raises SimulatorError; `"forgotten"` in `ignore`
        says that it is meant. What could not be judged for another reason is a note, and a SimulatorError where the namespace is strict;
        the rule in `ignore` says that it is meant.
        """
        found, unjudged = self._judge(failing_at, ignore)
        if found:
            raise AssertionError("\n  ".join(["the clients did what they should not:", *found]))
        forgotten = [text for text in unjudged if _FORGOTTEN in text]
        if forgotten and _FORGOTTEN not in (ignore or {}):
            raise _NotJudged(f'{forgotten[0]}; if that is meant, ignore has {{"{_FORGOTTEN}": "why"}}')
        for text in unjudged:
            if text in forgotten:
                continue
            if self.strict:
                raise _NotJudged(f"{text}; if that is meant, ignore has the rule")
            self._on_note(text)

    def _judge(self, failing_at="error", ignore=None, test=None, after=0):
        """The findings of the audit, and what could not be judged, as lines; of one test and its requests after a number, or of all."""
        if failing_at not in ("error", "warning"):
            raise ValueError(f"failing_at must be error or warning, got {failing_at!r}")
        # A run of all tests does not say again what fails here.
        if ignore is not None and not isinstance(ignore, dict):
            raise ValueError(f"ignore must be a dictionary of rules and reasons, got {ignore!r}")
        ignore, report = ignore or {}, self._audit(told=failing_at, test=test)
        rules = [rule["id"] for rule in report["rules"]]
        for name, reason in ignore.items():
            if name not in (*rules, _FORGOTTEN):
                raise ValueError(f"the audit has no rule {name!r}; its rules are {', '.join(rules)}")
            if not (isinstance(reason, str) and reason.strip()):
                raise ValueError(f"ignore needs a reason for {name!r}: a sentence that says why it is meant")

        def is_asked(rule, level):
            return rule not in ignore and (failing_at == "warning" or level == "error")
        found = [
            f"{finding['level']} {finding['rule']}: {finding['text']}"
            + (f" (requests {', '.join(str(r['sequence']) for r in finding['requests'])})" if finding["requests"] else "")
            for finding in report["findings"]
            if is_asked(finding["rule"], finding["level"]) and (
                test is None or any(r["sequence"] > after for r in finding["requests"]))]
        return found, [
            f"{rule['id']} could not judge everything: {rule['not_judged']}"
            for rule in report["rules"] if is_asked(rule["id"], rule["level"]) and rule["not_judged"]]

    def coverage(self):
        """Which documented answers, errors, states and limits this namespace has met, as a dictionary (docs/coverage.md)."""
        return self.control("GET", "/_sim/coverage")

    def snapshot(self, name):
        """Saves the whole state under a name."""
        self.control("PUT", f"/_sim/snapshots/{_quoted(name)}")

    def restore(self, name):
        """Goes back to a snapshot. The clock goes back too."""
        self.control("POST", f"/_sim/snapshots/{_quoted(name)}/restore")

    def diff(self, before, after="now"):
        """Compares two states, object by object: "now", "snapshot:NAME" of this namespace, or "namespace:NAME".

        The answer has `equal` and `objects`. Ids, tokens and times are compared by whether there is one: a client that runs twice, in
        namespaces that were made alike, leaves equal states.
        """
        return self.control("GET", "/_sim/diff?" + urllib.parse.urlencode({"from": before, "to": after}))

    def reset(self):
        """Goes back to the seed data."""
        self.control("POST", "/_sim/reset")

    def delete(self):
        """Deletes the namespace. One that is gone already is no error."""
        try:
            self.control("DELETE", f"/_sim/namespaces/{self.name}")
        except SimulatorError as error:
            if error.status != 404:
                raise

    def bundle(self, max_bytes=1_000_000_000):
        """Everything for a post-mortem, as bytes: `entrupy-sim serve --bundle FILE` opens it. It contains tokens."""
        parts = []
        self._control.download("/_sim/bundle", max_bytes, parts.append)
        return b"".join(parts)

    def save_bundle(self, path, max_bytes=16_000_000_000):
        """Writes the bundle to a file that only its owner may read. A download that fails leaves none."""
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Its own name, and for its owner alone: another run may save a bundle of the same test now.
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name[:100]}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                self._control.download("/_sim/bundle", max_bytes, file.write)
            os.replace(part, path)
        finally:
            pathlib.Path(part).unlink(missing_ok=True)
        return path


class User:
    """A user of the app, with a session of the SDK's API. `Namespace.user` makes one.

    These are requests of the platform, as an app and its back end send them: they are in the journal, rules and limits count, and a
    refusal is a SimulatorError with the platform's status. The first one logs the user in. A session that has ended is 401 then:
    `login()` makes another one.
    """

    def __init__(self, namespace, username):
        if not isinstance(username, str) or not username:
            raise TypeError(f"user: username must be a text that is not empty, got {username!r}")
        self._namespace = namespace
        self._session = None
        #: The username, such as `DemoOrg-sim-test-user`; before the login what `Namespace.user` was given.
        self.username = username

    def login(self):
        """Logs the user in as the app and its back end would, and returns the token of the new session.

        A user who does not exist is made. The token is that of `Authorization: Token TOKEN` in requests below `/sdk`.
        Raises SimulatorError if the organization has no API token, or the platform refuses.
        """
        organization, token = self._organization()
        prefix = f"{organization}-"
        user_id = self.username[len(prefix):] if self.username.startswith(prefix) else self.username
        signed = self._signed_request(token, user_id, self._email(prefix + user_id) or f"{_quoted(user_id)}@example.com")
        session = self._client().send("POST", "/sdk/login", {"signed_authorization_request": signed}, takes_long=True)
        self.username, self._session = session["username"], session["token"]
        return self._session

    def flag(self, item, reason=None, message=None):
        """Flags an item, as the user does in the app, and returns the state of the flag.

        `item` is the item's id. `reason` is the id of a reason, such as `wrong_result`; without it, the platform takes the first one.
        `message` is the user's text.
        Raises SimulatorError: with the status 400 for a result that may not be flagged or a reason that does not exist, 403 where
        the organization does not flag through the SDK, 404 for an item of another user, 409 for one that is flagged already.
        """
        return self._change_flag(item, _given(flag=True, flag_reason_id=reason, message=message))

    def unflag(self, item):
        """Takes the user's flag from an item, and returns the state of the flag. Raises as `flag` does: 409 for one without a flag."""
        return self._change_flag(item, {"flag": False})

    def _change_flag(self, item, body):
        if self._session is None:
            self.login()
        return self._client(self._session).send("PUT", f"/sdk/results/{_quoted(item)}/flag", body, takes_long=True)

    def _client(self, token=None):
        """The client of an app with the token of a session, or of a back end with an API token."""
        headers = {**self._namespace.headers, **({"Authorization": f"Token {token}"} if token else {})}
        control = self._namespace._control
        return _Control(control.address, limits=control.limits, headers=headers)

    def _organization(self):
        """The name and the first API token of the user's organization; of the first one that has a token for a `unique_user_id`."""
        found = self._namespace.control("GET", "/_sim/export?format=json")["organizations"]
        own = [entry for entry in found if self.username.startswith(f"{entry['name']}-")] or [
            entry for entry in found if entry["api_tokens"]] or found
        if not own or not own[0]["api_tokens"]:
            raise SimulatorError(
                f"{self.username} cannot log in: {'the organization ' + own[0]['name'] if own else 'the namespace'} has no API token; "
                "load seed data with one")
        return own[0]["name"], own[0]["api_tokens"][0]

    def _email(self, username):
        """The email of the user; None for one who has none or does not exist."""
        try:
            return self._namespace.control("GET", f"/_sim/users/{_quoted(username)}")["email"]
        except SimulatorError as error:
            if error.status != 404:
                raise
            return None

    def _signed_request(self, api_token, user_id, email):
        """The app's login request, signed by the platform for the back end."""
        path = "/v2/integrations/authorize-user"
        answer = self._client(api_token).send("POST", path, {
            "sdk_authorization_request": "entrupy_sim.py", "unique_user_id": user_id, "email": email}, takes_long=True)
        return answer["signed_authorization_request"]
