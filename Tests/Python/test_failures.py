"""What a failed test prints, and the page of its bundle. `make test-python` runs it."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import entrupy_sim_failure
from entrupy_sim import Namespace, Simulator
from entrupy_sim_failure import Failure, PageMaker, printable
from test_hostile_servers import HEAD, Server

EXPLAINED = "what these lines mean: docs/testing.md#when-a-test-fails"

# A back end and its tests. Each test fails for a mistake of its own.
SUITE = """
import http.server
import json
import threading
import urllib.error
import urllib.request

import pytest

FROZEN = pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")

def send(base, method, path, body=None, token="demo-api-token", **headers):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{base}{path}", method=method, data=data, headers={
        "Authorization": f"Token {token}", "Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None

def authorize(sim, user="example-user", **options):
    return send(sim.url, "POST", "/v2/integrations/authorize-user", {
        "sdk_authorization_request": "from-the-app", "unique_user_id": user, "email": f"{user}@example.com"}, **options)

def subscribe(sim, port=9, event="session.completed"):
    assert send(sim.url, "POST", "/v2/webhooks", {
        "url": f"http://127.0.0.1:{port}/hook?key=hidden", "secret_key": "a-secret-of-mine", "events": [event]}) == 201

@pytest.fixture
def receiver():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(401)
            self.end_headers()
            self.wfile.write(b"bad signature: \\x1b[31ma-secret-of-mine")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()

def test_short_user(entrupy_sim):
    assert authorize(entrupy_sim, "u1") == 200

def test_wrong_token(entrupy_sim):
    assert authorize(entrupy_sim, token="not-the-token") == 200

def test_misspelt_path(entrupy_sim):
    assert send(entrupy_sim.url, "POST", "/v2/serch/authentications?token=demo-api-token", {}) == 200

def test_no_retry(entrupy_sim):
    entrupy_sim.fault({"status": 503}, route="/v2/search/*", times=1)
    assert send(entrupy_sim.url, "POST", "/v2/search/authentications", {}) == 200

def test_lost_answer(entrupy_sim):
    entrupy_sim.fault({"drop_connection": True}, route="/v2/integrations/*", times=1)
    assert authorize(entrupy_sim) == 200

def test_limit(entrupy_sim):
    entrupy_sim.settings(rate_limits={"api_per_second": 1})
    entrupy_sim.clock.freeze()
    assert [authorize(entrupy_sim), authorize(entrupy_sim, "example-user-2")] == [200, 200]

def test_no_receiver(entrupy_sim):
    subscribe(entrupy_sim)
    entrupy_sim.insert_items(result="unknown")
    entrupy_sim.expect_webhook("session.completed", within=1)

@FROZEN
def test_refusing_receiver(entrupy_sim, receiver):
    subscribe(entrupy_sim, receiver)
    entrupy_sim.insert_items(result="unknown")
    entrupy_sim.clock.advance("12h")
    entrupy_sim.expect_webhook("session.completed")

@FROZEN
def test_dropped_webhook(entrupy_sim, receiver):
    entrupy_sim.fault({"drop": True}, webhook="session.completed")
    subscribe(entrupy_sim, receiver)
    entrupy_sim.insert_items(result="unknown")
    entrupy_sim.clock.advance("12h")
    entrupy_sim.expect_webhook("session.completed")

@FROZEN
def test_clock_stands(entrupy_sim):
    entrupy_sim.control("POST", "/components/sessions", {"validationCode": "IDV", "networkEnvironment": "mock"})
    entrupy_sim.expect_webhook("session.completed")

def test_misspelt_rule(entrupy_sim):
    entrupy_sim.fault({"status": 503}, route="/v2/serch/*")
    assert send(entrupy_sim.url, "POST", "/v2/search/authentications", {}) == 503

def test_rule_of_another_method(entrupy_sim):
    entrupy_sim.fault({"status": 503}, method="GET", route="/v2/webhooks")
    subscribe(entrupy_sim)
    assert False

def test_outcome_of_another_brand(entrupy_sim):
    entrupy_sim.outcome("unknown", brand="Nkie")
    assert False

def test_base_url(entrupy_sim):
    send(entrupy_sim.url.split("/ns/")[0], "GET", "/v2/webhooks")
    entrupy_sim.expect_request("GET", "/v2/webhooks")

