#!/usr/bin/env python3
"""Opens the built site from disk in a real browser: search, filter, keys, without scripts, accessibility, three widths and both schemes.

    browser.py [--site dist/site] [--short] [--screenshots DIRECTORY]

The browser, Selenium and axe are those of Tests/Console/console.py. `--short` checks fewer pages. Exits with 1 if something is wrong.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time
import types
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CONSOLE = ROOT / "Tests" / "Console"
ENVIRONMENT = ROOT / ".build" / "console"

if not os.environ.get("ENTRUPY_SIM_CONSOLE_TEST"):
    # Makes the virtual environment, if it is not there.
    subprocess.run([sys.executable, "-B", CONSOLE / "console.py", "--help"], check=True, stdout=subprocess.DEVNULL)
    python = ENVIRONMENT / "bin" / "python3"
    os.execve(python, [python, "-B", __file__, *sys.argv[1:]], {**os.environ, "ENTRUPY_SIM_CONSOLE_TEST": "1"})

sys.path.insert(0, str(CONSOLE))
import console  # noqa: E402
from axe_core_python.selenium import Axe  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

console.WIDTHS.update(middle=(1000, 900), narrow=(360, 780))
WIDTHS = ["wide", "middle", "narrow"]
TESTS = []
#: A query, and the address that must be its first hit.
HITS = [
    ("webhooks", "backend.html#webhooks"), ("hold a request", "control.html#hold-a-request"), ("POST /sdk/login", "api-sdk.html#login"),
    ("exit code 69", "server.html#commands"), ("words", "documents.html#words"), ("scenarios", "scenarios.html"), ("errors", "errors.html"),
    ("settings", "control.html#settings"), ("traces", "evidence.html#traces"), ("v2/fingerprints", "fidelity.html#v2fingerprints"),
]


def test(function):
    TESTS.append(function)
    return function


def type_query(browser, text):
    field = browser.one("#find")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, text)
    return browser.until("the hits", lambda: browser.all("#hits:not([hidden]) > *"))


def address(browser):
    return urllib.parse.unquote(browser.driver.current_url.removeprefix(browser.server))


@test
def the_search_ranks_headings(browser):
    """The section that has the words in its heading comes first; bodies are found too, and every hit leads to its place."""
    browser.open("index.html")
    wrong = []
    for query, wanted in HITS:
        hits = type_query(browser, query)
        first = hits[0].get_attribute("href") or hits[0].text
        found = urllib.parse.unquote(first.removeprefix(browser.server))
        if not found.startswith(wanted):
            wrong.append(f"{query!r}: {found}, not {wanted}")
    assert not wrong, "; ".join(wrong)
    hits = type_query(browser, "drop_connection tcp reset")
    assert any("control.html#faults" in (hit.get_attribute("href") or "") for hit in hits), [hit.text for hit in hits]
    # From a page in a folder too.
    browser.open("files/demo/receiver.py.html")
    type_query(browser, "errors")
    browser.keys(Keys.ENTER)
    browser.until("the page", lambda: address(browser) == "errors.html")


@test
def the_search_is_used_by_keys(browser):
    browser.open("console.html")
    browser.one("body").send_keys("/")
    assert browser.script("return document.activeElement.id") == "find"
    hits = type_query(browser, "clock")
    assert browser.one("#find").get_attribute("aria-expanded") == "true" and len(hits) > 3
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    chosen = browser.one("#hits [aria-selected=true]")
    assert browser.one("#find").get_attribute("aria-activedescendant") == chosen.get_attribute("id") == "hit-1"
    wanted = urllib.parse.unquote(chosen.get_attribute("href").removeprefix(browser.server))
    browser.keys(Keys.ENTER)
    browser.until("the page", lambda: address(browser) == wanted)
    browser.one("body").send_keys("/")
    type_query(browser, "clock")
    browser.keys(Keys.ESCAPE)
    assert not browser.one("#hits").is_displayed() and browser.one("#find").get_property("value") == ""


@test
def a_hostile_query_is_text(browser):
    browser.open("index.html")
    hits = type_query(browser, console.HOSTILE[:90])
    assert "Nothing has" in hits[0].text and "<script>" in hits[0].text
    assert browser.driver.title != "owned" and not browser.all("#hits script, #hits img")
    for query in ("<b>", ".*", "\\", "(", "%"):
        type_query(browser, query)
    browser.keys(Keys.CONTROL + "a" + Keys.NULL, Keys.DELETE)
    browser.until("no hits", lambda: not browser.one("#hits").is_displayed())


@test
def the_map_is_filtered(browser):
    browser.open("fidelity.html")
    total = {kind: int(browser.text(f".tile.{kind} strong")) for kind in ("documented", "open", "own", "missing")}
    assert all(total.values()), total
    shown = lambda: browser.script("return [...document.querySelectorAll('.edges li')].filter(one => one.checkVisibility()).length")  # noqa: E731
    assert shown() == sum(total.values())
    browser.click("[data-kind=missing]")
    assert shown() == total["missing"] and f"{total['missing']} of {sum(total.values())}" in browser.text("#shown")
    browser.click("[data-kind=missing]")
    browser.click("[data-kind=open]")
    browser.fill("#filter", "webhook")
    some = shown()
    assert 0 < some < total["open"] and browser.text("#shown").startswith(f"{some} of ")
    texts = browser.script("""return [...document.querySelectorAll(".rule")].filter(one => one.checkVisibility())
        .map(one => one.closest("section").querySelector("h2").textContent + one.textContent)""")
    assert len(texts) == some and all("webhook" in text.lower() for text in texts)
    browser.fill("#filter", "no such word at all")
    assert "No rule has these words" in browser.text("#shown") and shown() == 0
    # A link to a rule leads to it, although the filter hides it and its list is folded.
    browser.script("location.hash = '#settle'")
    assert browser.until("the rule", lambda: browser.one("#settle").is_displayed())


@test
def keys_reach_everything(browser):
    browser.look("light", "wide")
    browser.open("control.html")
    browser.one("body").send_keys(Keys.TAB)
    assert browser.script("return document.activeElement.className") == "skip"
    assert browser.script("return document.activeElement.getBoundingClientRect().top") >= 0
    browser.keys(Keys.ENTER)
    assert browser.script("return document.activeElement.id") == "main"
    # On a phone the list of pages is folded, and a key unfolds it.
    browser.look("light", "narrow")
    browser.open("control.html")
    assert not browser.one(".side").is_displayed()
    browser.script("document.querySelector('.unfold').focus()")
    browser.keys(Keys.SPACE)
    assert browser.one(".side").is_displayed()
    browser.look("light", "wide")


@test
def it_reads_without_scripts(browser):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open("fidelity.html")
        assert not browser.one("#find").is_displayed() and not browser.one("#filter").is_displayed()
        assert len(tiles := browser.all(".edge")) > 100 and all(one.is_displayed() for one in tiles[::20])
        browser.click(".area details > summary")
        assert browser.one(".area .rule").is_displayed()
        browser.click(".side a[href='errors.html']")
        browser.until("the page", lambda: address(browser) == "errors.html" and "bad_request" in browser.text())
        browser.look("light", "narrow")
        browser.open("errors.html")
        browser.click(".unfold")
        assert browser.one(".side").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.look("light", "wide")


@test
def nothing_comes_from_elsewhere(browser):
    browser.open("index.html")
    type_query(browser, "clock")
    loaded = browser.script("return [...document.querySelectorAll('script, link, img')].map(one => one.src || one.href)")
    assert any("search-index.js" in one for one in loaded) and all(one.startswith("file:") for one in loaded), loaded


@test
def every_page_is_accessible(browser):
    """axe finds nothing and no page is wider than the window, in both schemes and at three widths."""
    names = ["index.html", "fidelity.html", "errors.html", "control.html", "api.html", "api-images.html", "why-not-a-mock.html", "files/demo/receiver.py.html"]
    if not SHORT:
        names += ["api-sdk.html", "api-errors.html", "promises.html", "benchmarks.html", "server.html", "scenarios.html", "documents.html", "testing.html"]
    names += [path.relative_to(SITE).as_posix() for path in sorted(SITE.glob("swift/*/index.html"))][:1 if SHORT else 4]
    names += [path.relative_to(SITE).as_posix() for path in sorted(SITE.glob("skill-*.html"))]
    looks = [("light", "wide"), ("dark", "narrow")] if SHORT else [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]
    axe, found = Axe(), []
    for scheme, width in looks:
        browser.look(scheme, width)
        for name in names:
            browser.open(name)
            if SCREENSHOTS:
                browser.driver.save_screenshot(str(SCREENSHOTS / f"site-{name.replace('/', '-').removesuffix('.html')}-{scheme}-{width}.png"))
            wide = browser.script("return document.documentElement.scrollWidth - innerWidth")
            if wide > 1:
                widest = browser.script("""return [...document.querySelectorAll("main *")].filter(one => one.getBoundingClientRect().right > innerWidth + 1)
                    .map(one => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`).slice(0, 3).join("; ")""")
                found.append(f"{scheme} {width} {name}: {wide} px wider than the window: {widest}")
            browser.script("for (const details of document.querySelectorAll('main details')) details.open = true")
            # axe takes minutes for thousands of elements: of what is alike, some stay.
            browser.script("""
                for (const selector of ["main li", "main tr", "main h2", "main h3", "main p", "main details", "main pre", "main section"])
                    for (const [number, one] of [...document.querySelectorAll(selector)].entries()) if (number > 40) one.remove()""")
            if width == "wide":
                browser.one("#find").send_keys("clock")
                browser.until("the hits", lambda: browser.one("#hits").is_displayed())
            for violation in axe.run(browser.driver)["violations"]:
                for node in violation["nodes"]:
                    found.append(f"{scheme} {width} {name}: {violation['id']}: {node['html'][:160]}: {node.get('failureSummary', '')[:200]}")
    browser.look("light", "wide")
    for line in sorted(set(found))[:40]:
        print("   ", line)
    assert not found, f"{len(found)} findings"


def main():
    global SITE, SHORT, SCREENSHOTS
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--site", type=pathlib.Path, default=ROOT / "dist/site")
    options.add_argument("--short", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--screenshots", type=pathlib.Path)
    options = options.parse_args()
    SITE, SHORT, SCREENSHOTS = options.site.resolve(), options.short, options.screenshots
    if not (SITE / "index.html").exists():
        sys.exit(f"there is no {SITE}/index.html; run make site")
    if SCREENSHOTS:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser, failed, ran = console.Browser(types.SimpleNamespace(url=f"{SITE.as_uri()}/")), [], 0
    try:
        for function in TESTS:
            if options.only not in function.__name__:
                continue
            ran, started = ran + 1, time.monotonic()
            try:
                function(browser)
                problems = browser.problems()
                assert not problems, f"the browser logged {problems}"
                print(f"ok   {function.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
            except Exception as error:  # noqa: BLE001
                failed.append(function.__name__)
                print(f"FAIL {function.__name__}: {type(error).__name__} {str(error)[:800]}", flush=True)
    finally:
        browser.driver.quit()
    print(f"{ran - len(failed)} of {ran} browser tests of the site passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
