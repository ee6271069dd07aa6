"""The pytest plugin: the fixture `entrupy_sim` is a namespace for one test, in one server for the whole run.

    @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")  # or a scenario first: entrupy_sim("late-result")
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

#: The name of the section of a test's report that has its notes.
_SECTION = "entrupy-sim notes"
#: What the mark takes by name, beside the scenario.
_KEYWORDS = ("seed", "frozen_at", "random_seed", "strict", "prefix", "ttl")


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


    group.addoption(
        "--entrupy-sim-strict", action="store_true", default=None,
        help="fail tests whose rules and scenarios have parts that nothing matches, such as a misspelt route")
    parser.addini(
        "entrupy_sim_strict", type="bool", default=False,
        help="as --entrupy-sim-strict; the next release makes true the default")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "entrupy_sim(scenario=None, seed=None, frozen_at=None, random_seed=None, strict=None): how the test's namespace is made")
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


def _options(item):
    """The arguments of a test's marks; those of the nearest mark count. A wrong mark is an error of the test."""
    options = {}
    for mark in reversed(list(item.iter_markers("entrupy_sim"))):
        wrong = sorted(set(mark.kwargs) - {"scenario", *_KEYWORDS})
        scenario = mark.args[0] if mark.args else mark.kwargs.get("scenario")
        problem = None
        if len(mark.args) > 1:
            problem = f"takes one scenario, got {', '.join(repr(arg) for arg in mark.args)}"
        elif mark.args and "scenario" in mark.kwargs:
            problem = f"has a scenario twice, {mark.args[0]!r} and {mark.kwargs['scenario']!r}"
        elif wrong:
            problem = f"does not know {', '.join(wrong)}"
        elif scenario is not None and not isinstance(scenario, (str, os.PathLike)):
            problem = f"takes the name or path of a scenario, got {scenario!r}"
        if problem:
            pytest.fail(
                f'usage: the mark entrupy_sim {problem}: write entrupy_sim("late-result", frozen_at="2026-01-05T09:00:00Z"), the '
                f"scenario first or as scenario=, and by name {', '.join(_KEYWORDS)}", pytrace=False)
        options.update(mark.kwargs)
        if mark.args:
            options["scenario"] = mark.args[0]
    return options


# Also checks the marks of tests that do not use the fixture.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    _options(item)


def pytest_terminal_summary(terminalreporter):
    """Shows the notes of all tests, also of those that passed."""
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            # The last report of a test has all its sections.
            if getattr(report, "when", None) == "teardown":
                lines += [f"{report.nodeid}: {text}" for name, text in report.sections if name == f"Captured {_SECTION} call"]
    if lines:
        terminalreporter.section("entrupy-sim notes", sep="-")
        for line in lines:
            terminalreporter.line(line)


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
    options = _options(request.node)
    if options.get("strict") is None:
        options["strict"] = request.config.getoption("--entrupy-sim-strict") or request.config.getini("entrupy_sim_strict")
    try:
        namespace = entrupy_simulator.make_namespace(
            on_note=lambda text: request.node.add_report_section("call", _SECTION, text), **options)
    except SimulatorError as error:
        pytest.fail(str(error), pytrace=False)
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