def test_sent_twice(entrupy_sim):
    for _ in range(12):
        send(entrupy_sim.url, "POST", "/v2/search/authentications", {"limit": 2})
    entrupy_sim.expect_request("POST", "/v2/search/authentications", body={"limit": 2}, times=1)
"""

# For each test, what names its mistake.
NAMED = {
    "short_user": ["#1 POST /v2/integrations/authorize-user 400: unique_user_id must be 8 to 40 characters, got 2"],
    "wrong_token": ["#1 POST /v2/integrations/authorize-user 401: "],
    "misspelt_path": ["404: there is no route /v2/serch/authentications", "the nearest is POST /v2/search/authentications", "token=***"],
    "no_retry": ["503, by the fault flt_", '{"status": 503} on /v2/search/*'],
    "lost_answer": ["200, not delivered, by the fault flt_", '{"drop_connection": true} on /v2/integrations/*'],
    "limit": ["#2 POST /v2/integrations/authorize-user 429, by the limit ", ": "],
    "no_receiver": ["deliveries that failed, oldest first:", "/hook?key=***, retrying after ", "connection refused, next attempt at 20"],
    "refusing_receiver": [
        "session.completed of ", "the receiver answered 401: bad signature: \\x1b[31m***", " attempts, "],
    "dropped_webhook": ["dropped by a fault rule: it was not sent, by the fault flt_"],
    "clock_stands": ["clock frozen at 2026-01-05T09:00:00", " due later, first ", "nothing happens until the clock is advanced"],
    "misspelt_rule": [
        "rules that met nothing:", '({"status": 503} on /v2/serch/*): match.route: no route of the server matches /v2/serch/*'],
    "rule_of_another_method": ["rules that met nothing:", '({"status": 503} on GET /v2/webhooks)', "#1 POST /v2/webhooks 201"],
    "outcome_of_another_brand": ["rules that met nothing:", "(unknown on brand Nkie): match.brand: "],
    "base_url": [
        "no request came: the base URL of clients is http://127.0.0.1:", "/ns/test-",
        "is the namespace default, and has requests, the last GET /v2/webhooks"],
    "sent_twice": ["the last 10 requests, oldest first:", "#3 POST /v2/search/authentications 200", "#12 POST"],
}


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a file, and returns its exit code and its output."""
    environment = {
        name: value for name, value in os.environ.items()
        if name not in ("ENTRUPY_SIM_URL", "ENTRUPY_SIM_RECORD", "CI", "BUILD_NUMBER")}

    def start(source, *arguments, **variables):
        (tmp_path / "test_shop.py").write_text(source)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=tmp_path, text=True, timeout=180,
            env={**environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False)
        assert "INTERNALERROR" not in done.stdout, done.stdout
        return done.returncode, done.stdout
    return start


def blocks(output):
    """What each test printed under `entrupy-sim`, by its name."""
    parts = re.split(r"^_+ (?:ERROR at \w+ of )?test_(\w+)\S* _+$", output, flags=re.M)
    return {
        name: text.split("- entrupy-sim -", 1)[1].split("\n", 1)[1].split("\n---")[0].split("\n===")[0]
        for name, text in zip(parts[1::2], parts[2::2]) if "- entrupy-sim -" in text}


@pytest.mark.parametrize("arguments, variables", [([], {}), (["-n", "4"], {}), ([], {"CI": "true"}), (["-n", "4"], {"CI": "true"})])
def test_a_stranger_can_name_the_mistake_from_what_is_printed(run, tmp_path, arguments, variables):
    code, output = run(SUITE, *arguments, **variables)
    assert code == 1 and f"{len(NAMED)} failed" in output and "error" not in output.splitlines()[-1], output
    found = blocks(output)
    assert set(found) == set(NAMED)
    for name, texts in NAMED.items():
        for text in texts:
            assert text in found[name], (name, text, found[name])
        page = re.search(r"^the page of test_\w+ is (.*\.html)$", found[name], re.M)
        bundle = re.search(r"^the bundle of test_\w+ is (.*\.tar)$", found[name], re.M)
        assert page and bundle and page.group(1) == bundle.group(1)[:-len("tar")] + "html", found[name]
        assert "</html>" in (tmp_path / page.group(1)).read_text()
        # Secrets, and what moves the cursor of a terminal.
        assert not re.search("demo-api-token|a-secret-of-mine|hidden|[\\x00-\\x09\\x0b-\\x1f]", found[name])
        assert all(len(line) < 450 for line in found[name].splitlines())
    # Once a run, under the first failure.
    assert output.count(EXPLAINED) == 1
    if not arguments:
        assert EXPLAINED in found["short_user"]
    # The frames of the client help nobody.
    assert "site-packages" not in output


