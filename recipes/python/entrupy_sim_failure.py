"""What the pytest plugin prints under a failed test, and the page of the test's bundle."""

import json
import os
import pathlib
import subprocess
import tempfile

from entrupy_sim import (
    Namespace, SimulatorError, _answer, _duration, _given, _has_ended, _Limits, _notes, _program, _quoted, _Real, _server_environment,
    _short, describe_delivery)

#: The most requests, deliveries and rules that are printed.
MAX_LINES = 10
#: The maximum length of a line.
MAX_LENGTH = 400
#: The longest time, in seconds, that the server gets for all questions about a failure.
PATIENCE = 20.0
#: The longest time, in seconds, that the program gets for a page.
PAGE_PATIENCE = 60.0


class Failure:
    """What happened in a namespace until its test failed. Nothing is asked before `lines()`."""

    def __init__(self, namespace, message=""):
        self._namespace = namespace
        #: What the report of the test says already.
        self._message = message
        self._end = _Real.monotonic() + PATIENCE
        #: Whether the server answered.
        self.is_reachable = True

    def lines(self):
        """The lines about the namespace. Control characters and secrets are masked."""
        found = []
        parts = (self._head, self._requests, self._deliveries, self._rules)
        for name, part in zip(("the clock", "the requests", "the deliveries", "the rules"), parts):
            try:
                found += part()
            except SimulatorError as error:
                if error.status == 404 and not found:
                    return [f"namespace {self._namespace.name} was deleted"]
                found.append(f"{name}: not known: {error}")
                # A server that does not answer once makes no test wait four times.
                self.is_reachable = error.status is not None
                if not self.is_reachable:
                    break
            except Exception as error:  # A server of another version, or none of ours.
                found.append(f"{name}: not known: the server's answer is not understood ({type(error).__name__}: {error})")
        return [self._safe(line) for line in found]

    def _ask(self, path):
        left = self._end - _Real.monotonic()
        if left <= 0:
            raise SimulatorError(f"the server at {self._namespace.url} takes longer than {_duration(PATIENCE)}")
        own = self._namespace
        asking = Namespace(own.name, own.url.rsplit("/ns/", 1)[0], own._control.token)
        seconds = round(min(left, 10.0), 1) or 0.1
        asking._control.limits = _Limits(silence=seconds, work=seconds, size=8 << 20)
        return asking._control.send("GET", path)

    def _safe(self, line):
        """A line that a terminal, a log and a file of XML can hold."""
        for secret in (
                self._namespace._control.token, self._namespace.api_token, os.environ.get("ENTRUPY_SIM_CONTROL_TOKEN"),
                os.environ.get("ENTRUPY_SIM_TOKEN")):
            if secret and len(secret) >= 4:
                line = line.replace(secret, "***")
        indent = len(line) - len(line.lstrip(" "))
        return " " * indent + _short(printable(line[indent:]), MAX_LENGTH)

    def _head(self):
        clock = self._ask("/_sim/clock")
        text = f"namespace {self._namespace.name}, clock {clock['mode']} at {clock['now']}"
        due = self._ask("/_sim/due?limit=1")
        if due["due"] and clock["mode"] == "frozen":
            first = due["due"][0]
            text += (
                f"; {due['total']} due later, first {first['kind']} of {first['subject']} in {_duration(first['seconds_left'])}: "
                "nothing happens until the clock is advanced")
        return [text]

    def _requests(self):
        page = self._ask(f"/_sim/requests?limit={MAX_LINES}")
        requests = page["requests"]
        if not requests:
            return self._elsewhere()
        faults = {rule["id"]: rule for rule in self._ask("/_sim/faults")["faults"]}
        is_all = not page["next_cursor"] and requests[-1]["sequence"] == 1
        title = "all requests" if is_all else f"the last {len(requests)} requests"
        return [f"{title}, oldest first:", *(f"  {self._request(entry, faults)}" for entry in reversed(requests))]

    def _elsewhere(self):
        """A client that leaves the namespace out of its base URL reaches the namespace `default`."""
        lines = [f"no request came: the base URL of clients is {self._namespace.url}"]
        server = self._namespace.url.rsplit("/ns/", 1)[0]
        other = Namespace("default", server, self._namespace._control.token)
        other._control.limits = _Limits(silence=5.0, work=5.0, size=1 << 20)
        try:
            last = other._control.send("GET", "/_sim/requests?limit=1")["requests"]
        except (SimulatorError, KeyError, TypeError):
            return lines
        if last:
            lines.append(
                f"  {server} itself is the namespace default, and has requests, the last {last[0]['method']} {last[0]['path']}: "
                "does a client use it?")
        return lines

    def _request(self, entry, faults):
        target = entry["path"] + (f"?{entry['query']}" if entry.get("query") else "")
        text = f"#{entry['sequence']} {entry['method']} {_short(target, 160)} {_answer(entry)}"
        for words in self._causes(entry, faults):
            text += f", {words}"
        if entry.get("username"):
            text += f", user {entry['username']}"
        if entry["status"] is not None and entry["status"] >= 400:
            text += self._said(entry)
        # The fact behind a 403, 404 or 409, which the caller does not learn.
        if entry.get("because"):
            text += f" (because {entry['because']})"
        return text

    @staticmethod
    def _causes(entry, faults):
        """What decided an answer."""
        decided = entry["decided_by"]
        fault = decided.get("fault")
        if fault or entry.get("effect"):
            match = faults.get(fault, {}).get("match") if fault else None
            yield " ".join(part for part in (
                "by the fault", fault, json.dumps(entry.get("effect")) if entry.get("effect") else "",
                f"on {_condition(match)}" if match else "") if part)
        if decided.get("limits"):
            yield f"by the limit {', '.join(decided['limits'])}"
        if decided.get("outcome"):
            yield f"result by the outcome rule {decided['outcome']}"

    def _said(self, entry):
        """The error in the body of an answer."""
        try:
            kept = self._ask(f"/_sim/requests/{_quoted(entry['id'])}?sequence={entry['sequence']}")
        except SimulatorError:
            return ""
        body = kept["response"]["body"]
        if not body:
            return ""
        try:
            envelope = json.loads(body)
            text = envelope["error"]
            if not isinstance(text, str):
                raise ValueError
            text = "; ".join([text, *(
                str(detail["problem"]) if detail["field"] == "path" else f"{detail['field']}: {detail['problem']}"
                for detail in envelope.get("details") or []
                if str(detail["problem"]) not in text and detail["field"] != "fault")])
        except (ValueError, KeyError, TypeError, RecursionError):
            text = body
        if text.startswith("answered by the fault rule"):
            return ""
        return f": {_short(text, 240)}"

    def _deliveries(self):
        """The deliveries that did not arrive, with the reason."""
        page = self._ask("/_sim/webhook-deliveries?limit=100")
        lost = [
            f"  {describe_delivery(delivery)}" + self._next_attempt(delivery) for delivery in page["deliveries"]
            if delivery["status"] != "delivered" and (
                delivery["attempts"] or delivery.get("fault") or delivery.get("held_back")
                or delivery["status"] in ("failed", "cancelled"))]
        if not lost:
            return []
        more = f", the last {MAX_LINES} of {len(lost)}" if len(lost) > MAX_LINES else ""
        return [f"deliveries that failed{more}, oldest first:", *reversed(lost[:MAX_LINES])]

    @staticmethod
    def _next_attempt(delivery):
        at = delivery.get("next_attempt_at")
        if at is None:
            return ""
        return f", next attempt at {_Real.strftime('%Y-%m-%dT%H:%M:%SZ', _Real.gmtime(at))}"

    def _rules(self):
        """The rules that met nothing, with their notes."""
        found = []
        for kind, name in (("faults", "fault"), ("outcomes", "outcome rule")):
            for rule in self._ask(f"/_sim/{kind}")[kind]:
                if rule.get("hits"):
                    continue
                text = f"  the {name} {rule['id']} ({_effect(rule)} on {_condition(rule['match'])})"
                notes = [
                    ": ".join(part for part in (note["field"], note["problem"]) if part) for note in _notes(rule)
                    # The failure itself may be this note.
                    if note["problem"] not in self._message]
                if rule.get("seen"):
                    notes.append(f"it matched {rule['seen']} requests and was not triggered")
                found.append(": ".join([text, "; ".join(notes)]) if notes else text)
        more = f", {MAX_LINES} of {len(found)}" if len(found) > MAX_LINES else ""
        return [f"rules that met nothing{more}:", *found[:MAX_LINES]] if found else []


