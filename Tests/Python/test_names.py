"""`X-Sim-Test`: the name of a test in its requests, to the simulator alone. `make test-python` runs it."""

import asyncio
import contextlib
import http.server
import os
import subprocess
import sys
import threading

import httpx
import pytest
import requests

import entrupy_sim as library
from entrupy_sim import SimulatorError, name_requests

pytest_plugins = "pytester"


class Receiver:
    """A server of another origin. It keeps the headers of requests, and redirects where it is told to."""

    def __init__(self, place=None):
        receiver = self
        self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                receiver.seen.append(self.headers.get("X-Sim-Test"))
                self.send_response(302 if place else 200)
                if place:
                    self.send_header("Location", place)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    with contextlib.ExitStack() as stack:
        def make(place=None):
            made = Receiver(place)
            stack.callback(made.stop)
            return made
        yield make


def get_with_requests(url, **options):
    return requests.get(url, timeout=10, **options)


def get_with_session(url, **options):
    with requests.Session() as session:
        return session.get(url, timeout=10, **options)


def get_with_httpx(url, **options):
    return httpx.get(url, follow_redirects=True, **options)


def get_with_httpx_async(url, **options):
    async def get():
        async with httpx.AsyncClient(follow_redirects=True) as client:
            return await client.get(url, **options)
    return asyncio.run(get())


WAYS = [get_with_requests, get_with_session, get_with_httpx, get_with_httpx_async]


@pytest.mark.parametrize("get", WAYS)
def test_requests_to_the_simulator_have_the_name_of_the_test(entrupy_sim, request, get):
    get(f"{entrupy_sim.url}/v2/webhooks")
    get(f"{entrupy_sim.url}/v2/webhooks", headers={"x-sim-test": "mine"})
    assert [entry["test"] for entry in entrupy_sim.requests()] == ["mine", request.node.nodeid]
    entrupy_sim.expect_request("GET", "/v2/webhooks", test=request.node.nodeid, times=1)
    with pytest.raises(AssertionError, match="test is mine, not other"):
        entrupy_sim.expect_request("GET", "/v2/webhooks", test="other")


@pytest.mark.parametrize("get", WAYS)
def test_other_origins_get_no_name(entrupy_sim, receiver, get):
    other = receiver()
    port = entrupy_sim.url.split("/ns/")[0].rsplit(":", 1)[1]
    get(other.url)
    get(other.url, headers={"X-Sim-Test": "mine"})
    get(f"{other.url}/?url={entrupy_sim.url}")
    # The same server under another name is another origin.
    get(f"http://localhost:{port}/ns/{entrupy_sim.name}/v2/webhooks")
    assert other.seen == [None, "mine", None] and [entry["test"] for entry in entrupy_sim.requests()] == [None]


@pytest.mark.parametrize("get", WAYS)
def test_a_redirect_takes_the_name_to_no_other_origin_and_finds_it_again(entrupy_sim, request, receiver, get):
    last = receiver()
    named = receiver(last.url)
    end = name_requests(named.url)
    try:
        # From another origin to one that is named, and on to another one.
        first = receiver(named.url)
        answer = get(first.url)
        assert answer.status_code == 200 and "X-Sim-Test" not in answer.request.headers
        assert (first.seen, named.seen, last.seen) == ([None], [request.node.nodeid], [None])
    finally:
        end()
    get(named.url)
    assert named.seen[-1] is None


def test_the_libraries_are_as_before_once_no_origin_is_named(monkeypatch, receiver):
    monkeypatch.setattr(library, "_named_origins", type(library._named_origins)())
    monkeypatch.setattr(library, "_originals", {})
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, library._Namer)])
    monkeypatch.setenv("ENTRUPY_SIM_TEST", "mine")
    before = (requests.adapters.HTTPAdapter.send, httpx.HTTPTransport.handle_request)
    named = receiver()
    ends = [name_requests(named.url), name_requests(f"{named.url}/ns/a")]
    for number, end in enumerate(ends):
        assert requests.adapters.HTTPAdapter.send is not before[0]
        requests.get(named.url, timeout=10)
        # A second call ends nothing more.
        end()
        end()
        requests.get(named.url, timeout=10)
        assert named.seen[-2:] == ["mine", None if number else "mine"]
    assert (requests.adapters.HTTPAdapter.send, httpx.HTTPTransport.handle_request) == before
    assert not any(isinstance(finder, library._Namer) for finder in sys.meta_path)


