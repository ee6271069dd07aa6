"""The pytest plugin: where bundles of failed tests are, and which server a run has. `make test-python` runs it."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

from entrupy_sim import Simulator

FAILING = """
import os
import pytest

FAILS = os.environ.get("FAILS", "all").split(",")

def outcome(name):
    if os.environ.get("SKIPS"):
        pytest.skip("not now")
    assert name not in FAILS and FAILS != ["all"]

@pytest.mark.parametrize("text", ["a/b", "a b", "a:b", "x" * 200 + "1", "x" * 200 + "2"])
def test_text(entrupy_sim, text):
    outcome(text)

@pytest.mark.xdist_group("one@group")
def test_grouped(entrupy_sim):
    outcome("grouped")

@pytest.fixture
def broken(entrupy_sim):
    outcome("setup")

def test_setup(broken):
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a file, and returns its exit code and its output."""
    (tmp_path / "test_shop.py").write_text(FAILING)
    environment = {name: value for name, value in os.environ.items() if name not in ("ENTRUPY_SIM_URL", "ENTRUPY_SIM_RECORD")}

    def start(*arguments, **variables):
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=tmp_path, text=True,
            env={**environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait(*arguments, **variables):
        process = start(*arguments, **variables)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    wait.start = start
    return wait


def bundles(folder):
    """The names of the bundles in a folder, in which each has its page and nothing else is."""
    names = {path.name for path in pathlib.Path(folder).iterdir()}
    found = sorted(name for name in names if name.endswith(".tar"))
    assert names == {*found, *(name[:-len("tar")] + "html" for name in found)}
    return found


def test_each_failed_test_has_its_bundle_and_a_passing_one_removes_its_own_alone(run, tmp_path):
    code, output = run()
    assert code == 1
    first = bundles(tmp_path / ".entrupy-sim")
    # Three names are equal once they are made safe, and two once they are cut.
    assert len(first) == 7 and all(name.endswith(".entrupy-bundle.tar") for name in first), output
    assert all(len(name) < 120 and name.replace(".", "").replace("-", "").replace("_", "").isalnum() for name in first)
    for name in first:
        assert "manifest.json" in tarfile.open(tmp_path / ".entrupy-sim" / name).getnames()
        assert (tmp_path / ".entrupy-sim" / name).stat().st_mode & 0o777 == 0o600
    # Equal ids have equal names, also with workers, and with groups, which change the ids there.
    for arguments in [["-n", "2"], ["-n", "2", "--dist", "loadgroup"]]:
        assert run(*arguments)[0] == 1
        assert bundles(tmp_path / ".entrupy-sim") == first, arguments
    # A test that was skipped did not pass, and one that was not run even less.
    assert run(SKIPS="1")[0] == 0 and bundles(tmp_path / ".entrupy-sim") == first
    assert run("test_shop.py::test_grouped", FAILS="none")[0] == 0
    assert [name for name in first if name not in bundles(tmp_path / ".entrupy-sim")] == [
        name for name in first if "test_grouped" in name]
    assert run("-n", "2", FAILS="a b,setup")[0] == 1
    left = bundles(tmp_path / ".entrupy-sim")
    assert len(left) == 2 and any("test_setup" in name for name in left) and set(left) < set(first)
    assert run(FAILS="none")[0] == 0 and bundles(tmp_path / ".entrupy-sim") == []


TEARDOWN = """
import os
import pytest

FAILS = os.environ.get("FAILS", "").split(",")

@pytest.fixture
def checked(entrupy_sim):
    yield
    assert "checked" not in FAILS

# Its teardown comes after that of entrupy_sim.
@pytest.fixture
def later():
    yield
    assert "later" not in FAILS

def test_checked(checked):
    pass

