"""The pytest plugin: the fixture `entrupy_sim` is a namespace for one test, in one server for the whole run.

    @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")  # or a scenario first: entrupy_sim("late-result")
    def test_late_result(entrupy_sim):
        entrupy_sim.outcome("unknown", after="3h")
        ...
        entrupy_sim.clock.advance("3h")

With pytest-xdist all workers use one server, which the first of them starts. A test that failed prints what its namespaces saw,
and its namespace's bundle is saved with a page, under a name that follows from the project's root directory and the test's id;
after one that passed, those of an earlier failure are removed.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
from urllib.parse import quote

import pytest

from entrupy_sim import (
    TEST_VARIABLE, Namespace, Simulator, SimulatorError, _FORGOTTEN, _NotJudged, _header_text, _program, name_requests, print_note)
from entrupy_sim_failure import Failure, PageMaker, page_of, printable

__all__ = ["entrupy_simulator", "entrupy_sim"]

# Of the run: the server that it started, the simulator that tests use, and the test that runs.
_server = pytest.StashKey()
_simulator = pytest.StashKey()
_item = pytest.StashKey()
#: The test or class, module, … whose function or fixture runs.
_owner = pytest.StashKey()
#: Ends the naming of requests.
_end_naming = pytest.StashKey()
#: The variable with the name of the test as it was before the test; None if it was not set.
_outer_name = pytest.StashKey()
_pages = pytest.StashKey()
#: The namespaces that outlive their tests: fixtures of a class, module, … made them.
_shared = pytest.StashKey()
#: The number of tests whose clients were judged.
_judged = pytest.StashKey()
#: In a worker: the marks that are wrong, and the number of tests whose clients were judged.
_USAGE, _JUDGED = "entrupy_sim_usage", "entrupy_sim_judged"

# Of a test.
_id = pytest.StashKey()
_failed = pytest.StashKey()
_passed = pytest.StashKey()
#: The namespace of the fixture, until it is deleted.
_namespace = pytest.StashKey()
#: The namespaces that the test made.
_made = pytest.StashKey()
#: The lines about the bundle that was saved when the test failed.
_saved = pytest.StashKey()
#: Of the namespaces that a test shares with others, by their names: the number of the last request before it.
_before = pytest.StashKey()
#: The namespaces whose rules are not verified yet.
_unverified = pytest.StashKey()
#: The misuse that was found before a namespace forgot it, until the test is judged.
_kept = pytest.StashKey()
#: The failure of the scenario of the test's mark, or None, once it was verified.
_verified = pytest.StashKey()
#: Whether the fixture made a namespace.
_is_made = pytest.StashKey()
_notes = pytest.StashKey()

#: The title of what a failed test prints.
_TITLE = "entrupy-sim"
_DOCUMENTED = "what these lines mean: docs/testing.md#when-a-test-fails"
#: The name of the section of a test's report that has its notes.
_SECTION = "entrupy-sim notes"
#: What the mark takes by name, beside the scenario: types, and the types in words. None means that it is not given.
_KEYWORDS = {
    "seed": ((str, os.PathLike), '"standard", "empty" or the path of a file'),
    "frozen_at": ((str, int, float), "a moment in ISO 8601 as text, or epoch seconds"),
    "random_seed": (int, "a whole number"),
    "strict": (bool, "True or False"),
    "prefix": (str, "text"),
    "ttl": ((str, int, float), 'a duration such as "30m", or seconds'),
    "ignore_misuse": (dict, "a dictionary of rules and reasons"),
    "verify": (bool, "True or False"),
}
#: The arguments of the mark that count for every namespace that a test makes. The others are for the fixture entrupy_sim alone.
_FOR_ALL = ("strict", "ignore_misuse")
#: Of the run: the marks of classes, modules, … whose tests ran, each with whether a test of it could use the mark.
_marked = pytest.StashKey()
#: In a worker: the same.
_MARKED = "entrupy_sim_marked"
#: The property of a test's report with the misuse that its namespaces saw.
_MISUSE = "entrupy_sim_misuse"
#: The lines about the coverage of the run.
_covered = pytest.StashKey()
#: In a run of a sweep: the id of the test, or None elsewhere; and the variable that says so.
_swept = pytest.StashKey()
_SWEPT = "ENTRUPY_SIM_SWEPT_TEST"


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
    group.addoption(
        "--entrupy-sim-audit", choices=("error", "warning"), default=None,
        help="fail tests whose clients do what they should not: errors alone, or warnings too")
    group.addoption(
        "--entrupy-sim-coverage", default=None, metavar="FILE",
        help="compare the server's coverage with FILE at the end, and fail the run for an edge that is lost; write FILE if there is none")
    group.addoption(
        "--entrupy-sim-summary", default=None, metavar="FILE",
        help="add the result of --entrupy-sim-audit and --entrupy-sim-coverage to FILE as Markdown, such as that in GITHUB_STEP_SUMMARY")
    group.addoption(
        "--entrupy-sim-sweep", action="store_true",
        help="run the one test that is selected once for each call and each fault, as `entrupy-sim sweep` does, and fail it for bugs")
    group.addoption(
        "--entrupy-sim-sweep-args", default=None, metavar="WORDS",
        help="more arguments of `entrupy-sim sweep`, as in a shell: --entrupy-sim-sweep-args='--faults 503 --jobs 1'")
    parser.addini(
        "entrupy_sim_strict", type="bool", default=False,
        help="as --entrupy-sim-strict; the next release makes true the default")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "entrupy_sim(scenario=None, seed=None, frozen_at=None, random_seed=None, strict=None, verify=True): how the test's namespace is made")
    config.pluginmanager.register(_UnusedMarks(), "entrupy_sim_unused_marks")
    # Workers of pytest-xdist hand their reports to the controlling process.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_FirstFailure(), "entrupy_sim_first_failure")
    _check_server_options(config)
    # Another pytest that the test starts is no run of the sweep.
    config.stash[_swept] = os.environ.pop(_SWEPT, None)
    _check_sweep_options(config)


def _check_server_options(config):
    """Options of a server that is not started here must not look as if they counted."""
    _words(config, "--entrupy-sim-serve-args")
    if hasattr(config, "workerinput") or not _address(config):
        return
    given = config.getoption("--entrupy-sim-serve-args")
    if given and config.getoption("--entrupy-sim-url"):
        raise pytest.UsageError("--entrupy-sim-serve-args and --entrupy-sim-url exclude each other: no server is started")
    names = {"--entrupy-sim-serve-args": given, "ENTRUPY_SIM_RECORD": os.environ.get("ENTRUPY_SIM_RECORD")}
    for name in (name for name, value in names.items() if value):
        config.issue_config_time_warning(pytest.PytestWarning(
            f"{name} has no effect: the server at {_address(config)} runs already, and none is started"), stacklevel=2)


def _words(config, option):
    try:
        return shlex.split(config.getoption(option) or "")
    except ValueError as error:
        raise pytest.UsageError(f"{option} must be words as in a shell: {error}") from None


def _check_sweep_options(config):
    _words(config, "--entrupy-sim-sweep-args")
    is_sweep = config.getoption("--entrupy-sim-sweep")
    if config.getoption("--entrupy-sim-sweep-args") and not is_sweep:
        raise pytest.UsageError("--entrupy-sim-sweep-args has no effect without --entrupy-sim-sweep")
    # The sweep starts a server of its own, whose coverage would be that of broken runs.
    for other in ("url", "serve-args", "coverage", "summary"):
        if is_sweep and config.getoption(f"--entrupy-sim-{other}"):
            raise pytest.UsageError(f"--entrupy-sim-sweep and --entrupy-sim-{other} exclude each other")
    if is_sweep and config.getoption("dist", "no") != "no":
        raise pytest.UsageError("--entrupy-sim-sweep runs one test, many times at once: leave out -n, or add -n 0")


def _address(config):
    return config.getoption("--entrupy-sim-url") or os.environ.get("ENTRUPY_SIM_URL")


# With pytest-xdist the controlling process starts the server, since it lives as long as all workers. Without it, there is no such hook.
@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    config = node.config
    if _address(config):
        return
    if _server not in config.stash:
        try:
            _start_server(config)
        except SimulatorError as error:
            # Tests that need no server still run; the others say what is missing.
            node.workerinput["entrupy_sim_error"] = str(error)
            return
    simulator = config.stash[_server]
    node.workerinput["entrupy_sim"] = (simulator.url, simulator.control_token)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    output = getattr(node, "workeroutput", {})
    node.config.stash[_judged] = node.config.stash.get(_judged, 0) + output.get(_JUDGED, 0)
    for name, is_used in output.get(_MARKED, {}).items():
        _note_mark(node.config, name, is_used)
    problem = output.get(_USAGE)
    if problem:
        raise pytest.UsageError(problem)


def _start_server(config):
    config.stash[_server] = Simulator.start(
        config.getoption("--entrupy-sim-binary"), _words(config, "--entrupy-sim-serve-args"), _is_recorded=True)


# Not in the teardown of the fixture: bundles are saved after that of the last test.
def pytest_unconfigure(config):
    _end_names(config)
    simulator = config.stash.get(_server, None)
    if simulator:
        simulator.stop()


def _options(item):
    """The arguments of a test's marks; those of the nearest mark count. Raises ValueError for a wrong mark."""
    options = {}
    for mark in reversed(list(item.iter_markers("entrupy_sim"))):
        given = dict(mark.kwargs)
        wrong = sorted(set(given) - {"scenario", *_KEYWORDS})
        if len(mark.args) > 1:
            raise _wrong_mark(f"takes one scenario, got {', '.join(repr(arg) for arg in mark.args)}")
        if mark.args and "scenario" in given:
            raise _wrong_mark(f"has a scenario twice, {mark.args[0]!r} and {given['scenario']!r}")
        if wrong:
            raise _wrong_mark(f"does not know {', '.join(wrong)}")
        if mark.args:
            given["scenario"] = mark.args[0]
        for name, value in given.items():
            types, words = _KEYWORDS.get(name, ((str, os.PathLike), "the name or path of a scenario"))
            # In Python, True is a number.
            is_right = isinstance(value, types) and (types is bool or not isinstance(value, bool))
            if value is not None and not is_right:
                raise _wrong_mark(f"takes {words} as {name}, got {value!r}")
        options.update(given)
    return options


