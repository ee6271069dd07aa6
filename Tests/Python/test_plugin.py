"""The plugin in runs of its own: marks, routes, notes and scenarios from files. `make test-python` runs it."""

import pytest

pytest_plugins = "pytester"

TYPO = """
    def test_typo(entrupy_sim):
        entrupy_sim.fault({"status": 503}, route="/sdk/serch")
"""


@pytest.fixture
def run(pytester, entrupy_simulator):
    """Runs tests against the server of this run."""
    def run(source, *arguments):
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("--entrupy-sim-url", entrupy_simulator.url, "-p", "no:cacheprovider", *arguments)
    return run


@pytest.mark.parametrize("mark", ['"late-result"', 'scenario="late-result"', '"late-result", frozen_at="2026-02-05T09:00:00Z"'])
def test_the_marks_argument_is_the_scenario(run, mark):
    result = run(f"""
        import pytest

        @pytest.mark.entrupy_sim({mark})
        def test_it(entrupy_sim):
            assert entrupy_sim.control("GET", "/_sim/scenarios/late-result")["run"]
    """)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("mark, problem", [
    ('"late-result", "standard"', "takes one scenario, got 'late-result', 'standard'"),
    ('"late-result", scenario="late-result"', "has a scenario twice, 'late-result' and 'late-result'"),
    ('scenaro="late-result"', "does not know scenaro"),
    ('"late-result", timeout=3, frozen="x"', "does not know frozen, timeout"),
    ("7", "takes the name or path of a scenario, got 7"),
])
@pytest.mark.parametrize("fixture", ["entrupy_sim", ""])
def test_a_wrong_mark_is_a_usage_error(run, mark, problem, fixture):
    result = run(f"""
        import pytest

        @pytest.mark.entrupy_sim({mark})
        def test_it({fixture}):
            pass
    """)
    result.assert_outcomes(errors=1)
    text = result.stdout.str()
    assert f"usage: the mark entrupy_sim {problem}: write" in text
    assert "seed, frozen_at, random_seed, strict, prefix, ttl" in text


def test_the_nearest_mark_counts(run):
    run("""
        import pytest

        pytestmark = pytest.mark.entrupy_sim("late-result")

        @pytest.mark.entrupy_sim("login-limit")
        def test_it(entrupy_sim):
            assert entrupy_sim.control("GET", "/_sim/scenarios/login-limit")["run"]
    """).assert_outcomes(passed=1)


def test_a_route_that_the_platforms_do_not_have_fails_the_test(run):
    result = run("""
        def test_typo(entrupy_sim):
            entrupy_sim.expect_request("POST", "/sdk/serch", times=0)

        def test_meant(entrupy_sim):
            entrupy_sim.expect_request("POST", "/sdk/serch", times=0, any_route=True)
    """)
    result.assert_outcomes(passed=1, failed=1)
    assert "the nearest is POST /sdk/search" in result.stdout.str()
    assert "any_route=True" in result.stdout.str()


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_notes_are_shown_also_of_tests_that_pass(run, workers):
    result = run(TYPO, *workers)
    result.assert_outcomes(passed=1)
    text = result.stdout.str()
    assert "entrupy-sim notes" in text
    assert text.count("no route of the server matches /sdk/serch") == 1
    assert "test_notes_are_shown_also_of_tests_that_pass.py::test_typo: the fault flt_" in text


@pytest.mark.parametrize("way", ["option", "ini", "mark"])
def test_notes_fail_a_strict_test(run, pytester, way):
    if way == "ini":
        pytester.makeini("[pytest]\nentrupy_sim_strict = true\n")
    mark = "" if way != "mark" else "import pytest\n    pytestmark = pytest.mark.entrupy_sim(strict=True)\n"
    result = run(f"\n    {mark}{TYPO}", *(["--entrupy-sim-strict"] if way == "option" else []))
    result.assert_outcomes(failed=1)
    assert "match.route: no route of the server matches /sdk/serch" in result.stdout.str()


def test_a_mark_can_be_less_strict_than_the_run_and_users_may_come_later(run):
    result = run("""
        import pytest

        @pytest.mark.entrupy_sim(strict=False)
        def test_typo(entrupy_sim):
            entrupy_sim.fault({"status": 503}, route="/sdk/serch")

        def test_later(entrupy_sim):
            entrupy_sim.fault({"status": 503}, route="/sdk/search", username="DemoOrg-later")

        def test_brand(entrupy_sim):
            entrupy_sim.outcome("unknown", brand="Nkie")
    """, "--entrupy-sim-strict")
    result.assert_outcomes(passed=2, failed=1)


def test_a_scenario_from_a_file_is_stored_where_it_starts(run, pytester, entrupy_simulator):
    for number in range(2):
        pytester.mkdir(f"d{number}")
        (pytester.path / f"d{number}" / "any-name.yaml").write_text(
            f"name: mine\ndescription: Number {number}.\n"
            "faults:\n  - {match: {route: /sdk/search}, effect: {status: 503}, times: 1}\n")
    result = run("""
        import pathlib
        import pytest

        @pytest.mark.parametrize("number", [
            pytest.param(n, marks=pytest.mark.entrupy_sim(pathlib.Path(f"d{n}/any-name.yaml"))) for n in range(2)])
        def test_it(entrupy_sim, number):
            shown = entrupy_sim.control("GET", "/_sim/scenarios/mine")
            assert shown["scenario"]["description"] == f"Number {number}."
            entrupy_sim.verify_scenario("mine")
            with pytest.raises(AssertionError, match="was never met"):
                entrupy_sim.verify_scenario("mine", strict=True)
    """)
    result.assert_outcomes(passed=2)
    assert "was never met" in result.stdout.str()
    names = [s["name"] for s in entrupy_simulator._control.send("GET", "/_sim/scenarios")["scenarios"]]
    assert "mine" not in names
