"""The plugin in runs of its own: marks, routes, notes and scenarios from files. `make test-python` runs it."""

import json

import pytest

from entrupy_sim import SimulatorError

pytest_plugins = "pytester"

TYPO = """
    def test_typo(entrupy_sim):
        entrupy_sim.fault({"status": 503}, route="/sdk/serch")
"""

AUTHORIZE = """
        import json
        import urllib.request

        def authorize(sim, user):
            urllib.request.urlopen(urllib.request.Request(
                f"{sim.url}/v2/integrations/authorize-user", method="POST",
                headers={"Authorization": f"Token {sim.api_token}", "Content-Type": "application/json"},
                data=json.dumps({
                    "sdk_authorization_request": "from-the-app", "unique_user_id": user, "email": f"{user}@example.com"}).encode()))
"""


@pytest.fixture
def run(pytester, monkeypatch, entrupy_simulator):
    """Runs tests against the server of this run."""
    # Where these are set, pytest repeats each failure whole in its summary, and tests of it count texts.
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)

    def run(source, *arguments):
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("--entrupy-sim-url", entrupy_simulator.url, "-p", "no:cacheprovider", *arguments)
    return run


def test_a_run_without_xdist(run):
    # As if pytest-xdist were not installed: its hooks are unknown.
    result = run("""
        def test_it(entrupy_sim):
            pass
    """, "-p", "no:xdist")
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("mark", ['"late-result"', 'scenario="late-result"', '"late-result", frozen_at="2026-02-05T09:00:00Z"'])
def test_the_marks_argument_is_the_scenario(run, mark):
    result = run(f"""
        import pytest

        @pytest.mark.entrupy_sim({mark}, verify=False)
        def test_it(entrupy_sim):
            assert entrupy_sim.control("GET", "/_sim/scenarios/late-result")["run"]
    """)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("mark, problem", [
    ('"late-result", "standard"', "takes one scenario, got 'late-result', 'standard'"),
    ('"late-result", scenario="late-result"', "has a scenario twice, 'late-result' and 'late-result'"),
    ('scenaro="late-result"', "does not know scenaro"),
    ('"late-result", timeout=3, frozen="x"', "does not know frozen, timeout"),
    ("7", "takes the name or path of a scenario as scenario, got 7"),
    ("seed=7", 'takes "standard", "empty" or the path of a file as seed, got 7'),
    ('strict="false"', "takes True or False as strict, got 'false'"),
    ("verify=0", "takes True or False as verify, got 0"),
    ("strict=0", "takes True or False as strict, got 0"),
    ('random_seed="7"', "takes a whole number as random_seed, got '7'"),
    ("random_seed=True", "takes a whole number as random_seed, got True"),
    ("frozen_at=[2026]", "takes a moment in ISO 8601 as text, or epoch seconds as frozen_at, got [2026]"),
    ("ttl=False", 'takes a duration such as "30m", or seconds as ttl, got False'),
    ("prefix=3", "takes text as prefix, got 3"),
])
@pytest.mark.parametrize("fixture, workers", [("entrupy_sim", []), ("", []), ("entrupy_sim", ["-n", "2"])])
def test_a_wrong_mark_is_a_usage_error_of_the_run(run, mark, problem, fixture, workers):
    result = run(f"""
        import pytest

        @pytest.mark.entrupy_sim({mark})
        def test_wrong({fixture}):
            pass

        def test_right():
            pass
    """, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes()
    text = result.stderr.str()
    assert f"::test_wrong: usage: the mark entrupy_sim {problem}: write" in text, text
    assert "seed, frozen_at, random_seed, strict, prefix, ttl" in text


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_each_wrong_mark_is_named_and_those_of_tests_that_are_deselected_are_not(run, workers):
    source = """
        import pytest

        @pytest.mark.entrupy_sim(strict="no")
        def test_one():
            pass

        @pytest.mark.entrupy_sim(seed=7)
        class TestTwo:
            def test_two(self):
                pass

        def test_right(entrupy_sim):
            pass
    """
    text = run(source, *workers).stderr.str()
    assert "::test_one: usage: " in text and "::TestTwo::test_two: usage: " in text
    run(source, "-k", "test_right", *workers).assert_outcomes(passed=1, deselected=0 if workers else 2)


def test_the_mark_takes_each_type_that_is_right(run):
    run("""
        import pathlib
        import pytest

        pathlib.Path("seed.yaml").write_text("brands: []")

        @pytest.mark.entrupy_sim(frozen_at=1767603600, random_seed=7, strict=None, prefix="mine", ttl=60)
        def test_numbers(entrupy_sim):
            assert entrupy_sim.name.startswith("mine-")
            assert entrupy_sim.clock.state()["now"].startswith("2026-01-05T09:00:00")

        @pytest.mark.entrupy_sim(None, seed="empty", frozen_at="2026-01-05T09:00:00Z", strict=True, ttl="1h")
        def test_texts(entrupy_sim):
            assert entrupy_sim.strict
    """).assert_outcomes(passed=2)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_mark_without_its_fixture_is_an_error_of_the_test(run, workers):
    result = run("""
        import pytest

        @pytest.fixture
        def mine(entrupy_sim):
            return entrupy_sim

        @pytest.fixture
        def lazy(request):
            return lambda: request.getfixturevalue("entrupy_sim")

        LATE = pytest.mark.entrupy_sim("late-result", verify=False)

        @LATE
        def test_none():
            pass

        @pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.entrupy_sim(random_seed=7))])
        def test_case(number):
            pass

        @pytest.mark.entrupy_sim(strict=True)
        def test_strict():
            pass

        @LATE
        def test_another_fixture(entrupy_simulator):
            entrupy_simulator.make_namespace().delete()

        @LATE
        def test_never_asked(lazy):
            pass

        class TestMarked:
            @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
            def test_method(self):
                pass

        @LATE
        def test_asked(lazy):
            assert lazy().control("GET", "/_sim/scenarios/late-result")["run"]

        @LATE
        def test_indirect(mine):
            pass

        @LATE
        @pytest.mark.usefixtures("entrupy_sim")
        def test_named():
            pass

        @pytest.mark.entrupy_sim(strict=True)
        def test_made(entrupy_simulator):
            pass

        @pytest.mark.entrupy_sim
        def test_bare():
            pass

        @pytest.mark.skip
        @LATE
        def test_skipped():
            pass
    """, *workers)
    result.assert_outcomes(passed=6, failed=2, errors=4, skipped=1)
    text = result.stdout.str()
    for name in ("scenario", "random_seed", "frozen_at"):
        assert f"the mark entrupy_sim({name}=…) has no effect, since this test does not use the fixture entrupy_sim: add" in text, text
    assert "the mark entrupy_sim(strict=…) has no effect, since this test does not use the fixture entrupy_sim or entrupy_simulator: add" in text


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_mark_of_a_class_or_module_that_no_test_can_use_is_a_note(run, workers):
    result = run("""
        import pytest

        pytestmark = pytest.mark.entrupy_sim(seed="empty")

        @pytest.mark.entrupy_sim("late-result")
        class TestIdle:
            def test_one(self):
                pass

            def test_two(self):
                pass

        @pytest.mark.entrupy_sim("login-limit", verify=False)
        class TestUsed:
            def test_one(self):
                pass

            def test_two(self, entrupy_sim):
                pass
    """, "--entrupy-sim-strict", *workers)
    result.assert_outcomes(passed=4)
    text = result.stdout.str()
    assert text.count("had no effect") == 1, text
    result.stdout.fnmatch_lines(["*::TestIdle: the mark entrupy_sim(scenario=…) had no effect: no test under it that ran uses the fixture"])


def test_a_scenario_without_a_name_is_an_error(run):
    result = run("""
        import pytest

        @pytest.mark.entrupy_sim("")
        def test_it(entrupy_sim):
            pass
    """)
    result.assert_outcomes(errors=1)
    assert "scenario must not be empty" in result.stdout.str()


def test_a_wrong_mark_that_a_fixture_adds_is_an_error_of_the_test(run):
    result = run("""
        import pytest

        @pytest.fixture
        def marked(request):
            request.applymarker(pytest.mark.entrupy_sim(strict="no"))

        def test_it(marked, entrupy_sim):
            pass
    """)
    result.assert_outcomes(errors=1)
    assert "takes True or False as strict, got 'no'" in result.stdout.str()


def test_the_nearest_mark_counts(run):
    run("""
        import pytest

        pytestmark = pytest.mark.entrupy_sim("late-result")

        @pytest.mark.entrupy_sim("login-limit", verify=False)
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
    result = run(f"""
        import pytest
        {AUTHORIZE}

        @pytest.mark.entrupy_sim(strict=False)
        def test_typo(entrupy_sim):
            entrupy_sim.fault({{"status": 503}}, route="/sdk/serch")

        def test_later(entrupy_sim):
            entrupy_sim.fault({{"status": 503}}, route="/sdk/search", username="DemoOrg-later-user")
            entrupy_sim.outcome("unknown", username="DemoOrg-later-user")
            authorize(entrupy_sim, "later-user")

        def test_brand(entrupy_sim):
            entrupy_sim.outcome("unknown", brand="Nkie")
    """, "--entrupy-sim-strict")
    result.assert_outcomes(passed=2, failed=1)
    assert "there is no user" not in result.stdout.str()


# A rule that the client makes, and one that a test sends by itself. The second has notes that nobody has read.
NEVER = """
        def test_client(entrupy_sim):
            entrupy_sim.fault({"status": 503}, route="/sdk/search", username="DemoOrg-nver")

        def test_raw(entrupy_sim):
            entrupy_sim.control("POST", "/_sim/outcomes", {"result": "unknown", "match": {"username": "DemoOrg-nver"}})
            entrupy_sim.control("POST", "/_sim/faults", {"effect": {"status": 503}, "match": {"route": "/sdk/serch"}})

        def test_made(entrupy_simulator):
            sim = entrupy_simulator.make_namespace()
            sim.outcome("unknown", username="DemoOrg-nver")
            sim.delete()

        @pytest.fixture
        def second(entrupy_simulator):
            sim = entrupy_simulator.make_namespace()
            yield sim
            sim.delete()

        def test_fixture(second):
            second.outcome("unknown", username="DemoOrg-nver")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_notes_that_still_stand_at_the_end_of_a_test_are_shown_once(run, workers):
    result = run("\n        import pytest\n" + NEVER, *workers)
    result.assert_outcomes(passed=4)
    text = result.stdout.str()
    assert text.count('match.username: there is no user "DemoOrg-nver" yet') == 4, text
    assert text.count("match.route: no route of the server matches /sdk/serch") == 1, text


@pytest.mark.parametrize("way", ["option", "ini", "mark"])
def test_notes_that_still_stand_fail_a_strict_test(run, pytester, way):
    if way == "ini":
        pytester.makeini("[pytest]\nentrupy_sim_strict = true\n")
    mark = "pytestmark = pytest.mark.entrupy_sim(strict=True)" if way == "mark" else ""
    result = run(f"\n        import pytest\n        {mark}\n{NEVER}", *(["--entrupy-sim-strict"] if way == "option" else []))
    result.assert_outcomes(failed=4)
    text = result.stdout.str()
    assert text.count('match.username: there is no user "DemoOrg-nver" yet') == 4, text
    assert text.count("match.route: no route of the server matches /sdk/serch") == 1, text


def test_notes_of_a_strict_test_that_failed_or_was_skipped_are_shown(run):
    result = run("""
        import pytest

        pytestmark = pytest.mark.entrupy_sim(strict=True)

        @pytest.fixture(params=["fails", "skips", "fails in setup"])
        def ends(request, entrupy_sim):
            entrupy_sim.fault({"status": 503}, username=f"DemoOrg-{request.param}")
            assert request.param != "fails in setup"
            return request.param

        def test_it(ends):
            pytest.skip("not now") if ends == "skips" else pytest.fail("by itself")
    """)
    result.assert_outcomes(failed=1, skipped=1, errors=1)
    text = result.stdout.str()
    assert "at the end of the test" not in text
    for user in ("fails", "skips", "fails in setup"):
        assert f'there is no user "DemoOrg-{user}" yet' in text, text


REMOVED = """
        import pytest

        @pytest.mark.parametrize("way", ["cleared", "reset", "gone"])
        def test_it(entrupy_sim, way):
            entrupy_sim.fault({"status": 503}, username=f"DemoOrg-{way}")
            if way == "cleared":
                entrupy_sim.clear_faults()
            elif way == "reset":
                entrupy_sim.reset()
            else:
                entrupy_sim.control("DELETE", f"/_sim/namespaces/{entrupy_sim.name}")
"""


@pytest.mark.parametrize("is_strict", [False, True])
def test_the_notes_of_a_rule_that_a_test_removes_are_not_lost(run, is_strict):
    result = run(REMOVED, *(["--entrupy-sim-strict"] if is_strict else []))
    # After a reset nothing says whether the user existed before.
    result.assert_outcomes(passed=1 if is_strict else 3, failed=2 if is_strict else 0)
    text = result.stdout.str()
    for way in ("cleared", "reset", "gone"):
        assert text.count(f'match.username: there is no user "DemoOrg-{way}" yet') == 1, text


def test_a_rule_that_was_met_has_no_notes_at_the_end(run):
    run("""
        import urllib.error, urllib.request
        import pytest

        def test_it(entrupy_sim):
            entrupy_sim.control("POST", "/_sim/faults", {"effect": {"status": 503}, "match": {"route": "/nowhere"}})
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(f"{entrupy_sim.url}/nowhere")
    """, "--entrupy-sim-strict").assert_outcomes(passed=1)


@pytest.mark.parametrize("way", ["", "option", "ini", "mark"])
def test_namespaces_that_a_test_makes_are_as_strict_as_the_test(run, pytester, way):
    if way == "ini":
        pytester.makeini("[pytest]\nentrupy_sim_strict = true\n")
    result = run(f"""
        import pytest
        {"pytestmark = pytest.mark.entrupy_sim(strict=True)" if way == "mark" else ""}

        def test_it(entrupy_simulator):
            entrupy_simulator.make_namespace().fault({{"status": 503}}, route="/sdk/serch")

        @pytest.fixture(scope="module")
        def shared(entrupy_simulator):
            sim = entrupy_simulator.make_namespace()
            yield sim
            sim.delete()

        # Makes the namespace, which outlives it, so this mark does not count for it.
        @pytest.mark.entrupy_sim(strict=False)
        def test_user_of_a_later_test(shared):
            shared.outcome("unknown", username="DemoOrg-later-user")

        def test_shared(shared):
            shared.fault({{"status": 503}}, route="/sdk/serch")

        @pytest.mark.entrupy_sim(strict=False)
        def test_mark(entrupy_simulator):
            entrupy_simulator.make_namespace().fault({{"status": 503}}, route="/sdk/serch")

        def test_meant(entrupy_simulator):
            entrupy_simulator.make_namespace(strict=False, on_note=print).fault({{"status": 503}}, route="/sdk/serch")
    """, *(["--entrupy-sim-strict"] if way == "option" else []))
    result.assert_outcomes(**({"failed": 2, "passed": 3} if way else {"passed": 5}))
    text = result.stdout.str()
    shown = text[text.rindex("- entrupy-sim notes -"):]
    assert shown.count("match.route: no route of the server matches /sdk/serch") == (1 if way else 3), text
    assert "::test_mark: the fault flt_" in shown and "::test_user_of_a_later_test: the outcome rule out_" in shown


def test_a_scenarios_notes_are_shown_once_a_test(run, pytester):
    (pytester.path / "typo.yaml").write_text(
        "name: typo\ndescription: A misspelt route.\nfaults:\n  - {match: {route: /sdk/serch}, effect: {status: 503}}\n")
    result = run("""
        import pytest

        pytestmark = pytest.mark.entrupy_sim("./typo.yaml")

        @pytest.mark.parametrize("number", range(2))
        def test_it(entrupy_sim, number):
            entrupy_sim.verify_scenario("typo")
            entrupy_sim.verify_scenario("typo")
    """)
    result.assert_outcomes(passed=2)
    text = result.stdout.str()
    for number in range(2):
        assert text.count(f"::test_it[{number}]: the scenario typo: faults[0].match.route: line 4: no route of") == 1, text
    assert text.count("no route of the server matches /sdk/serch") == 2, text


def test_requests_of_a_route_that_the_platforms_do_not_have(entrupy_sim):
    with pytest.raises(SimulatorError, match="the nearest is POST /sdk/search.*any_route=True in requests"):
        entrupy_sim.requests("/sdk/serch")
    with pytest.raises(SimulatorError, match="with its first slash"):
        entrupy_sim.requests("sdk/search")
    assert entrupy_sim.requests("/sdk/serch", any_route=True) == []
    assert entrupy_sim.requests("/sdk/**") == entrupy_sim.requests() == []


def test_a_namespace_is_deleted_however_its_test_ends(run, pytester, entrupy_simulator):
    result = run("""
        import pathlib
        import pytest

        @pytest.fixture
        def broken(request, entrupy_sim):
            print(entrupy_sim.name, file=pathlib.Path("names").open("a"))
            assert "setup" not in request.node.name
            yield
            assert "teardown" not in request.node.name

        @pytest.mark.parametrize("way", ["passes", "fails", "setup", "teardown", "interrupt"])
        def test_it(broken, way):
            assert way != "fails"
            if way == "interrupt":
                raise KeyboardInterrupt
    """)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    names = (pytester.path / "names").read_text().split()
    left = [n["name"] for n in entrupy_simulator._control.send("GET", "/_sim/namespaces")["namespaces"]]
    assert len(names) == 5 and not set(names) & set(left)


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


# A client of an old version, which is a warning, and one with a token in its URL, which is an error.
MISUSE = """
        import urllib.error
        import urllib.request
        import pytest

        def ask(sim, path, **headers):
            headers["Authorization"] = f"Token {sim.api_token}"
            try:
                urllib.request.urlopen(urllib.request.Request(sim.url + path, headers=headers), timeout=20)
            except urllib.error.HTTPError:
                pass

        def test_old(entrupy_sim):
            ask(entrupy_sim, "/v1/health", **{"Api-Version": "1.0"})

        def test_token(entrupy_sim):
            ask(entrupy_sim, "/v2/authentications/x?token=0123456789")

        @pytest.mark.entrupy_sim(ignore_misuse={"token-in-url": "this test is about it", "deprecated-version": "and this"})
        def test_meant(entrupy_sim):
            ask(entrupy_sim, "/v1/health?token=0123456789", **{"Api-Version": "1.0"})

        def test_own_failure(entrupy_sim):
            ask(entrupy_sim, "/v2/authentications/x?token=0123456789")
            assert "mine" == 0
"""


@pytest.mark.parametrize("level, passed, failed", [(None, 3, 1), ("error", 2, 2), ("warning", 1, 3)])
def test_an_audit_fails_tests_whose_clients_misuse_the_api(run, pytester, level, passed, failed):
    given = [f"--entrupy-sim-audit={level}"] if level else []
    result = run(MISUSE, *given, "--entrupy-sim-summary=summary.md")
    result.assert_outcomes(passed=passed, failed=failed)
    text, summary = result.stdout.str(), (pytester.path / "summary.md").read_text()
    assert ("error token-in-url: GET /v2/authentications/x?token=*** has a token in its URL" in text) == bool(level)
    assert ("warning deprecated-version: GET /v1/health asks for version 1.0" in text) == (level == "warning")
    assert summary.startswith("## Audit of the tests\n") and summary.count("| token-in-url") == 0
    assert summary.count("token-in-url: GET /v2/authentications/x?token=\\*\\*\\*") == (1 if level else 0), summary
    assert ("not judged: --entrupy-sim-audit is off" in summary) == (not level)


SIMULATOR = MISUSE.split("        def test_old")[0] + """        import os
        import types

        @pytest.fixture(scope="module")
        def shared(entrupy_simulator):
            return entrupy_simulator.make_namespace()

        def test_made(entrupy_simulator):
            ask(entrupy_simulator.make_namespace(), "/v1/health?token=0123456789")

        @pytest.mark.entrupy_sim(ignore_misuse={"token-in-url": "this test is about it"})
        def test_meant(entrupy_simulator):
            ask(entrupy_simulator.make_namespace(), "/v1/health?token=0123456789")

        def test_right(entrupy_simulator, shared):
            ask(shared, "/v1/health", **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})

        def test_shared(shared):
            ask(shared, "/v1/health?token=0123456789", **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})

        def test_after_it(shared):
            ask(shared, "/v1/health", **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})

        def test_address(entrupy_simulator):
            # The server's own address, which a run before this one used too.
            sim = types.SimpleNamespace(url=entrupy_simulator.url, api_token="demo-api-token")
            query = "" if os.environ.get("MENDED") else "?token=0123456789"
            ask(sim, "/v1/health" + query, **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})
"""

@pytest.mark.parametrize("level, failed", [(None, []), ("error", ["test_made", "test_shared", "test_address"])])
def test_an_audit_judges_tests_that_use_the_server_alone(run, monkeypatch, level, failed):
    result = run(SIMULATOR, *([f"--entrupy-sim-audit={level}"] if level else []))
    result.assert_outcomes(passed=6 - len(failed), failed=len(failed))
    result.stdout.fnmatch_lines([f"FAILED *::{name}*" for name in failed])
    assert result.stdout.str().count("error token-in-url: GET /v1/health?token=***") == len(failed)
    # What an earlier run did is not this one's.
    monkeypatch.setenv("MENDED", "1")
    run(SIMULATOR, "--entrupy-sim-audit=error", "-k", "address").assert_outcomes(passed=1)


@pytest.mark.parametrize("more, ends", [([], 0), (["--entrupy-sim-strict"], 1)])
@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_an_audit_that_judged_nobody_says_so(run, pytester, workers, more, ends):
    line = "*no client was judged: no test that passed used entrupy_sim, or sent a request to the server of entrupy_simulator"
    options = [*workers, *more, "--entrupy-sim-audit=error", "--entrupy-sim-summary=summary.md"]
    result = run("def test_it():\n    pass", *options)
    result.stdout.fnmatch_lines(["*entrupy-sim audit*", line])
    assert result.ret == ends and "no client was judged" in (pytester.path / "summary.md").read_text()
    judged = run("def test_it(entrupy_sim):\n    pass", *options)
    assert judged.ret == 0 and "was judged" not in judged.stdout.str()


def test_what_a_shared_namespace_has_forgotten_of_a_test_was_not_judged(run):
    result = run(MISUSE.split("        def test_old")[0] + """
        import os

        @pytest.fixture(scope="module")
        def shop(entrupy_simulator):
            sim = entrupy_simulator.make_namespace(prefix="shop")
            yield sim
            sim.delete()

        def test_lost(shop, entrupy_simulator):
            ask(shop, "/v1/health?t=demo-api-token", **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})
            shop.settings(journal={"entries": 1})
            for _ in range(3):
                ask(shop, "/v1/health")

        def test_other(shop, entrupy_simulator):
            ask(shop, "/v1/health", **{"X-Sim-Test": os.environ["ENTRUPY_SIM_TEST"]})
    """, "--entrupy-sim-audit=error")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*could not judge everything: the journal has forgotten requests*", "FAILED *::test_lost*"])


def test_what_the_journal_has_forgotten_was_not_judged(run):
    result = run(MISUSE.split("        def test_old")[0] + """
        def test_forgotten(entrupy_sim):
            ask(entrupy_sim, "/v1/health")
            entrupy_sim.control("DELETE", "/_sim/requests")

        @pytest.mark.entrupy_sim(ignore_misuse={"forgotten": "this test empties the journal"})
        def test_meant(entrupy_sim):
            ask(entrupy_sim, "/v1/health")
            entrupy_sim.control("DELETE", "/_sim/requests")
    """, "--entrupy-sim-audit=error")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*retry-too-soon could not judge everything: the journal has forgotten requests*"])


def test_a_scenario_of_a_mark_is_verified_where_the_test_passed(run, pytester):
    (pytester.path / "plain.yaml").write_text(
        "name: plain\ndescription: Nothing.\nclock: {freeze: 2026-01-01T00:00:00Z}\ntimeline:\n  - {at: 1h, revoke_sessions: {}}\n")
    (pytester.path / "one.yaml").write_text(
        "name: one\ndescription: One.\nclock: {freeze: 2026-01-01T00:00:00Z}\nexpect:\n  - {route: /v1/health, times: 1}\n")
    result = run(MISUSE.split("        def test_old")[0] + """
        @pytest.mark.entrupy_sim("late-result")
        def test_unmet(entrupy_sim):
            pass

        @pytest.mark.entrupy_sim("one.yaml")
        class TestMet:
            def test_met(self, entrupy_sim):
                ask(entrupy_sim, "/v1/health")

            @pytest.mark.entrupy_sim(verify=False)
            def test_meant(self, entrupy_sim):
                pass

            def test_deleted(self, entrupy_sim):
                entrupy_sim.delete()

            def test_met_and_deleted(self, entrupy_sim):
                ask(entrupy_sim, "/v1/health")
                entrupy_sim.delete()

            def test_behind(self, entrupy_sim):
                entrupy_sim._control.send("DELETE", f"/_sim/namespaces/{entrupy_sim.name}")

            def test_other(self, entrupy_sim):
                entrupy_sim.control("POST", "/_sim/scenarios/late-result/start")

        @pytest.mark.entrupy_sim("plain.yaml")
        def test_nothing(entrupy_sim):
            pass

        @pytest.mark.entrupy_sim("late-result")
        def test_own(entrupy_sim):
            assert "mine" == 0
    """)
    result.assert_outcomes(passed=5, failed=4)
    text = result.stdout.str()
    assert text.count("at the end of the test, ") == 3
    result.stdout.fnmatch_lines([
        "at the end of the test, the scenario late-result did not pass: 2 of 2 checks failed",
        "  expect[[]0]: item late-* is authentic, once: *", "If that is not meant here: verify=False in the mark"])
    assert 'this namespace was started from the scenario "late-result"' in text
    assert "at the end of the test, the scenario one did not pass: 1 of 1 check failed" in text
    assert "test_behind: what the scenario one expects is not verified: " in text


LOST = MISUSE.split("        def test_old")[0] + """        @pytest.fixture
        def asked(entrupy_sim):
            entrupy_sim.snapshot("before")
            ask(entrupy_sim, "/v1/health?token=0123456789")
            return entrupy_sim

        pytestmark = pytest.mark.entrupy_sim(ignore_misuse={"forgotten": "these tests are about it"})

        def test_delete(asked):
            asked.delete()

        def test_delete_by_control(asked):
            asked.control("DELETE", f"/_sim/namespaces/{asked.name}")

        def test_reset(asked):
            asked.reset()

        def test_restore(asked):
            asked.restore("before")

        def test_clear(asked):
            asked.control("DELETE", "/_sim/requests")

        def test_start(asked):
            asked.control("POST", "/_sim/scenarios/late-result/start", {})

        def test_made(entrupy_simulator):
            sim = entrupy_simulator.make_namespace()
            ask(sim, "/v1/health?token=0123456789")
            sim.delete()

        @pytest.mark.entrupy_sim(ignore_misuse={"token-in-url": "this test is about it"})
        def test_meant(asked):
            asked.delete()

        def test_behind(asked):
            asked._control.send("DELETE", f"/_sim/namespaces/{asked.name}")
"""


@pytest.mark.parametrize("is_strict", [False, True])
def test_what_a_test_has_its_namespace_forget_is_judged_before(run, is_strict):
    result = run(LOST, "--entrupy-sim-audit=error", *(["--entrupy-sim-strict"] if is_strict else []))
    result.assert_outcomes(passed=1 if is_strict else 2, failed=8 if is_strict else 7)
    text = result.stdout.str()
    assert text.count("  error token-in-url: GET /v1/health?token=*** has a token in its URL") == 7, text
    gone = "is gone, so it was not judged: delete it with delete(), which judges it first"
    assert text.count(gone) == 1 and ("at the end of the test, these notes stand:" in text) == is_strict, text


@pytest.mark.parametrize("is_strict", [False, True])
def test_what_an_audit_could_not_judge_fails_a_strict_test(run, is_strict):
    result = run(MISUSE.split("        def test_old")[0] + """
        def test_cut(entrupy_sim):
            entrupy_sim.settings(journal={"body_bytes": 10})
            urllib.request.urlopen(urllib.request.Request(
                f"{entrupy_sim.url}/v2/search/authentications", method="POST", data=b'{"limit": 2, "text": "' + b"x" * 200 + b'"}',
                headers={"Authorization": f"Token {entrupy_sim.api_token}", "Content-Type": "application/json"}))
    """, "--entrupy-sim-audit=warning", *(["--entrupy-sim-strict"] if is_strict else []))
    result.assert_outcomes(passed=not is_strict, failed=is_strict)
    result.stdout.fnmatch_lines(["*unread-member could not judge everything: *their bodies were not kept whole*"])


def test_a_namespace_that_tests_share_may_be_deleted(run):
    run("""
        import pytest

        @pytest.fixture(scope="class")
        def shared(entrupy_simulator):
            sim = entrupy_simulator.make_namespace()
            yield sim
            sim.delete()

        class TestIt:
            def test_shared(self, shared):
                pass

        def test_after_it(entrupy_simulator, entrupy_sim):
            pass
    """, "--entrupy-sim-audit=error", "--entrupy-sim-strict").assert_outcomes(passed=2)


def test_a_rule_that_does_not_exist_fails_the_test(run):
    result = run("""
        import pytest

        @pytest.mark.entrupy_sim(ignore_misuse={"retry-to-soon": "x"})
        def test_it(entrupy_sim):
            pass
    """, "--entrupy-sim-audit=error")
    result.assert_outcomes(failed=1)
    assert "the audit has no rule 'retry-to-soon'" in result.stdout.str()


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_lost_edge_fails_the_run(pytester, monkeypatch, workers):
    for name in ("ENTRUPY_SIM_URL", "CI"):
        monkeypatch.delenv(name, raising=False)
    test = MISUSE.split("        def test_token")[0]
    pytester.makepyfile(test)

    def run(*more):
        return pytester.runpytest_subprocess(*workers, "-p", "no:cacheprovider", "--entrupy-sim-coverage=met.json", *more)

    failed = run("-k", "nothing_has_this_name")
    assert not (pytester.path / "met.json").exists() and failed.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    first = run()
    assert first.ret == 0 and "met.json is new" in first.stdout.str(), first.stdout.str()
    again = run("--entrupy-sim-summary=summary.md")
    assert again.ret == 0 and "every edge of met.json is met" in again.stdout.str()
    assert "- every edge of met.json is met" in (pytester.path / "summary.md").read_text()
    pytester.makepyfile("def test_other(entrupy_sim):\n    pass\n")
    lost = run()
    lost.assert_outcomes(passed=1)
    assert lost.ret == pytest.ExitCode.TESTS_FAILED and "no longer met: answers: GET /v1/health 200; to meet it: curl" in lost.stdout.str()
    (pytester.path / "met.json").write_text("{}")
    broken = run()
    assert broken.ret == pytest.ExitCode.TESTS_FAILED and "the coverage cannot be compared with met.json: KeyError" in broken.stdout.str()


@pytest.mark.parametrize("more, ends", [([], 0), (["--entrupy-sim-strict"], 1)])
def test_coverage_without_a_server_is_not_met(pytester, monkeypatch, more, ends):
    monkeypatch.delenv("ENTRUPY_SIM_URL", raising=False)
    options = ["-p", "no:cacheprovider", "--entrupy-sim-coverage=met.json", *more]
    pytester.makepyfile("def test_it():\n    pass\n")
    new = pytester.runpytest_subprocess(*options)
    assert new.ret == ends and not (pytester.path / "met.json").exists()
    new.stdout.fnmatch_lines(["met.json is not written: no test used a server"])
    edge = {"id": "GET /v1/health 200", "reached": 1, "injected": 0, "fault_only": False}
    (pytester.path / "met.json").write_text(json.dumps({"axes": [{"id": "answers", "edges": [edge, {**edge, "id": "x", "reached": 0}]}]}))
    lost = pytester.runpytest_subprocess(*options)
    assert lost.ret == pytest.ExitCode.TESTS_FAILED
    lost.stdout.fnmatch_lines(["no test used a server: of the 1 edges that met.json has, none is met"])