def test_later(later, entrupy_sim):
    pass
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_failure_in_teardown_leaves_a_bundle(run, tmp_path, workers):
    (tmp_path / "test_shop.py").write_text(TEARDOWN)
    folder = tmp_path / ".entrupy-sim"
    code, output = run(*workers, FAILS="checked,later")
    assert code == 1 and "2 passed, 2 errors" in output
    first = bundles(folder)
    assert ["test_checked" in name for name in first] == [True, False] and "test_later" in first[1], output
    for name in first:
        assert "manifest.json" in tarfile.open(folder / name).getnames()
        assert f"the bundle of {'test_checked' if 'checked' in name else 'test_later'} is .entrupy-sim/{name}" in output
    # The last test of a run has its own teardown and that of the session at once.
    for name in ("checked", "later"):
        code, output = run(*workers, f"test_shop.py::test_{name}", FAILS=name)
        assert code == 1 and bundles(folder) == first, output
    assert run(*workers, FAILS="later")[0] == 1 and bundles(folder) == first[1:]
    assert run(*workers)[0] == 0 and bundles(folder) == []


def test_a_projects_own_server_may_stop_before_the_last_bundle(run, tmp_path):
    (tmp_path / "test_shop.py").write_text("""
import pytest
from entrupy_sim import Simulator

@pytest.fixture(scope="session")
def entrupy_simulator():
    with Simulator.start() as simulator:
        yield simulator

def test_it(entrupy_sim):
    assert False
""")
    code, output = run()
    assert code == 1 and len(bundles(tmp_path / ".entrupy-sim")) == 1, output
    assert "the bundle of test_it is .entrupy-sim/" in output


# What pytest-rerunfailures does: it runs the same item again.
RERUN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(3):
        item.attempt = attempt
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


def test_the_last_run_of_a_test_that_runs_again_counts(run, tmp_path):
    (tmp_path / "conftest.py").write_text(RERUN)
    (tmp_path / "test_shop.py").write_text("""
import pathlib
import pytest

@pytest.fixture
def torn(request, entrupy_sim):
    yield
    assert request.node.attempt > 0

@pytest.mark.entrupy_sim(prefix="mended")
def test_mended(request, entrupy_sim):
    entrupy_sim.fault({"status": 503}, route=f"/attempt-{request.node.attempt}")
    assert request.node.attempt == 2

def test_mended_teardown(torn):
    pass

def test_broken(entrupy_sim):
    print(entrupy_sim.name, file=pathlib.Path("names").open("a"))
    assert False
""")
    code, output = run()
    [name] = bundles(tmp_path / ".entrupy-sim")
    assert code == 1 and "1 failed, 2 passed" in output and "test_broken" in name, output
    assert "attempt-2" in output and "attempt-1" not in output
    names = (tmp_path / "names").read_text().split()
    with tarfile.open(tmp_path / ".entrupy-sim" / name) as bundle:
        manifest = json.load(bundle.extractfile("manifest.json"))
    assert len(names) == 3 and manifest["snapshot"]["namespace"] == names[-1]