def _wrong_mark(problem):
    return ValueError(
        f'usage: the mark entrupy_sim {problem}: write entrupy_sim("late-result", frozen_at="2026-01-05T09:00:00Z"), the scenario '
        f"first or as scenario=, and by name {', '.join(_KEYWORDS)}")


# Last, so that tests that are deselected do not matter. Tests that do not use the fixture are checked too.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session, config, items):
    problems = {}
    for item in items:
        try:
            _options(item)
        except ValueError as error:
            problems.setdefault(str(error), item.nodeid)
    if not problems:
        return _choose_swept(session, items)
    problem = "\n".join(f"{test}: {text}" for text, test in problems.items())
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(problem)
    # In a worker that would look like a crash: the controlling process raises it.
    config.workeroutput[_USAGE] = problem
    items.clear()


def _choose_swept(session, items):
    """In a run of a sweep, leaves its test; for --entrupy-sim-sweep, puts the sweep in the place of the one test that is selected."""
    test = session.config.stash[_swept]
    if test is not None:
        items[:] = [item for item in items if item.nodeid == test]
        if not items:
            raise pytest.UsageError(f"the test of the sweep, {test}, is not selected in this run")
    elif session.config.getoption("--entrupy-sim-sweep"):
        # What cannot be collected is an error of its own.
        items[:] = [] if session.testsfailed else [_SweptTest.from_parent(item.parent, name=item.name, test=item) for item in [_the_one(items)]]