def test_what_is_printed_is_under_each_failure_and_in_the_file_for_ci(run, tmp_path):
    source = """
import pytest

@pytest.fixture
def broken(entrupy_sim):
    entrupy_sim.fault({"status": 503}, route="/v2/serch")
    assert False

@pytest.fixture
def torn(entrupy_sim):
    yield
    assert False

def test_setup(broken):
    pass

def test_teardown(torn):
    print("printed")

@pytest.mark.xfail(strict=True)
def test_strict(entrupy_sim):
    pass

def test_two(entrupy_sim, entrupy_simulator):
    entrupy_simulator.make_namespace(prefix="second")
    entrupy_simulator.make_namespace(prefix="third").delete()
    assert False

def test_none():
    assert False
"""
    code, output = run(source, "--show-capture=no", "--junitxml=report.xml")
    found = blocks(output)
    assert code == 1 and set(found) >= {"setup", "teardown", "two"} and "none" not in found, output
    for name in ("setup", "teardown", "two"):
        assert f"the page of test_{name} is .entrupy-sim/" in found[name], output
    assert "no route of the server matches /v2/serch" in found["setup"]
    assert "namespace test-" in found["two"] and "namespace second-" in found["two"]
    assert re.search(r"namespace third-\w+ was deleted", found["two"])
    report = xml.etree.ElementTree.parse(tmp_path / "report.xml")
    texts = {case.get("name"): "".join(case.itertext()) for case in report.iter("testcase")}
    for name in ("test_setup", "test_teardown", "test_two"):
        assert f"the page of {name} is .entrupy-sim/" in texts[name], texts
    # A report without a traceback has it among the captured output.
    code, output = run(source, "-k", "strict")
    assert "the page of test_strict is .entrupy-sim/" in output


# Counts what the plugin asks and makes.
COUNTED = """
import entrupy_sim_failure
import pathlib

def counted(owner, name):
    original = getattr(owner, name)
    def call(*arguments, **options):
        print(name, file=pathlib.Path("asked").open("a"))
        return original(*arguments, **options)
    setattr(owner, name, call)

counted(entrupy_sim_failure.Failure, "__init__")
counted(entrupy_sim_failure.PageMaker, "__init__")
"""


def test_a_test_that_does_not_fail_costs_nothing(run, tmp_path):
    (tmp_path / "conftest.py").write_text(COUNTED)
    source = """
import pytest

def test_passes(entrupy_sim):
    pass

def test_skips(entrupy_sim):
    pytest.skip()

@pytest.mark.xfail
def test_fails_as_expected(entrupy_sim):
    assert False

def test_fails():
    assert {fails!r} == "passes"
"""
    code, output = run(source.format(fails="fails"))
    assert code == 1 and not (tmp_path / "asked").exists() and "- entrupy-sim -" not in output, output
    run(source.format(fails="fails").replace("test_fails()", "test_fails(entrupy_sim)"))
    assert sorted((tmp_path / "asked").read_text().split()) == ["__init__", "__init__"]


@pytest.mark.parametrize("broken", ["Failure.lines", "PageMaker.make", "printable", "Failure._safe"])
def test_a_mistake_in_it_is_no_error_of_the_test(run, tmp_path, broken):
    (tmp_path / "conftest.py").write_text(
        "import entrupy_sim_failure\nimport pytest_entrupy_sim\n\ndef fail(*_):\n    raise RuntimeError('a mistake')\n\n"
        + (f"entrupy_sim_failure.{broken} = fail\n" if "." in broken else f"pytest_entrupy_sim.{broken} = fail\n"))
    code, output = run("def test_it(entrupy_sim):\n    assert 1 == 2\n")
    assert code == 1 and "1 failed" in output and "assert 1 == 2" in output, output
    assert "error" not in output.splitlines()[-1] and re.search("RuntimeError(: |\\()'a mistake'", output), output


