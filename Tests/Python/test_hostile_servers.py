"""The Python client against servers that never end, never begin, or lead elsewhere. `make test-python` runs it."""

import contextlib
import socket
import threading
import urllib.parse

import pytest

from entrupy_sim import Namespace, Simulator, SimulatorError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Server:
    """Answers each connection with `reply(send, released)`; keeps what clients sent."""

    def __init__(self, reply):
        self.reply = reply
        self.requests = []
        self.released = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                channel, _ = self.listener.accept()
                threading.Thread(target=self.answer, args=(channel,), daemon=True).start()

    def answer(self, channel):
        with channel, contextlib.suppress(OSError):
            text = b""
            while b"\r\n\r\n" not in text:
                part = channel.recv(65536)
                if not part:
                    return
                text += part
            self.requests.append(text)
            self.reply(channel.sendall, self.released)

    def stop(self):
        self.released.set()
        self.listener.close()


@pytest.fixture
def server():
    with contextlib.ExitStack() as stack:
        def make(reply):
            made = Server(reply)
            stack.callback(made.stop)
            return made
        yield make


def client(server, silence=30, work=30, size=1 << 20):
    namespace = Namespace("default", server.url, "ctl-secret")
    limits = namespace._control.limits
    limits.silence, limits.work, limits.size = silence, work, size
    return namespace


def silent(send, released):
    released.wait()


def silent_after_head(send, released):
    send(HEAD + b"Content-Length: 10\r\n\r\n")
    released.wait()


def silent_in_a_chunk(send, released):
    send(CHUNKED + b"5\r\n[1,")
    released.wait()


def endless(head, part):
    def reply(send, released):
        send(head)
        while not released.is_set():
            send(part)
    return reply