def test_projects_with_equal_ids_may_share_a_folder(run, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pytest.ini").write_text("[pytest]")
        (tmp_path / name / "test_shop.py").write_text("def test_it(entrupy_sim):\n    assert False")
    shared = ("--entrupy-sim-artifacts", str(tmp_path / "shared"))
    for count, name in enumerate(("first", "second"), 1):
        assert run(name, *shared)[0] == 1 and len(bundles(tmp_path / "shared")) == count
    both = bundles(tmp_path / "shared")
    # One that passes again removes its own; another way to the same project has the same names.
    (tmp_path / "alias").symlink_to(tmp_path / "second")
    assert run("--rootdir", str(tmp_path / "alias"), "alias", *shared)[0] == 1 and bundles(tmp_path / "shared") == both
    (tmp_path / "first" / "test_shop.py").write_text("def test_it(entrupy_sim):\n    pass")
    assert run("first", *shared)[0] == 0 and len(bundles(tmp_path / "shared")) == 1
    (tmp_path / "second" / "test_shop.py").write_text("def test_it(entrupy_sim):\n    pass")
    assert run("second", *shared)[0] == 0 and bundles(tmp_path / "shared") == []


def test_runs_beside_each_other_leave_whole_bundles(run, tmp_path):
    runs = [run.start("--entrupy-sim-artifacts", "shared") for _ in range(3)]
    outputs = [process.communicate(timeout=120)[0] for process in runs]
    assert len(bundles(tmp_path / "shared")) == 7, outputs
    for name in bundles(tmp_path / "shared"):
        assert "manifest.json" in tarfile.open(tmp_path / "shared" / name).getnames()
    assert not any("cannot be saved" in output for output in outputs), outputs


SERVED = """
def test_settings(entrupy_sim, entrupy_simulator):
    assert entrupy_sim.control("GET", "/_sim/settings")["rate_limits"]["api_per_second"] == 7
    assert entrupy_simulator.control_token == "ctl 'mine'".replace(" ", "-")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_arguments_reach_the_server(run, tmp_path, workers):
    (tmp_path / "test_shop.py").write_text(SERVED)
    words = """--rate-limits '{"api_per_second": 7}' --control-token="ctl-'mine'" --port 0 --in-memory"""
    code, output = run(f"--entrupy-sim-serve-args={words}", *workers)
    assert code == 0, output
    # A data directory excludes what the plugin would give.
    code, output = run(f"--entrupy-sim-serve-args={words.replace('--in-memory', '--data-dir=data')}", *workers)
    assert code == 0 and (tmp_path / "data").is_dir(), output


@pytest.mark.parametrize("words, arguments, expected", [
    ("--seed 'x", [], "must be words as in a shell: No closing quotation"),
    ("--seed x", ["--entrupy-sim-url", "http://127.0.0.1:1"], "exclude each other: no server is started"),
])
def test_wrong_arguments_are_usage_errors(run, words, arguments, expected):
    code, output = run(f"--entrupy-sim-serve-args={words}", *arguments)
    assert code == 4 and expected in output, output


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_an_argument_that_the_server_refuses_fails_the_tests_with_its_words(run, workers):
    code, output = run("--entrupy-sim-serve-args=--no-such-flag", *workers)
    assert code == 1 and "did not start: error: unknown option '--no-such-flag'" in output, output


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_run_is_recorded(run, tmp_path, workers):
    code, output = run(*workers, FAILS="none", ENTRUPY_SIM_RECORD="run.recording")
    assert code == 0, output
    replay = subprocess.run(
        [os.environ["ENTRUPY_SIM_BINARY"], "replay", tmp_path / "run.recording"], capture_output=True, text=True, timeout=120)
    assert replay.returncode == 0 and "no difference" in replay.stdout, replay
    # A recording is not overwritten, and the tests say so.
    code, output = run(*workers, FAILS="none", ENTRUPY_SIM_RECORD="run.recording")
    assert code == 1 and "run.recording already exists" in output, output


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_server_that_a_test_starts_is_not_recorded(run, tmp_path, workers):
    (tmp_path / "test_shop.py").write_text("""
import pytest
from entrupy_sim import Simulator

@pytest.mark.parametrize("number", range(2))
def test_it(entrupy_sim, number):
    with Simulator.start() as first, Simulator.start() as second:
        first.make_namespace(prefix="elsewhere")
        second.make_namespace(prefix="elsewhere")
""")
    code, output = run(*workers, ENTRUPY_SIM_RECORD="run.recording")
    assert code == 0, output
    replay = subprocess.run(
        [os.environ["ENTRUPY_SIM_BINARY"], "replay", tmp_path / "run.recording"], capture_output=True, text=True, timeout=120)
    assert replay.returncode == 0 and "no difference" in replay.stdout, replay


def test_what_has_no_effect_on_a_running_server_is_told(run):
    with Simulator.start() as simulator:
        code, output = run(
            "--entrupy-sim-serve-args=--seed x", FAILS="none", ENTRUPY_SIM_URL=simulator.url, ENTRUPY_SIM_RECORD="x.recording")
        assert code == 0, output
        for name in ("--entrupy-sim-serve-args", "ENTRUPY_SIM_RECORD"):
            assert f"{name} has no effect: the server at {simulator.url} runs already" in output, output