def _the_one(items):
    """The test of --entrupy-sim-sweep. Raises UsageError if there is none that can be swept."""
    if len(items) != 1:
        raise pytest.UsageError(
            f"--entrupy-sim-sweep takes one test, and {len(items)} are selected: pytest tests/test_shop.py::test_sale --entrupy-sim-sweep")
    if "entrupy_sim" not in getattr(items[0], "fixturenames", ()):
        raise pytest.UsageError(f"--entrupy-sim-sweep: {items[0].nodeid} does not use the fixture entrupy_sim, so no call of it is known")
    options = _options(items[0])
    given = [name for name in ("seed", "frozen_at", "random_seed") if options.get(name) is not None]
    if given:
        raise pytest.UsageError(
            f"--entrupy-sim-sweep: {items[0].nodeid} has a mark with {', '.join(given)}, and a sweep begins in a scenario or in the "
            'standard seed data: write a scenario, entrupy_sim("cases/mine.yaml")')
    return items[0]


class _SweptTest(pytest.Item):
    """A sweep, in the place of the test that its commands run: bugs fail it, and all else but a whole sweep is an error of its setup."""

    def __init__(self, *, test, **members):
        super().__init__(**members)
        self._test = test
        self._bugs = None

    def setup(self):
        # The marks of its classes and modules count in the runs.
        self.stash[_is_made] = True
        try:
            code, text = _run_sweep(self.config, self._test)
        except (SimulatorError, OSError) as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        if code not in (0, 1):
            pytest.fail(f"the sweep is not complete, exit code {code} (docs/sweep.md):\n{text}", pytrace=False)
        self._bugs = f"the sweep found bugs (docs/sweep.md):\n{text}" if code else None
        if not code:
            self.add_report_section("setup", "entrupy-sim sweep", text)

    def runtest(self):
        if self._bugs:
            pytest.fail(self._bugs, pytrace=False)

    def reportinfo(self):
        return self._test.reportinfo()


def _run_sweep(config, test):
    """Sweeps a test. Returns the exit code, and all that was printed."""
    scenario = _options(test).get("scenario")
    command = [
        _program(config.getoption("--entrupy-sim-binary")), "sweep", "--quiet",
        *(["--scenario", os.fspath(scenario)] if scenario is not None else []), *_words(config, "--entrupy-sim-sweep-args"),
        "--", sys.executable, "-m", "pytest", *map(os.fspath, config.invocation_params.args)]
    # Ctrl-C reaches pytest alone, so that the sweep gets it once: a second one would leave its server.
    process = subprocess.Popen(
        command, env={**os.environ, _SWEPT: test.nodeid}, cwd=config.invocation_params.dir, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    lines = output.decode(errors="replace").strip().split("\n")
    return process.returncode, "\n".join(map(printable, lines))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    # The item may have run before, for instance with pytest-rerunfailures.
    for key in (_failed, _passed, _namespace, _saved, _verified, _is_made):
        if key in item.stash:
            del item.stash[key]
    item.stash[_unverified], item.stash[_notes], item.stash[_made], item.stash[_before] = [], [], [], {}
    item.stash[_kept] = []
    item.config.stash[_item] = item
    _set_owner(item.config, item)
    # The test before may have been interrupted.
    _restore_name(item.config)
    if not {"entrupy_sim", "entrupy_simulator"}.isdisjoint(getattr(item, "fixturenames", ())):
        _set_name(item)
    _look_at_shared(item)


class _UnusedMarks:
    """Fails tests whose marks have no effect before they run, where that is known then."""

    # Last, so that a test that is skipped is skipped.
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item):
        # What takes `request` may ask for entrupy_sim later.
        if "request" not in getattr(item, "fixturenames", ()):
            _check_used(item)


