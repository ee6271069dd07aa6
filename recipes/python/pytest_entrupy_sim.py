"""The pytest plugin: the fixture `entrupy_sim` is a namespace for one test, in one server for the whole run.

    @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
    def test_late_result(entrupy_sim):
        entrupy_sim.outcome("unknown", after="3h")
        ...
        entrupy_sim.clock.advance("3h")

With pytest-xdist all workers use one server, which the first of them starts. After a test that failed, its namespace's bundle
is saved.
"""

import os
import pathlib
import re

import pytest

from entrupy_sim import Simulator, SimulatorError

__all__ = ["entrupy_simulator", "entrupy_sim"]

_server = pytest.StashKey()
_failed = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("entrupy-sim")
    group.addoption("--entrupy-sim-url", help="use the server at this address instead of starting one")
    group.addoption("--entrupy-sim-binary", help="the program to start; ENTRUPY_SIM_BINARY, or entrupy-sim in PATH, if absent")
    group.addoption(
        "--entrupy-sim-artifacts", default=None,
        help="the directory for bundles of failed tests; ENTRUPY_SIM_ARTIFACTS, or .entrupy-sim, if absent")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "entrupy_sim(scenario=None, seed=None, frozen_at=None, random_seed=None): how the test's namespace is made")


def _address(config):
    return config.getoption("--entrupy-sim-url") or os.environ.get("ENTRUPY_SIM_URL")


# With pytest-xdist the controlling process starts the server, since it lives as long as all workers.
def pytest_configure_node(node):
    config = node.config
    if _address(config):
        return
    if _server not in config.stash:
        try:
            config.stash[_server] = Simulator.start(config.getoption("--entrupy-sim-binary"))
        except SimulatorError as error:
            # Tests that need no server still run; the others say what is missing.
            node.workerinput["entrupy_sim_error"] = str(error)
            return
    simulator = config.stash[_server]
    node.workerinput["entrupy_sim"] = (simulator.url, simulator.control_token)


def pytest_unconfigure(config):
    simulator = config.stash.get(_server, None)
    if simulator:
        simulator.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if outcome.get_result().failed:
        item.stash[_failed] = True


@pytest.fixture(scope="session")
def entrupy_simulator(request):
    """The server of the whole run."""
    config = request.config
    worker = getattr(config, "workerinput", {})
    try:
        if "entrupy_sim_error" in worker:
            raise SimulatorError(worker["entrupy_sim_error"])
        if "entrupy_sim" in worker:
            url, token = worker["entrupy_sim"]
            yield Simulator.connect(url, token)
            return
        if _address(config):
            yield Simulator.connect(_address(config))
            return
        with Simulator.start(config.getoption("--entrupy-sim-binary")) as simulator:
            yield simulator
    except SimulatorError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def entrupy_sim(request, entrupy_simulator):
    """A namespace of the test's own. The mark `entrupy_sim` says how it is made."""
    options = {}
    for mark in reversed(list(request.node.iter_markers("entrupy_sim"))):
        options.update(mark.kwargs)
    try:
        namespace = entrupy_simulator.make_namespace(**options)
    except SimulatorError as error:
        pytest.fail(str(error), pytrace=False)
    except TypeError:
        pytest.fail(
            f"the mark entrupy_sim takes scenario, seed, frozen_at and random_seed, got {', '.join(sorted(options))}",
            pytrace=False)
    yield namespace
    if request.node.stash.get(_failed, False):
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.nodeid)[-120:].strip("-")
        given = request.config.getoption("--entrupy-sim-artifacts") or os.environ.get("ENTRUPY_SIM_ARTIFACTS")
        path = pathlib.Path(given or ".entrupy-sim") / f"{name}.entrupy-bundle.tar"
        try:
            namespace.save_bundle(path)
            print(f"\nentrupy-sim: the bundle of {request.node.name} is {path}")
        except (SimulatorError, OSError) as error:
            print(f"\nentrupy-sim: the bundle of {request.node.name} cannot be saved: {error}")
    try:
        namespace.delete()
    except SimulatorError:
        # The test may have deleted it, or stopped the server.
        pass