NAMES = """
import pytest

@pytest.mark.parametrize("text", {names}, ids=str)
def test_it(entrupy_sim, text):
    assert False
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_hostile_names(run, tmp_path, workers):
    names = ["\n\x1b[2J", "\u202e\u200b", "../../etc", "a%s{b}%d", "x" * 400, "é😀", "]]>&amp;<", "-rf", "$(id)`id`"]
    code, output = run(NAMES.format(names=ascii(names)), *workers, "--junitxml=report.xml", "-o",
                       "disable_test_id_escaping_and_forfeit_all_rights_to_community_support=True")
    assert code == 1 and "9 failed" in output, output
    files = sorted(path.name for path in (tmp_path / ".entrupy-sim").iterdir())
    assert len(files) == 18 and sum(name.endswith(".html") for name in files) == 9, files
    shown = re.findall(r"^the page of .* is (\S+)$", output, re.M)
    assert {name for name in shown} == {f".entrupy-sim/{name}" for name in files if name.endswith(".html")}


def test_a_server_that_died_leaves_the_failure_as_it_was(run):
    code, output = run("""
def test_first(entrupy_sim, entrupy_simulator):
    entrupy_simulator.stop()
    assert 1 == 2
""")
    assert code == 1 and "1 failed" in output and "assert 1 == 2" in output, output
    assert "error" not in output.splitlines()[-1], output
    assert "the clock: not known: no server answers at " in output and "no bundle: the server does not answer" in output
    # It is not asked again.
    assert output.count("no server answers at ") == 1, output


def test_a_server_that_hangs_is_waited_for_once(run, tmp_path):
    (tmp_path / "conftest.py").write_text("""
import os
import signal
import entrupy_sim_failure

entrupy_sim_failure.PATIENCE = 1.0

def pytest_sessionfinish(session):
    os.kill(int(open("pid").read()), signal.SIGCONT)
""")
    code, output = run("""
import os
import signal

def test_first(entrupy_sim, entrupy_simulator):
    pid = entrupy_simulator._process.pid
    open("pid", "w").write(str(pid))
    entrupy_sim.fault({"status": 503}, route="/v2/serch", username="DemoOrg-x")
    os.kill(pid, signal.SIGSTOP)
    assert 1 == 2