def _needs(mark):
    """The fixtures of which a mark needs one, and the first argument that needs them; no fixtures for a mark without arguments."""
    given = {**({"scenario": mark.args[0]} if mark.args else {}), **mark.kwargs}
    names = [name for name, value in given.items() if value is not None]
    own = [name for name in names if name not in _FOR_ALL]
    fixtures = ("entrupy_sim",) if own else ("entrupy_sim", "entrupy_simulator") if names else ()
    return fixtures, (own or names or [None])[0]


def _can_use(item, mark):
    """Whether a test uses a fixture that a mark needs, by its parameters and those of its fixtures, or has asked for it."""
    fixtures, _ = _needs(mark)
    is_asked = item.stash.get(_is_made, False) or "entrupy_simulator" in fixtures and bool(item.stash.get(_made, []))
    return not fixtures or is_asked or not set(fixtures).isdisjoint(getattr(item, "fixturenames", ()))


def _check_used(item):
    """Fails a test whose own mark has no effect: it would be green without the scenario or the clock that the mark names."""
    for mark in item.own_markers:
        if mark.name == "entrupy_sim" and not _can_use(item, mark):
            fixtures, name = _needs(mark)
            pytest.fail(
                f"the mark entrupy_sim({name}=…) has no effect, since this test does not use the fixture {' or '.join(fixtures)}: add "
                'entrupy_sim to its parameters, or @pytest.mark.usefixtures("entrupy_sim")', pytrace=False)


def _look_at_marks(item):
    """Notes which marks of the classes, modules, … around a test it can use."""
    for node in item.listchain()[:-1]:
        for mark in node.own_markers:
            if mark.name == "entrupy_sim":
                _note_mark(item.config, f"{node.nodeid or node.name}: the mark entrupy_sim({_needs(mark)[1] or ''}=…)", _can_use(item, mark))


def _note_mark(config, name, is_used):
    marked = config.stash.setdefault(_marked, {})
    marked[name] = marked.get(name, False) or is_used


def _set_name(item):
    """Puts the name of a test into the environment, from which its requests and the processes that it starts have it."""
    if _outer_name not in item.config.stash:
        item.config.stash[_outer_name] = os.environ.get(TEST_VARIABLE)
        os.environ[TEST_VARIABLE] = _header_text(item.stash.get(_id, item.nodeid))


def _restore_name(config):
    if _outer_name not in config.stash:
        return
    outer = config.stash[_outer_name]
    del config.stash[_outer_name]
    if outer is None:
        os.environ.pop(TEST_VARIABLE, None)
    else:
        os.environ[TEST_VARIABLE] = outer


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    # A namespace that a fixture of a class or module makes outlives the test, and has the marks of its class or module.
    outer = request.config.stash.get(_owner, None)
    _set_owner(request.config, request.node)
    yield
    _set_owner(request.config, outer)


def _set_owner(config, node):
    config.stash[_owner] = node
    if node and _simulator in config.stash:
        config.stash[_simulator].strict = _is_strict(node)


def _is_strict(node):
    for mark in node.iter_markers("entrupy_sim"):
        if mark.kwargs.get("strict") is not None:
            return mark.kwargs["strict"]
    return node.config.getoption("--entrupy-sim-strict") or node.config.getini("entrupy_sim_strict")


def _adopt(config, simulator):
    """Makes the namespaces that tests make with a simulator as strict as the tests, and shows their notes in the tests' output."""
    if config.stash.get(_simulator, None) is simulator:
        return
    config.stash[_simulator] = simulator
    simulator.on_note = lambda text: _show_note(config, text)
    simulator._on_made = lambda namespace: _await_notes(config, namespace)
    _end_names(config)
    config.stash[_end_naming] = name_requests(simulator.url)
    if config.stash.get(_item, None):
        _look_at_shared(config.stash[_item])
    _set_owner(config, config.stash[_owner])


def _end_names(config):
    if _end_naming in config.stash:
        config.stash[_end_naming]()
        del config.stash[_end_naming]


def _show_note(config, text):
    item = config.stash.get(_item, None)
    if not item:
        print_note(text)
    elif text not in item.stash[_notes]:
        item.stash[_notes].append(text)


