"""Tests that replace the clock of their process: what waits for real time goes on, and ends. `make test-python` runs it."""

import contextlib
import stat
import sys
import threading
import time

import pytest

from entrupy_sim import Namespace, Simulator, SimulatorError
from entrupy_sim_failure import Failure

MOMENT = 1_700_000_000.0


@contextlib.contextmanager
def frozen():
    """What freezegun does, and a `sleep` that does nothing: it replaces the functions in `time`, and wherever a module has them."""
    fakes = {
        "monotonic": lambda: MOMENT, "time": lambda: MOMENT, "perf_counter": lambda: MOMENT, "sleep": lambda seconds: None,
        "gmtime": lambda *moment: time.struct_time((0,) * 9), "strftime": lambda *given: "fake"}
    reals = {getattr(time, name): fake for name, fake in fakes.items()}
    kept = []
    for name, module in list(sys.modules.items()):
        # freezegun leaves these out.
        if name.split(".")[0] in ("threading", "multiprocessing", "_pytest", "execnet", "xdist"):
            continue
        for attribute, value in list(vars(module).items()):
            with contextlib.suppress(TypeError):
                if value in reals:
                    kept.append((module, attribute, value))
                    setattr(module, attribute, reals[value])
    try:
        yield
    finally:
        for module, attribute, value in kept:
            setattr(module, attribute, value)


@contextlib.contextmanager
def by_freezegun():
    freezegun = pytest.importorskip("freezegun")
    with freezegun.freeze_time("2026-01-05T09:00:00Z"):
        yield


@pytest.fixture(params=[frozen, by_freezegun])
def standing_still(request):
    return request.param


def ends(call):
    """Calls it in a thread, and fails if it hangs."""
    found = []

    def run():
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert found, "it hangs"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def test_waits_end_on_a_clock_that_stands_still(entrupy_sim, standing_still):
    with standing_still():
        with pytest.raises(SimulatorError, match="did not happen within 200ms"):
            ends(lambda: entrupy_sim.wait("request:held", within=0.2))
        with pytest.raises(AssertionError, match="found 0"):
            ends(lambda: entrupy_sim.expect_webhook("session.completed", within=0.2))
        ends(lambda: entrupy_sim.expect_webhook("session.completed", times=0, within=0.2))
        entrupy_sim.subscribe("http://127.0.0.1:9/x", "a-secret-key", events=["session.completed"])
        entrupy_sim.insert_items()
        ends(lambda: entrupy_sim.wait("webhook:session.completed"))
        ends(lambda: entrupy_sim.expect_webhook("session.completed", status="any", times=1, within=0.2))
        assert "next attempt at 2" in "\n".join(ends(lambda: Failure(entrupy_sim).lines()))


def test_a_silent_server_is_given_up_on_a_clock_that_stands_still(standing_still):
    with standing_still():
        import socket
        with socket.create_server(("127.0.0.1", 0)) as listener:
            sim = Namespace("default", f"http://127.0.0.1:{listener.getsockname()[1]}")
            sim._control.limits.silence = 0.3
            with pytest.raises(SimulatorError, match="did not answer within 300ms"):
                ends(sim.clock.state)


def test_a_server_that_does_not_stop_is_killed_on_a_clock_that_stands_still(tmp_path, monkeypatch, standing_still):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ntrap '' TERM\necho '{\"url\": \"http://127.0.0.1:9\"}'\nwhile :; do sleep 1; done\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    simulator = Simulator.start(program)
    monkeypatch.setattr(simulator, "_stop_seconds", 0.3)
    with standing_still():
        ends(simulator.stop)
    assert simulator._process.poll() == -9
