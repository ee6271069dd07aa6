"""`pytest --entrupy-sim-sweep`: one test, once for each call and fault. `make test-python` runs it."""

import pytest

pytest_plugins = "pytester"

#: A client of one call, and a test of it. The client is wrong if it takes no notice of an answer that it did not get.
CLIENT = """
    import json
    import urllib.error
    import urllib.request
    import pytest

    def register(sim, user):
        urllib.request.urlopen(urllib.request.Request(
            f"{sim.url}/v2/integrations/authorize-user", method="POST",
            headers={"Authorization": f"Token {sim.api_token}", "Content-Type": "application/json"},
            data=json.dumps({
                "sdk_authorization_request": "from-the-app", "unique_user_id": user, "email": f"{user}@example.com"}).encode()))

    @pytest.mark.parametrize("user", ["seller-1"])
    def test_wrong(entrupy_sim, user):
        try:
            register(entrupy_sim, user)
        except urllib.error.HTTPError:
            pass

    def test_right(entrupy_sim):
        register(entrupy_sim, "seller-1")

    def test_fails(entrupy_sim):
        register(entrupy_sim, "seller-1")
        assert False, "a reason of its own"

    def test_other():
        pass

    @pytest.mark.entrupy_sim(frozen_at="2026-01-05T09:00:00Z")
    def test_frozen(entrupy_sim):
        pass

    @pytest.mark.entrupy_sim("cases/base.yaml")
    def test_scenario(entrupy_sim):
        assert entrupy_sim.items()[0]["customer_item_id"] == "there"
        register(entrupy_sim, "seller-1")
"""


@pytest.fixture
def sweep(pytester, monkeypatch):
    """Runs pytest with the tests above."""
    for name in ("CI", "BUILD_NUMBER", "ENTRUPY_SIM_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(test, *arguments):
        pytester.makepyfile(test_shop=CLIENT)
        (pytester.path / "cases").mkdir(exist_ok=True)
        (pytester.path / "cases/base.yaml").write_text("name: base\ndescription: x\nitems: [{customer_item_id: there}]\n")
        return pytester.runpytest_subprocess(
            "-p", "no:cacheprovider", "--entrupy-sim-sweep", *arguments,
            *([f"test_shop.py::{test}"] if test else []))
    return run


def test_a_bug_fails_the_test_with_its_sentence(sweep, pytester):
    result = sweep("test_wrong[seller-1]", "--entrupy-sim-sweep-args=--faults 503,lose_answer")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "POST /v2/integrations/authorize-user #1*S*",
        "1. silent: with POST /v2/integrations/authorize-user #1 answered 503, the client exits 0 and leaves *(3 of 3)"])
    assert (pytester.path / ".entrupy-sim/sweep/post-v2-integrations-authorize-user-1-503.yaml").exists()
    # Runs in which the test fails are no failures of their own.
    assert not list((pytester.path / ".entrupy-sim").glob("*.tar"))
    # A client that fails instead has given up.
    sweep("test_right", "--entrupy-sim-sweep-args=--kept .entrupy-sim/sweep").assert_outcomes(passed=1)


def test_a_test_without_a_bug_passes(sweep):
    result = sweep("test_right", "--entrupy-sim-sweep-args=--faults 503", "-rA")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 cell: 1 gave up"])


def test_a_scenario_of_the_mark_is_where_each_run_begins(sweep):
    sweep("test_scenario", "--entrupy-sim-sweep-args=--faults 503").assert_outcomes(passed=1)


@pytest.mark.parametrize("test, words, problem", [
    ("test_fails", "", "the command fails without a fault"),
    ("test_right", "--faults 505", 'there is no fault "505"'),
    ("test_right", "--for 1ms", "the sweep ended before the runs without a fault were over"),
])
def test_what_is_not_a_whole_sweep_is_an_error(sweep, test, words, problem):
    result = sweep(test, f"--entrupy-sim-sweep-args={words}")
    result.assert_outcomes(errors=1)
    assert problem in result.stdout.str()


@pytest.mark.parametrize("test, arguments, problem", [
    ("", [], "takes one test, and 6 are selected"), ("", ["-k", "nothing"], "takes one test, and 0 are selected"),
    ("test_other", [], "does not use the fixture entrupy_sim"), ("test_frozen", [], "has a mark with frozen_at"),
    ("test_right", ["-n", "2"], "leave out -n"), ("test_right", ["--entrupy-sim-coverage=x"], "exclude each other"),
    ("test_right", ["--entrupy-sim-url=http://127.0.0.1:9"], "exclude each other"),
    ("test_right", ["--entrupy-sim-sweep-args='"], "must be words as in a shell"),
])
def test_wrong_usage_runs_nothing(sweep, test, arguments, problem):
    result = sweep(test, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str() + result.stdout.str()
    assert problem in text and " passed" not in text


def test_arguments_without_a_sweep_are_refused(pytester):
    result = pytester.runpytest_subprocess("--entrupy-sim-sweep-args=--jobs 1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "has no effect without --entrupy-sim-sweep" in result.stderr.str()