def _await_notes(config, namespace):
    """Has the rules of a namespace verified at the end of the test, if it is the test's own."""
    namespace._on_losing = lambda losing, is_deletion: _judge_early(config, losing, is_deletion)
    item = config.stash.get(_item, None)
    if item and config.stash[_owner] is item:
        namespace._defers_notes = True
        item.stash[_unverified].append(namespace)
        item.stash[_made].append(namespace)
    else:
        config.stash.setdefault(_shared, []).append(namespace)


def _verify_rules(item, is_reachable=True):
    """Shows the notes that still stand at the end of a test, and returns those that must fail it."""
    namespaces, item.stash[_unverified] = item.stash.get(_unverified, []), []
    problems = []
    if namespaces and not is_reachable:
        _show_note(item.config, "the notes on rules at the end of the test are not known: the server does not answer")
        return problems
    for namespace in namespaces:
        try:
            namespace.verify_rules()
        except AssertionError as error:
            problems += str(error).splitlines()
        except SimulatorError as error:
            # The test may have stopped the server.
            _show_note(item.config, f"the notes on rules at the end of the test are not known: {error}")
    return problems


# Last, so after the test's function, and only if it did not fail.
@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item):
    _check_used(item)
    problems = _verify_rules(item)
    if problems:
        pytest.fail("\n".join(["at the end of the test, these notes stand:", *problems]), pytrace=False)
    _verify_scenario(item)
    misuse = _misuse(item)
    if misuse:
        pytest.fail("\n".join(misuse), pytrace=False)


def _verify_scenario(item):
    """Verifies what the scenario of a test's mark expects, unless the mark says otherwise or the test deleted the namespace."""
    if _verified not in item.stash:
        item.stash[_verified] = _scenario_problem(item)
    problem = item.stash[_verified]
    if problem:
        pytest.fail(f"at the end of the test, {problem}\nIf that is not meant here: verify=False in the mark", pytrace=False)


def _scenario_problem(item):
    """What the scenario of a test's mark expects and did not happen; None if all of it did, or none is expected."""
    namespace = item.stash.get(_namespace, None)
    if not namespace or not namespace._scenario or _options(item).get("verify") is False:
        return None
    try:
        namespace.verify_scenario(namespace._scenario)
    except (AssertionError, SimulatorError) as error:
        if getattr(error, "status", 409) not in (None, 404):
            return str(error)
        # Something else deleted the namespace, or stopped the server.
        text = f"what the scenario {namespace._scenario} expects is not verified: {error}"
        if namespace.strict:
            return text
        _show_note(item.config, text)
    return None


def _judge_early(config, namespace, is_deletion):
    """Judges what a namespace is about to forget, while a test runs. It fails the test at its end."""
    item = config.stash.get(_item, None)
    if not item or _kept not in item.stash:
        return
    if is_deletion and namespace is item.stash.get(_namespace, None) and _verified not in item.stash:
        item.stash[_verified] = _scenario_problem(item)
    if config.getoption("--entrupy-sim-audit"):
        item.stash[_kept].append(_judgement(item, namespace))


def _misuse(item):
    """Judges the clients of a test, where the run asks for it. Returns the findings as lines."""
    if not item.config.getoption("--entrupy-sim-audit"):
        return []
    own = item.stash.get(_namespace, None)
    namespaces = ([own] if own else []) + [other for other in item.stash.get(_made, []) if other is not own]
    judgements = item.stash[_kept] + [
        _judgement(item, namespace) for namespace in [*namespaces, *_shared_namespaces(item)] if not namespace._is_deleted]
    # What is still remembered after a reset is found twice.
    found = list(dict.fromkeys(line for _, lines, _ in judgements for line in lines))
    lines = found + list(dict.fromkeys(line for _, _, problems in judgements for line in problems))
    item.user_properties += [(_MISUSE, line) for line in found]
    if lines or any(is_judged for is_judged, _, _ in judgements):
        item.config.stash[_judged] = item.config.stash.get(_judged, 0) + 1
    return ["the clients did what they should not:", *(f"  {line}" for line in lines)] if lines else []


def _judgement(item, namespace):
    """Judges the clients of a namespace. Returns whether it could, the findings, and why it could not; of a shared one only this test's."""
    level = item.config.getoption("--entrupy-sim-audit")
    ignore = _options(item).get("ignore_misuse") or {}
    try:
        if namespace in (item.stash.get(_namespace, None), *item.stash.get(_made, [])):
            namespace.expect_no_misuse(failing_at=level, ignore=ignore)
            return True, [], []
        # Other tests use it too.
        name = _header_text(item.stash.get(_id, item.nodeid))
        before = item.stash[_before].get(namespace.name, 0)
        found, unjudged = namespace._judge(level, ignore, name, before)
        # What other tests left unjudged is not this one's, and neither is what an earlier run of it sent.
        lost = [text for text in unjudged if _FORGOTTEN in text and _FORGOTTEN not in ignore]
        if lost and not namespace._has_forgotten(before):
            lost = []
        is_known = found or namespace.control("GET", f"/_sim/requests?limit=1&test={quote(name, safe='')}")["requests"]
        return bool(is_known), found, lost[:1]
    except AssertionError as error:
        return True, [line.strip() for line in str(error).splitlines()[1:]], []
    except (_NotJudged, ValueError) as error:
        return False, [], [str(error)]
    except SimulatorError as error:
        # Something else deleted the namespace, or stopped the server.
        text = f"the clients of {namespace.name} cannot be judged: {error}"
        if _is_strict(item):
            return False, [], [text]
        _show_note(item.config, text)
        return False, [], []