ENDLESS_CHUNKS = endless(CHUNKED, b"10000\r\n" + b"1" * 65536 + b"\r\n")
ENDLESS_BODY = endless(HEAD + b"\r\n", b" " * 65536)
ENDLESS_INFORMATION = endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
ENDLESS_TRAILERS = endless(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X-A: b\r\n")


def test_a_server_that_never_answers_did_not_answer_in_time(server):
    for reply in (silent, ENDLESS_INFORMATION):
        sim = client(server(reply), silence=0.3, work=0.3)
        with pytest.raises(SimulatorError, match="did not answer within 300ms"):
            sim.clock.state()
        with pytest.raises(SimulatorError, match="did not answer within 300ms"):
            sim.clock.advance("1h")


def problem(server, silence, call):
    with pytest.raises(SimulatorError) as caught:
        call(client(server, silence=silence, work=silence))
    return str(caught.value)


def notices_silence(server, call):
    """Whether silence within an answer is noticed. A busy machine may itself be late, so the times grow."""
    return any(f"sent nothing for {text}" in problem(server, silence, call)
        for silence, text in ((0.3, "300ms"), (2, "2s"), (10, "10s")))


def test_a_server_that_stops_in_its_answer_is_named(server):
    for reply in (silent_after_head, silent_in_a_chunk, ENDLESS_TRAILERS):
        assert notices_silence(server(reply), lambda sim: sim.clock.state())


def test_an_answer_that_never_ends_is_refused(server):
    for reply in (ENDLESS_CHUNKS, ENDLESS_BODY):
        with pytest.raises(SimulatorError, match="larger than 1 MB"):
            client(server(reply)).clock.state()
        with pytest.raises(SimulatorError, match="larger than 4 MB"):
            client(server(reply)).bundle(max_bytes=4_000_000)


def test_what_a_download_wrote_is_removed_if_it_fails(server, tmp_path):
    cut = lambda send, released: send(HEAD + b"Content-Length: 100000\r\n\r\n" + b"x" * 50_000)
    for reply, problem in (
            (ENDLESS_BODY, "larger than 4 MB"), (cut, "was lost before its answer was complete")):
        with pytest.raises(SimulatorError, match=problem):
            client(server(reply), silence=30, work=30).save_bundle(tmp_path / "a.tar", max_bytes=4_000_000)
        assert list(tmp_path.iterdir()) == []
    assert notices_silence(server(silent_after_head), lambda sim: sim.save_bundle(tmp_path / "a.tar"))
    assert list(tmp_path.iterdir()) == []
    whole = lambda send, released: send(HEAD + b"Content-Length: 5\r\n\r\nbytes")
    saved = client(server(whole)).save_bundle(tmp_path / "a.tar")
    assert saved.read_bytes() == b"bytes" and saved.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("answer", [
    HEAD + b"Content-Length: 10\r\n\r\n[1", CHUNKED + b"5\r\n[1", CHUNKED + b"2\r\n[1\r\n",
])
def test_half_an_answer_is_no_answer(server, answer):
    with pytest.raises(SimulatorError, match="was lost before its answer was complete"):
        client(server(lambda send, released: send(answer))).clock.state()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_the_token_stays(server, status):
    other = server(lambda send, released: send(HEAD + b"Content-Length: 2\r\n\r\n{}"))
    moved = server(lambda send, released: send(
        f"HTTP/1.1 {status} Moved\r\nLocation: {other.url}/\r\nContent-Length: 0\r\n\r\n".encode()))
    sim = client(moved)
    for call in (sim.clock.state, sim.reset, sim.bundle, lambda: sim.wait("item:x:result"),
                 lambda: Simulator.connect(moved.url, "ctl-secret")):
        with pytest.raises(SimulatorError, match=f"redirects to '{other.url}/'"):
            call()
    assert all(b"X-Sim-Control-Token: ctl-secret" in text for text in moved.requests)
    assert other.requests == []


def test_an_answer_that_drips_is_read_to_its_end(server):
    def drip(send, released):
        send(HEAD + b"Content-Length: 30\r\n\r\n")
        for byte in b"[" + b" " * 28 + b"]":
            released.wait(0.04)
            send(bytes([byte]))
    # Longer than the limit in all; each pause is a small part of it.
    assert client(server(drip), silence=1).clock.state() == []


def test_a_silent_event_stream_is_not_an_event_that_is_late(server):
    def stream(send, released):
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:\n\n\r\n")
        released.wait()
    assert notices_silence(server(stream), lambda sim: sim.wait("item:x:result", within=60))


@pytest.mark.parametrize("parts, problem", [
    ([b"retry: 1\n\neve", b"nt: state\ndata: {}\n\n"], None), ([b"\nevent: state", b"\ndata: {}\n\n"], None),
    ([b": a\n\nevent: webhook\ndata: event: state\n\n"], "did not happen: the server at [^ ]+ stopped$"),
    ([b"\nevent: world.del", b"eted\ndata: {}\n\n"], "did not happen: the namespace default was deleted$"),
])
def test_the_event_of_a_wait_is_known_however_it_comes(server, parts, problem):
    def stream(send, released):
        send(CHUNKED)
        for part in parts:
            send(b"%x\r\n%s\r\n" % (len(part), part))
            # Each part is read on its own.
            released.wait(0.03)
        send(b"0\r\n\r\n")
    sim = client(server(stream))
    if problem:
        with pytest.raises(SimulatorError, match=problem):
            sim.wait("item:x:result")
    else:
        sim.wait("item:x:result")


class Way(Server):
    """Leads to a server, and says when an event stream has begun."""

    def __init__(self, url):
        self.address = urllib.parse.urlsplit(url)
        self.has_begun = threading.Event()
        super().__init__(None)

    def answer(self, channel):
        with channel, contextlib.suppress(OSError), socket.create_connection((self.address.hostname, self.address.port)) as other:
            other.sendall(channel.recv(65536))
            while part := other.recv(65536):
                channel.sendall(part)
                if b"event: open" in part:
                    self.has_begun.set()


@pytest.mark.parametrize("event", ["item:5ISJEYOQ:result", "webhook:session.completed", "request:held"])
@pytest.mark.parametrize("end, problem", [
    (lambda simulator, sim: sim.delete(), "the namespace {name} was deleted"), (lambda simulator, sim: simulator.stop(), "the server at {url} stopped")])
def test_a_wait_succeeds_with_its_event_alone(event, end, problem):
    with Simulator.start() as simulator:
        sim, way = simulator.make_namespace(), Way(simulator.url)

        def end_it():
            way.has_begun.wait()
            end(simulator, sim)
        threading.Thread(target=end_it).start()
        with pytest.raises(SimulatorError) as caught:
            Namespace(sim.name, way.url).wait(event, within="10m")
        way.stop()
        assert str(caught.value) == f"{event} did not happen: {problem.format(name=sim.name, url=way.url)}"


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"error": {}, "details": 3}', b'{"error": [], "details": [1]}', b"\xff"])
def test_an_error_that_is_no_envelope_is_an_error_all_the_same(server, body):
    text = b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with pytest.raises(SimulatorError) as caught:
        client(server(lambda send, released: send(text))).clock.state()
    assert caught.value.status == 500


def test_notes_of_a_server_that_has_only_their_texts(server):
    rule = (b'{"id": "flt_1", "notes": ["no route of the server matches /sdk/serch", "there is no user \\"x\\" yet"]}')
    answer = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(rule), rule)
    sim = client(server(lambda send, released: send(answer)))
    texts = []
    sim._on_note = texts.append
    sim.fault({"status": 503}, route="/sdk/serch", username="x")
    sim.outcome("unknown", username="x")
    user = 'there is no user "x" yet'
    assert texts == [
        "the fault flt_1: no route of the server matches /sdk/serch", f"the fault flt_1: {user}",
        "the outcome rule flt_1: no route of the server matches /sdk/serch", f"the outcome rule flt_1: {user}"]
    sim.strict = True
    with pytest.raises(AssertionError, match="the fault flt_1: no route of the server matches /sdk/serch$"):
        sim.fault({"status": 503}, route="/sdk/serch", username="x")