""")
    assert code == 1 and "1 failed" in output and re.search("did not answer within (1s|[0-9]00ms)", output), output
    assert "no bundle: the server does not answer" in output and "error" not in output.splitlines()[-1]
    assert float(re.search(r"in ([0-9.]+)s", output.splitlines()[-1]).group(1)) < 25, output


def test_a_server_that_does_not_stop_is_killed():
    process = subprocess.Popen(["sh", "-c", "trap '' TERM; echo ready; while :; do :; done"], stdout=subprocess.PIPE)
    process.stdout.readline()
    simulator = Simulator("http://127.0.0.1:9", process=process)
    simulator._stop_seconds = 0.3
    simulator.stop()
    assert process.poll() == -9


def program(tmp_path, script):
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("script, problem", [
    ("echo it is broken >&2; echo more; exit 3", "report ended with 3: it is broken"),
    ("exit 3", "report ended with 3: it printed nothing"), ("exit 0", "report wrote no page"),
    ("exec sleep 600", "report did not end within 500ms"),
])
def test_a_program_that_makes_no_page_is_named(tmp_path, monkeypatch, script, problem):
    monkeypatch.setattr(entrupy_sim_failure, "PAGE_PATIENCE", 0.5 if "sleep" in script else 60)
    bundle = tmp_path / "a.entrupy-bundle.tar"
    bundle.write_bytes(b"")
    maker = PageMaker(program(tmp_path, script))
    for _ in range(2):
        with pytest.raises(Exception, match=problem):
            maker.make(bundle)
        # One that took too long is not tried again.
        maker._binary = maker._binary if "sleep" not in script else "/nowhere"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.entrupy-bundle.tar", "program"]


def test_a_page_that_cannot_be_made_leaves_the_bundle_and_no_old_page(run, tmp_path, entrupy_simulator):
    source = "def test_it(entrupy_sim):\n    assert False\n"
    assert run(source)[0] == 1
    [page] = (tmp_path / ".entrupy-sim").glob("*.html")
    broken = program(tmp_path, "echo it is broken; exit 1")
    code, output = run(source, "--entrupy-sim-url", entrupy_simulator.url, "--entrupy-sim-binary", broken)
    assert code == 1 and "it has no page: " in output and "report ended with 1: it is broken" in output, output
    assert not page.exists() and len(list((tmp_path / ".entrupy-sim").glob("*.tar"))) == 1


def test_a_page_is_for_everybody_and_a_bundle_for_its_owner(run, tmp_path):
    run("def test_it(entrupy_sim):\n    assert False\n")
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / ".entrupy-sim").iterdir()}
    assert modes[".tar"] == 0o600 and modes[".html"] & 0o400


@pytest.fixture
def answered():
    """Makes a namespace of a server that answers each request with the same bytes."""
    servers = []

    def make(body, head=HEAD):
        servers.append(Server(lambda send, released: send(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))))
        return Namespace("default", servers[-1].url, "ctl-secret")
    yield make
    for server in servers:
        server.stop()


@pytest.mark.parametrize("body", [
    b"", b"[]", b"{}", b"null", b"7", b"[" * 100_000, b"\xff", b'{"now": "x", "mode": []}', b"<html>",
])
def test_a_server_that_is_none_of_ours_is_named(answered, body):
    lines = Failure(answered(body)).lines()
    assert len(lines) == 4 and all("not known" in line for line in lines), lines


def test_what_a_server_answers_is_shown_in_safe_lines(answered):
    entry = {
        "id": "req_1", "sequence": 1, "method": "GET", "path": "/ctl-secret\x1b[2J\ud800\n" + "p" * 1000, "query": "q" * 1000, "status": 409,
        "delivered": False, "effect": {"a": "\u202e"}, "username": "u" * 1000, "test": None, "because": "the item belongs to ctl-secret",
        "decided_by": {"fault": "flt", "limits": ["l"], "outcome": "out"}, "request": {}, "response": {"body": "b\x00" * 1000}}
    delivery = {
        "id": "d", "url": "http://u:p@h/x?a=b", "event": "e\n", "entrupy_id": None, "status": "failed", "fault": None, "next_attempt_at": None,
        "attempts": [{"status": 500, "answer": "\x1b" * 1000, "error": None, "fault": None}], "body": {}}
    rule = {"id": "r", "hits": 0, "match": {"route": "/\n"}, "effect": {"status": 1}, "result": "x", "notes": [], "note_details": [
        {"field": None, "problem": "p\n" * 1000, "may_change": False}]}
    lines = Failure(answered(json.dumps({
        "now": "n", "mode": "frozen", "due": [{"kind": "k", "subject": "s", "seconds_left": 1}], "total": 1, "requests": [entry] * 10,
        "next_cursor": None, "deliveries": [delivery] * 50, "faults": [rule] * 50, "outcomes": [rule] * 50, **entry}).encode())).lines()
    assert len(lines) == 1 + 11 + 11 + 11, len(lines)
    assert all(len(line) < 410 and line.isprintable() for line in lines)
    text = "\n".join(lines)
    assert "ctl-secret" not in text and "u:p" not in text and "the last 10 of 50" in text and "10 of 100" in text


def test_what_was_said_already_is_not_said_again(entrupy_sim):
    entrupy_sim.fault({"status": 503}, route="/v2/serch")
    note = "no route of the server matches /v2/serch; the nearest is POST /v2/search/authentications"
    assert note in Failure(entrupy_sim).lines()[-1]
    assert note not in Failure(entrupy_sim, f"AssertionError: {note}").lines()[-1]


@pytest.mark.parametrize("text, shown", [
    ("a é 😀", "a é 😀"), ("\x1b[31m\n\t", "\\x1b[31m\\n\\t"), ("\u202e\u200b\ud800", "\\u202e\\u200b\\ud800"), ("'\"\\", "'\"\\")])
def test_control_characters_are_shown(text, shown):
    assert printable(text) == shown


def test_the_program_of_the_environment_needs_no_path(monkeypatch, tmp_path):
    monkeypatch.delenv("ENTRUPY_SIM_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / name))
    with pytest.raises(Exception, match="install its wheel or put it in PATH"):
        Simulator.start()
    (tmp_path / "scripts").mkdir()
    path = pathlib.Path(program(tmp_path, "echo it is mine >&2; exit 1")).rename(tmp_path / "scripts/entrupy-sim")
    with pytest.raises(Exception, match=f"{path} did not start: it is mine"):
        Simulator.start()