def _shared_namespaces(item):
    """The namespaces that a test may use with others: those of fixtures that outlive it, and that of the server's own address."""
    simulator = item.config.stash.get(_simulator, None)
    is_asked = item.config.getoption("--entrupy-sim-audit") and "entrupy_simulator" in getattr(item, "fixturenames", ())
    if not simulator or not is_asked:
        return []
    default = Namespace("default", simulator.url, simulator.control_token)
    return [*(namespace for namespace in item.config.stash.get(_shared, []) if not namespace._is_deleted), default]


def _look_at_shared(item):
    """What came before a test is not the test's, also where a test of this name ran before."""
    for namespace in _shared_namespaces(item):
        # At its end the test says what is wrong.
        with contextlib.suppress(SimulatorError):
            requests = namespace.control("GET", "/_sim/requests?limit=1")["requests"]
            item.stash[_before][namespace.name] = requests[0]["sequence"] if requests else 0


def pytest_terminal_summary(terminalreporter):
    """Shows the notes of all tests, also of those that passed."""
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            # The last report of a test has all its sections.
            if getattr(report, "when", None) == "teardown":
                lines += [f"{report.nodeid}: {text}" for name, text in report.sections if name == f"Captured {_SECTION} call"]
    lines += [
        f"{name} had no effect: no test under it that ran uses the fixture"
        for name, is_used in terminalreporter.config.stash.get(_marked, {}).items() if not is_used]
    if lines:
        terminalreporter.section("entrupy-sim notes", sep="-")
        for line in lines:
            terminalreporter.line(line)
    unjudged = _unjudged(terminalreporter.config)
    if unjudged:
        terminalreporter.section("entrupy-sim audit", sep="-")
        terminalreporter.line(unjudged)
    covered = terminalreporter.config.stash.get(_covered, [])
    if covered:
        terminalreporter.section("entrupy-sim coverage", sep="-")
        for line in covered:
            terminalreporter.line(line)
    _write_summary(terminalreporter)


def _unjudged(config):
    """The sentence about an audit that judged no client, which must not look like one that found nothing; None if it judged some."""
    if not config.getoption("--entrupy-sim-audit") or config.stash.get(_judged, 0):
        return None
    return "no client was judged: no test that passed used entrupy_sim, or sent a request to the server of entrupy_simulator"


def _write_summary(terminalreporter):
    """Adds the misuse of all tests to the file that the run names, as Markdown."""
    config = terminalreporter.config
    file = config.getoption("--entrupy-sim-summary")
    if not file:
        return
    level = config.getoption("--entrupy-sim-audit")
    rows = [
        (report.nodeid, text)
        for reports in terminalreporter.stats.values() for report in reports if getattr(report, "when", None) == "call"
        for name, text in getattr(report, "user_properties", []) if name == _MISUSE]
    result = _unjudged(config) or f"{len(rows)} findings at the level {level}"
    lines = ["## Audit of the tests", "", result if level else "not judged: --entrupy-sim-audit is off", ""]
    if rows:
        lines += ["| test | what happened |", "|---|---|"]
        lines += [f"| {_markdown(test)} | {_markdown(text)} |" for test, text in rows]
        lines.append("")
    covered = config.stash.get(_covered, [])
    if covered:
        lines += ["## Coverage of the tests", "", *(f"- {_markdown(line)}" for line in covered), ""]
    try:
        with open(file, "a", encoding="utf-8") as summary:
            summary.write("\n".join(lines) + "\n")
    except OSError as error:
        terminalreporter.write_line(f"entrupy-sim: the summary cannot be written: {error}", red=True)