CHILD = """
import sys
import entrupy_sim
{first}
entrupy_sim.name_requests()
assert {loaded} == ("httpx" in sys.modules)
import requests, httpx, importlib.util
assert type(httpx.__spec__.loader) is type(importlib.util.find_spec("json").loader), httpx.__spec__.loader
requests.get(sys.argv[1], timeout=10)
httpx.get(sys.argv[1])
"""


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_process_that_the_test_starts_names_its_requests(entrupy_sim, request, is_loaded):
    text = CHILD.format(first="import requests, httpx" if is_loaded else "", loaded=is_loaded)
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", text, f"{entrupy_sim.url}/v2/webhooks"], check=True, timeout=60,
            env={**os.environ, **entrupy_sim.environment})
    assert [entry["test"] for entry in entrupy_sim.requests()] == [request.node.nodeid] * 4


@pytest.mark.parametrize("url", [None, "", "127.0.0.1:9", "ftp://127.0.0.1", "http://127.0.0.1:port"])
def test_a_wrong_address_is_an_error(monkeypatch, url):
    monkeypatch.delenv("ENTRUPY_SIM_URL", raising=False)
    with pytest.raises(SimulatorError, match="is not an http or https URL: give the server's, or set ENTRUPY_SIM_URL"):
        name_requests(url)


@pytest.mark.parametrize("name, header", [
    ("test_a.py::test[50%]", "test_a.py::test[50%]"), ("a\r\nX-Other: b", "a%0D%0AX-Other: b"), ("\u00e9\ud800", "%C3%A9%ED%A0%80"),
    ("  a b ", "a b"), ("x" * 200, "x" * 200),
])
def test_any_name_becomes_a_header(name, header):
    assert library._header_text(name) == header


def test_long_names_stay_different():
    first, second = (library._header_text("x" * 300 + end) for end in "ab")
    assert first != second and len(first) == len(second) == 200


@pytest.mark.parametrize("workers", [[], ["-n", "2", "--dist", "loadgroup"]])
def test_the_variable_is_set_for_tests_with_a_simulator_alone(pytester, entrupy_simulator, monkeypatch, workers):
    monkeypatch.setenv("ENTRUPY_SIM_TEST", "outer")
    pytester.makepyfile("""
        import os
        import pytest

        pytestmark = pytest.mark.xdist_group("one")

        def test_without():
            assert os.environ["ENTRUPY_SIM_TEST"] == "outer"

        @pytest.mark.parametrize("text", ["a b", "\N{SNOWMAN}", "x" * 300])
        def test_with(entrupy_sim, text, request):
            name = os.environ["ENTRUPY_SIM_TEST"]
            assert "::test_with[" in name and len(name) <= 200 and "@" not in name and name.isascii()
            assert entrupy_sim.environment["ENTRUPY_SIM_TEST"] == name

        def test_by_name(request):
            assert os.environ["ENTRUPY_SIM_TEST"] == "outer"
            request.getfixturevalue("entrupy_sim")
            assert "::test_by_name" in os.environ["ENTRUPY_SIM_TEST"]

        @pytest.mark.xfail(strict=True)
        def test_that_fails(entrupy_simulator):
            assert "::test_that_fails" not in os.environ["ENTRUPY_SIM_TEST"]

        def test_after():
            assert os.environ["ENTRUPY_SIM_TEST"] == "outer"
    """)
    result = pytester.runpytest_subprocess("--entrupy-sim-url", entrupy_simulator.url, "-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=6, xfailed=1)