def printable(text):
    """A text with control characters, invisible ones and halves of characters as `\\x1b`."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _condition(match):
    """The condition of a rule in words: `POST /sdk/login, username DemoOrg-x`."""
    match = _given(**(match or {}))
    words = " ".join(str(match.pop(name)) for name in ("method", "route") if name in match)
    parts = [words] if words else []
    parts += [f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in match.items()]
    return ", ".join(parts) or "everything"


def _effect(rule):
    return json.dumps(rule["effect"]) if "effect" in rule else str(rule["result"])


class PageMaker:
    """Makes pages of bundles, with the program's `report`."""

    def __init__(self, binary=None):
        self._binary = binary
        #: Why no more pages are made: one that took too long makes no other test wait.
        self._problem = None

    def make(self, bundle):
        """Writes the page of a bundle beside it. Returns its path. Raises SimulatorError or OSError."""
        if self._problem:
            raise SimulatorError(self._problem)
        program = _program(self._binary)
        page = page_of(bundle)
        # Its own name: another run may write the page of the same test now.
        handle, part = tempfile.mkstemp(dir=page.parent, prefix=f"{page.name[:100]}.", suffix=".part")
        os.close(handle)
        try:
            self._run([program, "report", "--output", os.path.abspath(part), "--", os.path.abspath(bundle)])
            if not os.path.getsize(part):
                raise SimulatorError(f"{program} report wrote no page")
            os.replace(part, page)
        finally:
            pathlib.Path(part).unlink(missing_ok=True)
        return page

    def _run(self, command):
        # A file, not a pipe, which a process that it leaves would hold open.
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                command, env=_server_environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            try:
                if not _has_ended(process, PAGE_PATIENCE):
                    self._problem = f"{command[0]} report did not end within {_duration(PAGE_PATIENCE)}"
                    raise SimulatorError(self._problem)
            finally:
                # Also where the run is interrupted.
                process.kill()
                process.wait()
            if process.returncode != 0:
                said.seek(0)
                text = said.read(4000).decode(errors="replace").strip() or "it printed nothing"
                raise SimulatorError(f"{command[0]} report ended with {process.returncode}: {text.splitlines()[0]}")


def page_of(bundle):
    """The file of a bundle's page, beside it."""
    return bundle.with_suffix(".html")
