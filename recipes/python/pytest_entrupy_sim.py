"""The pytest plugin: the fixture `entrupy_sim` is a namespace for one test, in one server for the whole run.

    @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
    def test_late_result(entrupy_sim):
        entrupy_sim.outcome("unknown", after="3h")
        ...
        entrupy_sim.clock.advance("3h")

With pytest-xdist all workers use one server, which the first of them starts. After a test that failed, its namespace's bundle
is saved, under a name that follows from the test's id; after one that passed, the bundle of an earlier failure is removed.
"""

import hashlib
import os
import pathlib
import re
import shlex

import pytest

from entrupy_sim import Simulator, SimulatorError

__all__ = ["entrupy_simulator", "entrupy_sim"]

_server = pytest.StashKey()
_id = pytest.StashKey()
_failed = pytest.StashKey()
_passed = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("entrupy-sim")
    group.addoption("--entrupy-sim-url", help="use the server at this address instead of starting one")
    group.addoption("--entrupy-sim-binary", help="the program to start; ENTRUPY_SIM_BINARY, or entrupy-sim in PATH, if absent")
    group.addoption(
        "--entrupy-sim-artifacts", default=None,
        help="the directory for bundles of failed tests; ENTRUPY_SIM_ARTIFACTS, or .entrupy-sim, if absent")
    group.addoption(
        "--entrupy-sim-serve-args", default=None, metavar="WORDS",
        help="more arguments of `entrupy-sim serve`, as in a shell: --entrupy-sim-serve-args='--seed \"my seed.yaml\"'")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "entrupy_sim(scenario=None, seed=None, frozen_at=None, random_seed=None): how the test's namespace is made")
    _check_server_options(config)


def _check_server_options(config):
    """Options of a server that is not started here must not look as if they counted."""
    _serve_arguments(config)
    if hasattr(config, "workerinput") or not _address(config):
        return
    given = config.getoption("--entrupy-sim-serve-args")
    if given and config.getoption("--entrupy-sim-url"):
        raise pytest.UsageError("--entrupy-sim-serve-args and --entrupy-sim-url exclude each other: no server is started")
    names = {"--entrupy-sim-serve-args": given, "ENTRUPY_SIM_RECORD": os.environ.get("ENTRUPY_SIM_RECORD")}
    for name in (name for name, value in names.items() if value):
        config.issue_config_time_warning(pytest.PytestWarning(
            f"{name} has no effect: the server at {_address(config)} runs already, and none is started"), stacklevel=2)


def _serve_arguments(config):
    try:
        return shlex.split(config.getoption("--entrupy-sim-serve-args") or "")
    except ValueError as error:
        raise pytest.UsageError(f"--entrupy-sim-serve-args must be words as in a shell: {error}") from None


def _address(config):
    return config.getoption("--entrupy-sim-url") or os.environ.get("ENTRUPY_SIM_URL")


# With pytest-xdist the controlling process starts the server, since it lives as long as all workers.
def pytest_configure_node(node):
    config = node.config
    if _address(config):
        return
    if _server not in config.stash:
        try:
            config.stash[_server] = Simulator.start(config.getoption("--entrupy-sim-binary"), _serve_arguments(config))
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


def pytest_itemcollected(item):
    # With --dist loadgroup, pytest-xdist changes the ids later, but only in its workers.
    item.stash[_id] = item.nodeid


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        item.stash[_failed] = True
    elif report.when == "call" and report.passed:
        item.stash[_passed] = True


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
        with Simulator.start(config.getoption("--entrupy-sim-binary"), _serve_arguments(config)) as simulator:
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
    _keep_bundle(request.node, namespace)
    try:
        namespace.delete()
    except SimulatorError:
        # The test may have deleted it, or stopped the server.
        pass


def _keep_bundle(node, namespace):
    """Saves the bundle of a test that failed, and removes the old one of a test that passed."""
    path = _bundle_path(node)
    has_failed = node.stash.get(_failed, False)
    try:
        if has_failed:
            namespace.save_bundle(path)
            print(f"\nentrupy-sim: the bundle of {node.name} is {path}")
        elif node.stash.get(_passed, False):
            path.unlink(missing_ok=True)
    except (SimulatorError, OSError) as error:
        what = "saved" if has_failed else "removed"
        print(f"\nentrupy-sim: the bundle of {node.name} cannot be {what}: {error}")


def _bundle_path(node):
    """Equal ids have equal names in each run, and different ids different ones: the readable part is cut, the hash is not."""
    test = node.stash.get(_id, node.nodeid)
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", test)[-80:].strip("-.")
    digest = hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    given = node.config.getoption("--entrupy-sim-artifacts") or os.environ.get("ENTRUPY_SIM_ARTIFACTS")
    return pathlib.Path(given or ".entrupy-sim") / f"{readable}-{digest}.entrupy-bundle.tar"