def _markdown(text):
    """Text from outside that means itself in Markdown, on one line."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[\x00-\x1f\x7f]", " ", re.sub(r"([\\\\`*_\[\]#|~@!])", r"\\\1", text))


def pytest_itemcollected(item):
    # With --dist loadgroup, pytest-xdist changes the ids later, but only in its workers.
    item.stash[_id] = item.nodeid


# First, so that the report is as all others leave it.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        item.stash[_failed] = True
    elif report.when == "call" and report.passed:
        item.stash[_passed] = True
    is_reachable = _explain(item, report) if report.failed else True
    if report.when == "call" or not report.passed:
        # The test was judged.
        if _kept in item.stash:
            del item.stash[_kept]
    if report.when != "teardown" and not report.passed:
        for text in _verify_rules(item, is_reachable):
            _show_note(item.config, text)
    # What a failure explains has the notes in it.
    if report.when == "teardown" or not report.failed:
        report.sections += [(f"Captured {_SECTION} call", text) for text in item.stash.get(_notes, [])]
    if report.when == "teardown":
        _look_at_marks(item)
        text = _close_namespace(item)
        if text:
            report.sections.append(("Captured stdout teardown", text))
        item.config.stash[_item] = item.config.stash[_owner] = None
        _restore_name(item.config)


def _explain(item, report):
    """Adds to the report of a failure what the namespaces of the test saw. Returns whether the server answers."""
    is_reachable, lines = True, []
    try:
        own = item.stash.get(_namespace, None)
        made = item.stash.get(_made, [])
        for namespace in ([own] if own else []) + [other for other in made if other is not own][-2:]:
            failure = Failure(namespace, report.longreprtext)
            if is_reachable:
                lines += failure.lines()
                is_reachable = failure.is_reachable
        if own:
            # A test whose server hangs has waited once.
            if not is_reachable:
                del item.stash[_namespace]
            item.stash[_saved] = True
            lines += _save(item, own) if is_reachable else ["no bundle: the server does not answer"]
    except Exception as error:  # The test fails for its own reason.
        lines.append(f"what happened is not known: {type(error).__name__}: {ascii(str(error))[:200]}")
    if lines:
        _add_section(report, "\n".join(lines))
    return is_reachable


def _add_section(report, text):
    """Adds the text under the report's traceback, where it is shown whatever `--show-capture` says, and is part of JUnit's file."""
    if hasattr(report.longrepr, "addsection"):
        report.longrepr.addsection(_TITLE, text, "-")
    else:
        report.sections.append((_TITLE, text))


class _FirstFailure:
    """Names the page of the documentation under the first failure of a run."""

    def __init__(self):
        self._is_named = False

    # First, before the report is counted and printed.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if self._is_named or not report.failed:
            return
        for holder in (report.longrepr, report):
            sections = getattr(holder, "sections", None) or []
            for index, section in enumerate(sections):
                if section[0] == _TITLE:
                    sections[index] = (_TITLE, f"{section[1]}\n{_DOCUMENTED}", *section[2:])
                    self._is_named = True
                    return


# Last, so after the teardown of a test that was interrupted, which has no report.
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    item = session.config.stash.get(_item, None)
    if item:
        print(_close_namespace(item) or "", end="")
    config = session.config
    _restore_name(config)
    if hasattr(config, "workerinput"):
        config.workeroutput[_JUDGED] = config.stash.get(_judged, 0)
        config.workeroutput[_MARKED] = config.stash.get(_marked, {})
        return
    if config.getoption("--entrupy-sim-coverage"):
        _compare_coverage(session)
    if _unjudged(config):
        _fail_if_strict(session)


def _fail_if_strict(session):
    """Fails a strict run that passed although something was not judged."""
    config = session.config
    if session.exitstatus == pytest.ExitCode.OK and (
            config.getoption("--entrupy-sim-strict") or config.getini("entrupy_sim_strict")):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _compare_coverage(session):
    """Compares the coverage of the run's server with a file, or writes the file where there is none and the run has passed."""
    config, file = session.config, session.config.getoption("--entrupy-sim-coverage")
    is_passed = session.exitstatus == pytest.ExitCode.OK
    try:
        simulator = config.stash.get(_server, None) or config.stash.get(_simulator, None)
        if not simulator and _address(config):
            simulator = Simulator.connect(_address(config))
        # Without a server nothing is met.
        present = simulator.coverage() if simulator else {"axes": []}
        if not os.path.exists(file) and not simulator:
            config.stash[_covered] = [f"{file} is not written: no test used a server"]
            return _fail_if_strict(session)
        if not os.path.exists(file):
            if is_passed:
                pathlib.Path(file).write_text(json.dumps(present) + "\n", encoding="utf-8")
            config.stash[_covered] = [f"{file} is new" if is_passed else f"{file} is not written, because the run failed"]
            return
        baseline = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        lost, unknown = _lost(baseline, present)
        if not simulator:
            config.stash[_covered] = [f"no test used a server: of the {len(unknown)} edges that {file} has, none is met"]
            if is_passed and unknown:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            return
        config.stash[_covered] = [f"no longer met: {axis}: {edge}; to meet it: {way}" for axis, edge, way in lost] + [
            f"not known to this version: {axis}: {edge}" for axis, edge in unknown]
        if not lost:
            config.stash[_covered].append(f"every edge of {file} is met")
    except (SimulatorError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        lost, config.stash[_covered] = True, [f"the coverage cannot be compared with {file}: {type(error).__name__}: {error}"]
    if lost and is_passed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _lost(baseline, present):
    """The edges that the baseline has met and the coverage has not, and those that the coverage does not have."""
    def is_met(edge):
        return edge["reached"] > 0 or edge["fault_only"] and edge["injected"] > 0
    edges = {(axis["id"], edge["id"]): edge for axis in present["axes"] for edge in axis["edges"]}
    met = [(axis["id"], edge["id"]) for axis in baseline["axes"] for edge in axis["edges"] if is_met(edge)]
    lost = [(*name, edges[name]["meet_with"]) for name in met if name in edges and not is_met(edges[name])]
    return lost, [name for name in met if name not in edges]


@pytest.fixture(scope="session")
def entrupy_simulator(request):
    """The server of the whole run, an `entrupy_sim.Simulator`: its `url`, and `make_namespace()` for more than one namespace."""
    config = request.config
    if config.stash.get(_item, None):
        _set_name(config.stash[_item])
    worker = getattr(config, "workerinput", {})
    try:
        if "entrupy_sim_error" in worker:
            raise SimulatorError(worker["entrupy_sim_error"])
        if "entrupy_sim" in worker:
            simulator = Simulator.connect(*worker["entrupy_sim"])
        elif _address(config):
            simulator = Simulator.connect(_address(config))
        else:
            if _server not in config.stash:
                _start_server(config)
            simulator = config.stash[_server]
    except SimulatorError as error:
        # Without the error that was caught, which says the same.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    _adopt(config, simulator)
    return simulator


@pytest.fixture
def entrupy_sim(request, entrupy_simulator):
    """A namespace of the test's own. The mark `entrupy_sim` says how it is made."""
    _set_name(request.node)
    if request.config.stash[_swept] is not None:
        # The sweep made it, compares it after the run, and deletes it.
        request.node.stash[_is_made] = True
        yield Namespace(
            os.environ["ENTRUPY_SIM_NAMESPACE"], os.environ["ENTRUPY_SIM_SERVER"], strict=_is_strict(request.node),
            on_note=entrupy_simulator.on_note)
        return
    # A project may have a fixture entrupy_simulator of its own.
    _adopt(request.config, entrupy_simulator)
    try:
        options = _options(request.node)
        options["strict"] = _is_strict(request.node)
        for name in ("ignore_misuse", "verify"):
            options.pop(name, None)
        namespace = entrupy_simulator.make_namespace(**options)
    except (SimulatorError, ValueError) as error:
        # Without the error that was caught, which says the same.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    request.node.stash[_namespace] = namespace
    request.node.stash[_is_made] = True
    yield namespace
    # Else the teardown of other fixtures may still fail.
    if request.node.stash.get(_failed, False):
        print(_close_namespace(request.node) or "", end="")


def _close_namespace(item):
    """Saves or removes the bundle of a test that has ended, and deletes its namespace. Returns the text about it, if any."""
    namespace = item.stash.get(_namespace, None)
    if not namespace:
        return None
    del item.stash[_namespace]
    try:
        return _keep_bundle(item, namespace)
    finally:
        try:
            namespace.delete()
        except SimulatorError:
            # The test may have deleted it, or stopped the server.
            pass


def _keep_bundle(node, namespace):
    """Saves the bundle of a test that failed, unless that was done when it failed, and removes that of a test that passed."""
    if node.stash.get(_failed, False):
        return None if node.stash.get(_saved, False) else "".join(
            f"entrupy-sim: {line}\n" for line in _save(node, namespace))
    if not node.stash.get(_passed, False):
        return None
    bundle = _bundle_path(node)
    try:
        page_of(bundle).unlink(missing_ok=True)
        bundle.unlink(missing_ok=True)
    except OSError as error:
        return printable(f"entrupy-sim: the bundle of {node.name} cannot be removed: {error}") + "\n"
    return None


def _save(node, namespace):
    """Saves the bundle of a test that failed, and its page. Returns the lines about them."""
    path = _bundle_path(node)
    try:
        namespace.save_bundle(path)
    except (SimulatorError, OSError) as error:
        return [printable(f"the bundle of {node.name} cannot be saved: {error}")]
    lines = [printable(f"the bundle of {node.name} is {path}")]
    if _pages not in node.config.stash:
        node.config.stash[_pages] = PageMaker(node.config.getoption("--entrupy-sim-binary"))
    try:
        return [printable(f"the page of {node.name} is {node.config.stash[_pages].make(path)}"), *lines]
    except Exception as error:  # The bundle is there.
        # One of an earlier failure would be taken for this one's.
        with contextlib.suppress(OSError):
            page_of(path).unlink(missing_ok=True)
        text = str(error) if isinstance(error, (SimulatorError, OSError)) else repr(error)
        return [*lines, printable(f"it has no page: {text}")]


def _bundle_path(node):
    """Equal tests have equal names in each run, and different ones different names: the readable part is cut, the hash is not.

    The root directory tells projects apart that share a folder and have equal ids.
    """
    test = node.stash.get(_id, node.nodeid)
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", test)[-80:].strip("-.")
    identity = f"{node.config.rootpath.resolve()}\0{test}"
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    given = node.config.getoption("--entrupy-sim-artifacts") or os.environ.get("ENTRUPY_SIM_ARTIFACTS")
    return pathlib.Path(given or ".entrupy-sim") / f"{readable}-{digest}.entrupy-bundle.tar"
