#!/usr/bin/env python3
"""Drives the console in a real browser: every page, every action and its effect, live updates, keys, hostile data, a report.

    console.py --binary .build/release/entrupy-sim [--short] [--only NAME] [--screenshots DIRECTORY] [--pictures DIRECTORY] [--firefox]

Needs Chromium with its driver (or Firefox with geckodriver). Makes a virtual environment for Selenium and for axe, which checks
the accessibility of every page in both schemes and at two widths. `--pictures docs/images` makes the pictures of the docs anew. Exits with 0 if everything is as it should be.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = ROOT / ".build" / "console"
REQUIREMENTS = ["selenium==4.27.1", "axe-core-python==0.1.0"]
sys.path.insert(0, str(ROOT / "Tests" / "Support"))

if not os.environ.get("ENTRUPY_SIM_CONSOLE_TEST"):
    stamp = ENVIRONMENT / "installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(REQUIREMENTS):
        print(f"Installing {' and '.join(REQUIREMENTS)} in {ENVIRONMENT.relative_to(ROOT)}.", flush=True)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS], check=True)
        stamp.write_text("\n".join(REQUIREMENTS))
    python = ENVIRONMENT / "bin" / "python3"
    os.execve(python, [python, __file__, *sys.argv[1:]], {**os.environ, "ENTRUPY_SIM_CONSOLE_TEST": "1"})

from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from simulator import Client, Simulator, log_in  # noqa: E402

HOSTILE = "<script>document.title='owned'</script>\"'&{{x}}"
WIDTHS = {"wide": (1400, 1000), "narrow": (360, 780), "huge": (2000, 1200)}
# A receiver that is not there.
DEAD = "http://127.0.0.1:9/hooks"


PICTURE = (ROOT / "demo" / "sneaker.jpg").read_bytes()


class Api(Client):
    """A client that takes headers, and answers JSON."""

    def __call__(self, method, path, body=None, token=None, headers=None):
        fields = {"Authorization": f"Token {token}"} if token else {}
        if isinstance(body, bytes):
            fields["Content-Type"] = "image/jpeg"
        elif body is not None:
            fields["Content-Type"], body = "application/json", json.dumps(body).encode()
        self.connection.request(method, self.base + path, body, {**fields, **(headers or {})})
        answer = self.connection.getresponse()
        data = answer.read()
        try:
            return answer.status, json.loads(data) if data else None
        except ValueError:
            return answer.status, data

    def must(self, method, path, body=None, token=None):
        status, answer = self(method, path, body, token)
        assert status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def bytes(self, method, path):
        self.connection.request(method, self.base + path)
        return self.connection.getresponse().read()


class Browser:
    """A headless browser, with the few steps that tests take."""

    def __init__(self, simulator, is_firefox=False):
        self.simulator = simulator
        self.server = simulator.url
        self.is_firefox = is_firefox
        if is_firefox:
            options = webdriver.FirefoxOptions()
            options.add_argument("--headless")
            self.driver = webdriver.Firefox(options=options)
        else:
            options = webdriver.ChromeOptions()
            for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"]:
                options.add_argument(flag)
            options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            driver = shutil.which("chromedriver")
            self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.driver.set_script_timeout(240)
        self.look("light", "wide")

    def look(self, scheme, width):
        self.driver.set_window_size(*WIDTHS[width])
        if not self.is_firefox:
            # A window has a least width, which is more than that of a phone.
            size = {"width": WIDTHS[width][0], "height": WIDTHS[width][1], "deviceScaleFactor": 1, "mobile": False}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, path):
        self.driver.get(self.server + path)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        assert found, f"nothing matches {selector} on {self.driver.current_url}"
        return found[0]

    def text(self, selector="main"):
        return self.again(lambda: self.one(selector).text)

    @staticmethod
    def again(act):
        """Acts on an element; once more if the page has put another one in its place meanwhile."""
        try:
            return act()
        except StaleElementReferenceException:
            return act()

    def until(self, what, check, seconds=10):
        """Waits until `check` holds. The page has its own pace; nothing here sleeps for a guessed time."""
        end = time.monotonic() + seconds
        last = None
        while time.monotonic() < end:
            try:
                last = check()
                if last:
                    return last
            except (StaleElementReferenceException, AssertionError) as error:
                last = error
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come within {seconds} s on {self.driver.current_url}: {last}")

    def has(self, text, selector="body", seconds=10):
        return self.until(f"“{text}”", lambda: text in self.text(selector), seconds)

    def fill(self, selector, value):
        field = self.one(selector)
        if field.tag_name == "select":
            for option in field.find_elements(By.TAG_NAME, "option"):
                if option.get_attribute("value") == value:
                    return option.click()
            raise AssertionError(f"{selector} does not offer {value}")
        field.clear()
        field.send_keys(value)

    def click(self, selector):
        def act():
            element = self.one(selector)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()

        self.again(act)

    def submit(self, selector):
        """Presses a form's first button that sends it."""
        form = self.one(selector)
        button = form.find_elements(By.CSS_SELECTOR, "button:not([type=button])")[0]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()

    def say_yes(self):
        self.until("the question", lambda: self.all("#confirm[open]"))
        self.click("#confirm [data-yes]")

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def script(self, source, *arguments):
        return self.driver.execute_script(source, *arguments)

    def problems(self):
        """What the browser logged: errors of scripts, refused loads."""
        if self.is_firefox:
            return []
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
                # An answer with an error is one of the things that pages show.
                and "the server responded with a status of 4" not in entry["message"]]


class Server(Simulator):
    def __init__(self, binary, directory):
        super().__init__(binary, "--data-dir", directory)

    def close(self):
        self.stop()


class World:
    """A namespace for one test."""

    count = 0

    def __init__(self, browser, frozen=True):
        World.count += 1
        self.browser = browser
        self.name = f"console-{World.count}"
        root = Api(browser.simulator)
        body = {"random_seed": 7}
        if frozen:
            body["clock"] = {"freeze": "2026-01-05T09:00:00Z"}
        root.must("PUT", f"/_sim/namespaces/{self.name}", body)
        self.api = Api(browser.simulator, f"/ns/{self.name}")
        self.base = f"/ns/{self.name}/_sim/console"
        self.token = None

    def open(self, path=""):
        self.browser.open(self.base + path)

    def log_in(self, user="example-user-id"):
        self.token = log_in(self.api, user)
        return self.token

    def submit(self, **item):
        """Takes an item from capture to submission."""
        token = self.token or self.log_in()
        item = {"brand": "Nike", "style_name": "Air Jordan 1", **item}
        made = self.api.must("POST", "/sdk/captures", {"item": item}, token=token)
        for step in made["steps"]:
            self.api.must("PUT", f"/sdk/captures/{made['capture_id']}/images/{step['region_id']}", PICTURE, token=token)
        return self.api.must("POST", f"/sdk/captures/{made['capture_id']}/submit", token=token)["entrupy_id"]


TESTS = []


def test(function):
    TESTS.append(function)
    return function


# MARK: The live view


@test
def activity_is_live(browser, world):
    """Requests, changes and their order appear without a reload, and the state of the connection is shown."""
    world.open()
    browser.has("Nothing has happened here yet")
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    world.log_in()
    # A login is several requests, and the page is repainted at most once a second.
    browser.until("the rows", lambda: browser.all("table.feed") and {"/sdk/login", "Login"} <= set(re.findall(r"/sdk/login|Login", browser.text("table.feed"))))
    rows = [row.text for row in browser.all("tr[data-row]")]
    login = next(index for index, row in enumerate(rows) if "/sdk/login" in row)
    event = next(index for index, row in enumerate(rows) if "Login" in row)
    assert event < login, "a change stands above the request that made it, also on a frozen clock"


@test
def the_tail_stands_still(browser, world):
    """With an open entry nothing moves; what is new is counted, and comes on request."""
    world.log_in()
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row] a[data-soft]"))
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    row = next(row for row in browser.all("tr[data-row]") if "/sdk/login" in row.text)
    key = row.get_attribute("data-key")
    row.find_element(By.CSS_SELECTOR, "a[data-soft]").click()
    browser.until("the detail", lambda: browser.all("[data-detail] [data-exchange]"))
    assert "selected=" in browser.driver.current_url
    first = [row.get_attribute("data-key") for row in browser.all("tr[data-row]")]
    browser.click("[data-detail] details[data-key=sent-headers] summary")
    for _ in range(5):
        world.api("GET", "/sdk/session", token=world.token)
    browser.until("the count", lambda: browser.all("[data-news]:not([hidden])") and browser.text("[data-news]") == "5 new")
    assert browser.text("[data-follow]") == "Paused"
    assert [row.get_attribute("data-key") for row in browser.all("tr[data-row]")] == first, "rows moved"
    assert browser.one(f"[data-key='{key}']").get_attribute("aria-selected") == "true"
    assert browser.one("[data-detail] details[data-key=sent-headers]").get_attribute("open") is not None, "details closed"
    browser.click("[data-news]")
    browser.until("the new rows", lambda: browser.text("table.feed").count("/sdk/session") == 5)
    assert browser.text("[data-follow]") == "Following"


@test
def pausing_and_following(browser, world):
    world.log_in()
    world.open()
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    browser.keys("p")
    browser.until("the pause", lambda: browser.text("[data-follow]") == "Paused")
    world.api("GET", "/sdk/session", token=world.token)
    browser.until("the count", lambda: browser.text("[data-news]") == "1 new")
    assert "/sdk/session" not in browser.text("table.feed")
    browser.keys("p")
    browser.until("the row", lambda: "/sdk/session" in browser.text("table.feed"))


@test
def a_request_is_sent_again(browser, world):
    world.log_in()
    world.api("GET", "/sdk/session", token=world.token)
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row]"))
    browser.keys("j")
    browser.until("the selection", lambda: browser.all("tr[aria-selected=true]"))
    browser.keys(Keys.ENTER)
    browser.until("the detail", lambda: browser.all("[data-detail] [data-exchange]"))
    browser.keys("r")
    browser.has("Answered 200")
    browser.until("the journal", lambda: len(world.api.must("GET", "/_sim/requests?route=/sdk/session")["requests"]) == 2)
    browser.until("the new exchange", lambda: "~" in browser.driver.current_url or "%7E" in browser.driver.current_url)
    browser.keys(Keys.ESCAPE)
    browser.until("the closed entry", lambda: not browser.all("[data-detail]"))
    assert "selected=" not in browser.driver.current_url


@test
def a_request_is_edited_and_sent(browser, world):
    world.log_in()
    world.api("GET", "/sdk/session", token=world.token)
    sequence = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    world.open(f"/requests/{sequence['id']}")
    browser.keys("e")
    browser.until("the editor", lambda: browser.one("[data-editor]").is_displayed())
    browser.fill("#edit-path", "/sdk/results/NOPE2345")
    browser.submit("[data-editor]")
    browser.has("Answered 404")
    browser.until("its page", lambda: "/sdk/results/NOPE2345" in browser.text("h1"))
    assert world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]["status"] == 404
    browser.keys("e")
    browser.until("the editor", lambda: browser.one("[data-editor]").is_displayed())
    browser.fill("#edit-path", "/_sim/reset")
    browser.submit("[data-editor]")
    browser.until("the problem at its field", lambda: browser.one("#edit-path").get_attribute("aria-invalid") == "true")
    browser.has("must be a path of the platform")


@test
def a_page_that_comes_late_does_not_cover_the_next_one(browser, world):
    """The page is read again for an event while another one is on its way. The answer arrives last."""
    world.log_in()
    world.open("/users")
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    browser.script("""
        const real = window.fetch;
        window.asked = [];
        window.fetch = (url, options) => {
          if (options?.headers?.Accept !== "text/html") return real(url, options);
          const path = new URL(url, location.href).pathname.split("/").pop();
          return new Promise(resolve => window.asked.push({path, send: () => resolve(real(url, options))}));
        };""")

    def asked(count):
        browser.until(f"{count} pages", lambda: browser.script("return window.asked.length") >= count)
        return browser.script("return window.asked.map(page => page.path)")

    browser.script("document.querySelector('.side a[href$=\"/captures\"]').click()")
    assert asked(1) == ["captures"]
    world.api.must("GET", "/sdk/session", token=world.token)
    assert asked(2) == ["captures", "users"]
    browser.script("window.asked[0].send()")
    browser.until("the next page", lambda: browser.text("h1") == "Captures")
    browser.script("window.asked[1].send()")
    assert asked(3) == ["captures", "users", "captures"], "what happened meanwhile is shown too"
    browser.script("window.asked[2].send()")
    assert browser.text("h1") == "Captures"


@test
def the_editor_belongs_to_its_request(browser, world):
    """Another open entry brings its own text, also where something was typed."""
    world.log_in()
    world.api.must("POST", "/sdk/search", {}, token=world.token)
    world.api.must("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Air"}}, token=world.token)
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row]"))

    def open_entry(path):
        row = next(row for row in browser.all("tr[data-row]") if path in row.text and row.find_elements(By.CSS_SELECTOR, "a[data-soft]"))
        browser.script("arguments[0].querySelector('a[data-soft]').click()", row)
        browser.until("the entry", lambda: path in browser.text("[data-detail] h1"))

    open_entry("/sdk/search")
    browser.keys("e")
    browser.until("the editor", lambda: browser.one("[data-editor]").is_displayed())
    browser.fill("#edit-body", '{"limit": 1}')
    open_entry("/sdk/captures")
    assert not browser.one("[data-editor]").is_displayed()
    browser.keys("e")
    browser.until("the editor", lambda: browser.one("[data-editor]").is_displayed())
    assert "Nike" in browser.one("#edit-body").get_attribute("value")
    assert browser.one("[data-editor]").get_attribute("data-to") == browser.one("button[data-resend]").get_attribute("data-to")
    assert len(browser.all("tr[aria-selected=true]")) == 1
    browser.driver.back()
    browser.until("the list", lambda: not browser.all("[data-detail]"))


@test
def the_list_stays_while_entries_are_opened(browser, world):
    for _ in range(20):
        world.api("GET", "/sdk/session")
    world.open()
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    rows = [row.get_attribute("data-key") for row in browser.all("tr[data-row]")]
    browser.keys("j", "j", Keys.ENTER)
    browser.until("the entry", lambda: browser.all("[data-detail]"))
    assert browser.script("return document.activeElement.closest('[data-detail]') !== null"), "Enter brings the focus to the entry"
    # More than a page: the list that is fetched with the next entry does not have it any longer.
    for _ in range(150):
        world.api("GET", "/sdk/session")
    browser.until("the count", lambda: "150 new" in browser.text("[data-news]"))
    opened = browser.script("return location.href")
    browser.keys("j")
    browser.until("the next entry", lambda: browser.script("return location.href") != opened and not browser.all("#main[aria-busy]"))
    assert browser.one("tr[aria-selected=true]").get_attribute("data-key") == rows[2], "its row is marked"
    assert [row.get_attribute("data-key") for row in browser.all("tr[data-row]")] == rows
    browser.keys(Keys.ESCAPE)
    browser.until("the list", lambda: not browser.all("[data-detail]"))
    assert [row.get_attribute("data-key") for row in browser.all("tr[data-row]")] == rows, "the same place"
    browser.click("[data-news]")
    browser.until("the newest", lambda: browser.one("tr[data-row]").get_attribute("data-key") != rows[0])


@test
def questions_come_before_what_is_lost(browser, world):
    world.open("/rules")
    browser.click("#new-fault > summary")
    browser.one("#f-times").clear()
    browser.submit("#new-fault form")
    browser.has("every request until it is removed", "#confirm")
    browser.click("#confirm button[value=no]")
    assert not world.api.must("GET", "/_sim/faults")["faults"]
    world.api.must("PUT", "/_sim/snapshots/one")
    world.open("/namespaces")
    browser.fill("#sn-name", "one")
    browser.submit("form[data-done='The snapshot is saved']")
    browser.has("one exists already", "#confirm")
    browser.click("#confirm button[value=no]")
    item = world.submit()
    world.open(f"/items/{item}")
    browser.fill("#set-result", "unknown")
    browser.submit("form[data-done='The result is set']")
    browser.has("under review", "#confirm")
    browser.say_yes()
    browser.until("the result", lambda: world.api.must("GET", f"/_sim/authentications/{item}")["result"]["id"] == "unknown")
    browser.until("the message", lambda: browser.all(".message"))
    assert not any(button.text == "Undo" for button in browser.all(".message button")), "the review's own result is gone"
    assert browser.script("return document.activeElement !== document.body"), "the focus stays"


@test
def the_skip_link_skips(browser, world):
    world.open("/items")
    browser.keys(Keys.TAB, Keys.ENTER)
    browser.until("the content", lambda: browser.script("return document.activeElement.id") == "main")


@test
def an_exchange_is_copied(browser, world):
    world.log_in()
    entry = world.api.must("GET", "/_sim/requests?route=/sdk/login")["requests"][0]
    world.open(f"/requests/{entry['id']}")
    copied = {name: browser.script("return document.querySelector(`[data-copied='${arguments[0]}']`).textContent", name)
              for name in ["curl", "swift", "step", "verify"]}
    assert copied["curl"].startswith("curl -X POST") and "/sdk/login" in copied["curl"]
    assert "URLRequest(url:" in copied["swift"]
    assert "route: \"/sdk/login\"" in copied["step"]
    assert copied["verify"].endswith(f"--namespace {world.name} --url {browser.server}"), copied["verify"]
    command = copied["verify"].split()
    done = subprocess.run([BINARY, *command[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    browser.click("details[data-menu=copy] summary")
    browser.click("[data-copy=verify]")
    browser.has("Copied")


@test
def a_fault_is_made_from_a_request(browser, world):
    world.log_in()
    world.api("GET", "/sdk/session", token=world.token)
    entry = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    world.open(f"/requests/{entry['id']}")
    browser.keys("m")
    browser.until("the form", lambda: browser.all("#new-fault[open]") and browser.one("#f-route").get_attribute("value") == "/sdk/session")
    assert browser.one("#f-method").get_attribute("value") == "GET"
    browser.fill("#f-times", "1")
    browser.until("the command line", lambda: "entrupy-sim fault add --route /sdk/session --method GET --status 503 --times 1" in browser.text("#new-fault .cli"))
    browser.submit("#new-fault form")
    browser.has("The fault is made")
    fault = world.api.must("GET", "/_sim/faults")["faults"][0]
    assert fault["match"] == {"route": "/sdk/session", "method": "GET"} and fault["effect"] == {"status": 503} and fault["times"] == 1
    assert world.api("GET", "/sdk/session", token=world.token)[0] == 503
    browser.until("the count", lambda: "1 of 1 match" in browser.text())
    entry = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    world.open()
    browser.until("the pill", lambda: browser.all("tr[data-row] a.pill"))
    browser.click("tr[data-row] a.pill")
    browser.until("the rule", lambda: browser.all(f"tr[id='{fault['id']}'][aria-selected=true]"))


@test
def a_rule_says_why_it_did_not_match(browser, world):
    world.api.must("POST", "/_sim/faults", {"match": {"route": "/sdk/search", "method": "POST"}, "effect": {"status": 503}})
    world.log_in()
    world.api("GET", "/sdk/search", token=world.token)
    entry = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    world.open(f"/requests/{entry['id']}")
    browser.has("does not match")
    browser.click("details[data-key^=match-] > summary > .pill")
    cells = [row.text for row in browser.all("details[data-key^=match-] tbody tr")]
    assert any("route" in row and "yes" in row for row in cells) and any("method POST GET no" in row for row in cells), cells


@test
def the_search_has_chips_and_an_address(browser, world):
    world.log_in()
    world.api("GET", "/sdk/nowhere", token=world.token)
    world.open()
    browser.keys("/")
    browser.until("the field", lambda: browser.driver.switch_to.active_element.get_attribute("name") == "q")
    browser.keys("status:4xx", Keys.ENTER)
    browser.until("the chip", lambda: browser.all(".chips a"))
    browser.until("the rows", lambda: len(browser.all("tr[data-row]")) == 1)
    assert "q=status%3A4xx" in browser.driver.current_url
    browser.driver.refresh()
    browser.until("the rows again", lambda: len(browser.all("tr[data-row]")) == 1)
    browser.click(".chips a")
    browser.until("all rows", lambda: len(browser.all("tr[data-row]")) > 3)
    browser.fill("input[name=q]", "colour:red")
    browser.keys(Keys.ENTER)
    browser.has("colour: is not a search key")
    world.open("?q=status:abc")
    browser.has("must be a status such as 404")


@test
def pages_go_back_to_the_same_place(browser, world):
    for _ in range(60):
        world.api("GET", "/sdk/session")
    world.open()
    browser.until("the rows", lambda: len(browser.all("tr[data-row]")) >= 60)
    browser.script("scrollTo(0, 900)")
    browser.script("document.querySelectorAll('tr[data-row] a[data-soft]')[30].click()")
    browser.until("the detail", lambda: browser.all("[data-detail]"))
    browser.keys(Keys.ESCAPE)
    browser.until("the closed entry", lambda: not browser.all("[data-detail]"))
    assert browser.script("return scrollY") == 900
    browser.script("document.querySelector(\"nav.side a[href$='/items']\").click()")
    browser.until("the items", lambda: browser.text("h1") == "Items")
    browser.driver.back()
    browser.until("the place", lambda: browser.text("h1") == "Activity" and browser.script("return scrollY") == 900)


@test
def older_entries_are_pages(browser, world):
    for _ in range(130):
        world.api("GET", "/sdk/session")
    world.open()
    browser.until("the rows", lambda: len(browser.all("tr[data-row]")) == 100)
    browser.click("a[rel=next]")
    browser.until("the rest", lambda: len(browser.all("tr[data-row]")) == 30)
    browser.has("Back to the newest")


# MARK: Items


@test
def an_items_actions_work(browser, world):
    item = world.submit(customer_item_id="late-1")
    world.open(f"/items/{item}")
    browser.has("under review")
    browser.click("main [data-advance-to]")
    browser.until("the result", lambda: "authentic" in browser.text(".title"))
    browser.fill("#set-result", "invalid")
    browser.until("the reason's field", lambda: browser.one("#set-reason").is_displayed())
    browser.fill("#set-reason", "blurry_images")
    assert f"entrupy-sim items set {item} --result invalid --reason blurry_images --namespace {world.name}" in browser.text(".cli")
    browser.submit("form[data-done='The result is set']")
    browser.has("The result is set")
    found = world.api.must("GET", f"/_sim/authentications/{item}")["result"]
    assert found == {"id": "invalid", "final": True, "reason": "blurry_images"}, found
    browser.until("the page", lambda: "invalid" in browser.text(".title"))
    next(button for button in browser.all(".message button") if button.text == "Undo").click()
    browser.until("the undone result", lambda: world.api.must("GET", f"/_sim/authentications/{item}")["result"]["id"] == "authentic")
    world.api.must("PATCH", f"/_sim/authentications/{item}", {"result": "unknown"})
    world.api.must("PATCH", f"/_sim/authentications/{item}", {"flag": "flagged"})
    browser.until("the flag's form", lambda: browser.all("#flag-note"))
    browser.fill("#flag-note", "Seen again")
    browser.fill("#flag-result", "authentic")
    browser.submit("form[data-done='The flag is resolved']")
    browser.say_yes()
    browser.until("the flag", lambda: world.api.must("GET", f"/_sim/authentications/{item}")["flag"]["id"] == "resolved")
    assert world.api.must("GET", f"/_sim/authentications/{item}")["result"]["id"] == "authentic"
    browser.click("details[data-key=support] > summary")
    browser.fill("#support-message", "Which size is it?")
    browser.submit("form[data-done='The message is sent']")
    browser.has("The message is sent")
    browser.click("input[name=regions]")
    browser.fill("#retake-message", "Once more")
    browser.submit("form[data-done='The user is asked to take photos again']")
    browser.has("The user is asked to take photos again")
    kinds = [entry["event"] for entry in world.api.must("GET", f"/_sim/authentications/{item}")["timeline"]]
    assert "support.message" in kinds and "retake.requested" in kinds, kinds
    for kind in ["Support message", "Retake asked for", "Flag resolved"]:
        browser.has(kind)


@test
def why_draws_the_chain(browser, world):
    item = world.submit()
    world.api.must("POST", "/_sim/clock/advance", {"by": "5s"})
    world.open(f"/items/{item}")
    next(link for link in browser.all(".title a") if link.text == "Why?").click()
    browser.has("What would have changed it")
    labels = [link.get_attribute("aria-label") for link in browser.all("svg.chain a")]
    assert f"result of {item} fell due" in labels, labels
    assert any(label.startswith("POST /sdk/captures -> 201") for label in labels), labels
    browser.all("svg.chain a")[0].click()
    browser.until("the request's page", lambda: "/requests/sequence" in browser.driver.current_url)
    next(link for link in browser.all(".actions a") if link.text == "Why?").click()
    browser.until("its own chain", lambda: "Why: request" in browser.text(".title"))


@test
def a_webhook_is_fired_and_sent_again(browser, world):
    item = world.submit()
    world.api.must("POST", "/v2/webhooks", {"url": "http://127.0.0.1:9/hooks", "secret_key": "secret"}, token="demo-api-token")
    world.open(f"/items/{item}")
    browser.click("details[data-key=trigger] > summary")
    browser.fill("#trigger-event", "session.updated")
    browser.submit("form[data-done='The webhook is on its way']")
    browser.has("The webhook is on its way")
    browser.until("the delivery", lambda: world.api.must("GET", f"/_sim/webhook-deliveries?entrupy_id={item}")["deliveries"])
    world.open("/webhooks")
    browser.until("the delivery", lambda: browser.all("tr[data-row]"))
    before = len(world.api.must("GET", "/_sim/webhook-deliveries")["deliveries"])
    browser.click("tr[data-row] button[data-call=POST]")
    browser.has("It is sent again")
    browser.until("the delivery", lambda: len(world.api.must("GET", "/_sim/webhook-deliveries")["deliveries"]) == before + 1)
    # The item's later deliveries wait for its first one.
    browser.click("tr[data-row]:last-child a.main")
    browser.has("Attempts")
    browser.until("the first attempt", lambda: "no answer" in browser.text() or "refused" in browser.text(), 20)


@test
def a_signature_is_checked(browser, world):
    world.open("/webhooks/check")
    browser.fill("#c-secret", "secret")
    browser.fill("#c-signature", "SHA256:AAAA")
    browser.fill("#c-body", "{}")
    browser.submit("form[data-shows-answer]")
    browser.has("It does not fit")
    right = browser.one("[data-answer] td").text
    browser.fill("#c-signature", right)
    browser.submit("form[data-shows-answer]")
    browser.has("It fits, in the form")


@test
def items_are_searched_and_paged(browser, world):
    world.api.must("POST", "/_sim/authentications", {"count": 120, "template": {"brand": "Gucci", "result": "unknown", "customer_item_id": "bag-{n}"}})
    world.api.must("POST", "/_sim/clock/advance", {"by": "1m"})
    item = world.submit(customer_item_id="shoe-1")
    world.open("/items")
    browser.until("the rows", lambda: len(browser.all("tr[data-row]")) == 50)
    assert item in browser.text("tr[data-row]"), "the newest comes first"
    browser.until("the photo", lambda: browser.script("const i = document.querySelector('img.thumb'); return i && i.complete && i.naturalWidth > 0"))
    browser.click("a[rel=next]")
    browser.until("the second page", lambda: item not in browser.text("main"))
    world.open("/items?text=shoe-")
    browser.until("the one", lambda: len(browser.all("tr[data-row]")) == 1)
    world.open("/items")
    browser.fill("#f-result", "unknown")
    browser.submit("form.search")
    browser.until("the filter", lambda: "result=unknown" in browser.driver.current_url and item not in browser.text("main"))
    world.open("/items?text=nothing-like-this")
    browser.has("No item fits this search")


@test
def twenty_items_are_made_from_the_empty_page(browser, world):
    world.open("/items")
    browser.has("There are no items yet")
    browser.click("form[data-done='20 items were made'] button")
    browser.until("the items", lambda: len(browser.all("tr[data-row]")) == 20)
    assert world.api.must("GET", "/_sim/info")["namespace"]["counts"]["authentications"] == 20


# MARK: Time


@test
def the_clock_is_steered(browser, world):
    world.submit()
    world.open()
    assert browser.text("[data-clock]") == "2026-01-05 09:00:00"
    browser.click("[data-advance='1m']")
    browser.until("the minute", lambda: browser.text("[data-clock]") == "2026-01-05 09:01:00")
    browser.click("[data-advance='2h']")
    browser.until("the hours", lambda: browser.text("[data-clock]") == "2026-01-05 11:01:00")
    browser.click("details[data-menu=due] summary")
    assert browser.all("details[data-menu=due] progress")
    browser.fill("details[data-menu=due] input[name=to]", "2026-01-05T12:00:00Z")
    browser.submit("details[data-menu=due] form")
    browser.until("the moment", lambda: world.api.must("GET", "/_sim/clock")["now"].startswith("2026-01-05T12:00:00"))
    browser.until("the head", lambda: browser.text("[data-clock]") == "2026-01-05 12:00:00")
    browser.fill("details[data-menu=due] input[name=to]", "2026-01-05T01:00:00Z")
    browser.submit("details[data-menu=due] form")
    browser.has("a clock never goes backwards")
    browser.click("details[data-menu=due] [data-advance-to=next]")
    browser.until("the session's end", lambda: world.api.must("GET", "/_sim/sessions")["total"] == 0)
    world.open()
    browser.click("[data-command='Let the clock run']")
    browser.until("the running clock", lambda: world.api.must("GET", "/_sim/clock")["mode"] == "running")
    before = browser.until("the mode", lambda: browser.all("[data-mode=running]") and browser.text("[data-clock]"))
    browser.until("a second", lambda: browser.text("[data-clock]") != before)
    browser.click("[data-command='Freeze the clock']")
    browser.until("the frozen clock", lambda: world.api.must("GET", "/_sim/clock")["mode"] == "frozen")


@test
def the_timeline_shows_and_advances(browser, world):
    item = world.submit()
    world.api.must("PUT", "/_sim/snapshots/one")
    world.open("/timeline")
    browser.until("the chart", lambda: browser.all("svg .past") and browser.all("svg .future") and browser.all("svg .snapshot"))
    lanes = [lane.text for lane in browser.all("svg text.lane")]
    assert {"Capture", "Review", "Sessions"} <= set(lanes), lanes
    due = next(mark for mark in browser.all("svg [data-advance-to]") if item in mark.get_attribute("aria-label"))
    browser.script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, button: 0}))", due)
    browser.until("the result", lambda: world.api.must("GET", f"/_sim/authentications/{item}")["result"]["final"])
    browser.has("Result set")
    browser.script("document.querySelector('svg a[href*=snapshot]').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")
    browser.until("the snapshot", lambda: browser.all("tr[id='snapshot-one'][aria-selected=true]"))
    for span in ["5m", "1h", "6h", "2d"]:
        world.open(f"/timeline?span={span}")
        browser.until("the chart", lambda: browser.all("svg .now"))


@test
def captures_count_down(browser, world):
    world.log_in()
    world.api.must("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Air"}}, token=world.token)
    world.open("/captures")
    browser.has("2 h")
    browser.click("tr[data-row] [data-advance-to]")
    browser.has("No capture is in progress")
    assert world.api.must("GET", "/_sim/captures?status=timed_out")["captures"]
    browser.click(".tabs a[href*=timed_out]")
    browser.until("the capture", lambda: "timed out" in browser.text("tr[data-row]"))


# MARK: Users, rules, settings, scenarios, namespaces


@test
def users_and_sessions(browser, world):
    world.log_in()
    world.open("/users")
    browser.has("DemoOrg-example-user-id")
    browser.has("4 logins this minute")
    assert len(browser.all("svg rect.bar")) == 60 and browser.all("svg .limit")
    browser.click("tr[data-key^=ses_] button.danger")
    browser.say_yes()
    browser.has("Nobody is logged in")
    assert world.api("GET", "/sdk/session", token=world.token)[0] == 401
    browser.click("tr[data-row] a.main[href*=example-user-id]")
    browser.until("the user", lambda: browser.all("#u-first"))
    browser.fill("#u-first", "Ada")
    browser.submit("form[data-done='The user is changed']")
    browser.until("the name", lambda: world.api.must("GET", "/_sim/users/DemoOrg-example-user-id")["first_name"] == "Ada")
    browser.fill("#l-sdk_per_second", "3")
    browser.submit("form[data-done='The limits are changed']")
    browser.until("the limit", lambda: world.api.must("GET", "/_sim/users/DemoOrg-example-user-id")["rate_limits"] == {"sdk_per_second": 3})
    # The page is read again after a change; only then the form is this test's.
    browser.until("the page", lambda: browser.all(".message") and not browser.all("#main[aria-busy]"))
    browser.fill("#u-email", "not an address")
    browser.script("const form = document.querySelector('#u-email').form; form.noValidate = true; form.requestSubmit()")
    browser.until("the problem", lambda: browser.one("#u-email").get_attribute("aria-invalid") == "true")


@test
def held_requests_are_released_and_dropped(browser, world):
    world.open("/rules")
    browser.click("#new-fault > summary")
    browser.fill("#f-effect", "hold")
    browser.fill("#f-route", "/sdk/session")
    browser.fill("#f-hold-for", "5m")
    browser.fill("#f-times", "2")
    browser.until("the command line", lambda: '--effect \'{"hold":{"for":"5m","when":"before"}}\'' in browser.text("#new-fault .cli"))
    browser.submit("#new-fault form")
    browser.until("the fault", lambda: [f["effect"] for f in world.api.must("GET", "/_sim/faults")["faults"]] == [{"hold": {"when": "before", "for": "5m"}}])
    for button in [".primary", ".danger"]:
        asking = Api(browser.simulator, f"/ns/{world.name}").connection
        asking.request("GET", f"/ns/{world.name}/sdk/session")
        browser.until("the held request", lambda: len(browser.all("tr[id^=hld_]")) == 1)
        assert "before it is handled" in browser.text("tr[id^=hld_]")
        browser.click(f"tr[id^=hld_] button{button}")
        browser.until("its end", lambda: not world.api.must("GET", "/_sim/held")["held"] and not browser.all("tr[id^=hld_]"))
        asking.close()
    browser.until("both in the journal", lambda: [r["status"] for r in world.api.must("GET", "/_sim/requests")["requests"]] == [None, 401])


@test
def rules_are_made_and_removed(browser, world):
    world.open("/rules")
    browser.click("#new-fault > summary")
    browser.fill("#f-effect", "delay")
    browser.until("the delay's field", lambda: browser.one("#f-delay").is_displayed() and not browser.one("#f-status").is_displayed())
    browser.fill("#f-route", "/sdk/**")
    browser.fill("#f-delay", "soon")
    browser.submit("#new-fault form")
    browser.until("the problem at its field", lambda: browser.one("#f-delay").get_attribute("aria-invalid") == "true")
    browser.fill("#f-effect", "drop_connection")
    browser.until("the command line", lambda: "--effect drop_connection" in browser.text("#new-fault .cli"))
    browser.submit("#new-fault form")
    browser.until("the fault", lambda: [f["effect"] for f in world.api.must("GET", "/_sim/faults")["faults"]] == [{"drop_connection": True}])
    browser.click("details[data-key=new-webhook-fault] > summary")
    browser.fill("#w-effect", "wrong_signature")
    browser.submit("details[data-key=new-webhook-fault] form")
    browser.until("the fault", lambda: len(world.api.must("GET", "/_sim/faults")["faults"]) == 2)
    browser.until("both", lambda: len(browser.all("tr[id^=flt_]")) == 2)
    browser.fill("#f-effect", "drop_connection")
    browser.fill("#f-route", "/sdk/serach")
    browser.submit("#new-fault form")
    browser.until("the note", lambda: any("match.route no route of the server matches /sdk/serach; the nearest is POST /sdk/search" in message.text for message in browser.all(".message")))
    assert "undefined" not in browser.text(), browser.text()
    world.api.must("DELETE", f"/_sim/faults/{world.api.must('GET', '/_sim/faults')['faults'][-1]['id']}")
    browser.until("both again", lambda: len(browser.all("tr[id^=flt_]")) == 2)
    browser.click("tr[id^=flt_] button.danger")
    browser.until("its removal", lambda: len(world.api.must("GET", "/_sim/faults")["faults"]) == 1)
    browser.until("the offer", lambda: any(button.text == "Make it again" for button in browser.all(".message button")))
    next(button for button in browser.all(".message button") if button.text == "Make it again").click()
    browser.until("its return", lambda: len(world.api.must("GET", "/_sim/faults")["faults"]) == 2)
    browser.click("#new-outcome > summary")
    browser.fill("#o-customer", "late-*")
    browser.fill("#o-after", "3h")
    browser.submit("#new-outcome form")
    browser.until("the rule", lambda: world.api.must("GET", "/_sim/outcomes")["outcomes"])
    rule = world.api.must("GET", "/_sim/outcomes")["outcomes"][0]
    assert rule["match"] == {"customer_item_id": "late-*"} and rule["result"] == "unknown" and rule["after"] == "3h", rule
    world.api.must("POST", "/_sim/outcomes", {"match": {"customer_item_id": "x" * 224}, "result": "unknown"})
    for width in [820, 1440]:
        browser.driver.set_window_size(width, 1000)
        world.open("/rules")
        assert browser.script("return [...document.querySelectorAll('.scroll')].every(box => box.scrollWidth <= box.clientWidth)"), f"{width}: a long pattern is broken"
    browser.look("light", "wide")


@test
def settings_are_changed(browser, world):
    world.open("/settings")
    browser.click("input[data-limits=off]")
    browser.submit("#rate_limits form")
    browser.until("the limits", lambda: world.api.must("GET", "/_sim/settings")["rate_limits"] == "off")
    browser.until("the page", lambda: browser.one("input[data-limits=off]").is_selected())
    browser.click("input[data-limits=own]")
    browser.until("the fields", lambda: browser.one("#rl-sdk_per_second").is_displayed())
    browser.fill("#rl-sdk_per_second", "7")
    browser.submit("#rate_limits form")
    # Until it is there, the limits are the word "off".
    browser.until("the limit", lambda: "'sdk_per_second': 7" in str(world.api.must("GET", "/_sim/settings")["rate_limits"]))
    browser.fill("[name='result.delay']", "3h")
    browser.submit("#result form")
    browser.until("the delay", lambda: world.api.must("GET", "/_sim/settings")["result"]["delay"] == "3h")
    browser.fill("[name='result.delay']", "soon")
    browser.submit("#result form")
    browser.until("the problem", lambda: browser.one("[name='result.delay']").get_attribute("aria-invalid") == "true")


@test
def a_scenario_runs_and_turns_green(browser, world):
    world.open("/scenarios")
    browser.click("a[href$='/scenarios/burst-limit']")
    browser.has("It is not running in this namespace")
    browser.submit("form[data-done='The scenario is started']")
    browser.say_yes()
    browser.has("not all expectations are met yet")
    world.api.must("POST", "/_sim/clock/freeze")
    token = log_in(world.api, "example-user-id")
    for _ in range(3):
        status = world.api("GET", "/sdk/session", token=token)[0]
    assert status == 429
    world.api.must("POST", "/_sim/clock/advance", {"by": "2s"})
    world.api.must("GET", "/sdk/session", token=token)
    browser.has("all expectations are met", ".title")
    world.open("/scenarios/late-result-then-disputed")
    name = f"{world.name}-new"
    browser.fill("#s-namespace", name)
    browser.submit("form[data-goto=namespace]")
    browser.until("the new namespace", lambda: f"/ns/{name}/_sim/console/scenarios/late-result-then-disputed" in browser.driver.current_url)
    browser.has("Started at")


@test
def namespaces_and_snapshots(browser, world):
    world.log_in()
    world.open("/namespaces")
    name = f"{world.name}-made"
    browser.fill("#sn-name", "morning")
    browser.submit("form[data-done='The snapshot is saved']")
    browser.until("the snapshot", lambda: browser.all("tr[id='snapshot-morning']"))
    world.api.must("DELETE", "/_sim/sessions")
    browser.click("tr[id='snapshot-morning'] button[data-to$='/restore']")
    browser.say_yes()
    browser.until("the restored session", lambda: world.api.must("GET", "/_sim/sessions")["total"] == 1)
    browser.fill("tr[id='snapshot-morning'] input[name=namespace]", f"{name}-fork")
    browser.submit("tr[id='snapshot-morning'] form")
    browser.until("the fork", lambda: f"/ns/{name}-fork/_sim/console" in browser.driver.current_url)
    assert f"{name}-fork" in browser.text(".place summary")
    world.open("/namespaces")
    archive = pathlib.Path(tempfile.mkdtemp()) / "morning.tar"
    archive.write_bytes(world.api.bytes("GET", "/_sim/snapshots/morning"))
    browser.click("details[data-key=upload] > summary")
    browser.fill("#up-name", "again")
    browser.one("#up-file").send_keys(str(archive))
    browser.submit("form[data-upload]")
    browser.until("the upload", lambda: browser.all("tr[id='snapshot-again']"))
    browser.click("tr[id='snapshot-again'] button.danger")
    browser.say_yes()
    browser.until("its deletion", lambda: not browser.all("tr[id='snapshot-again']"))
    browser.fill("#n-name", name)
    browser.fill("#n-freeze", "2026-02-01T00:00:00Z")
    browser.submit("form[data-done='The namespace is made']")
    browser.until("the namespace", lambda: f"/ns/{name}/_sim/console" in browser.driver.current_url)
    browser.has("2026-02-01 00:00:00")
    browser.open(f"/ns/{name}/_sim/console/namespaces")
    browser.click(f"tr[id='ns-{name}-fork'] button.danger")
    browser.say_yes()
    browser.until("its deletion", lambda: not browser.all(f"tr[id='ns-{name}-fork']"))
    browser.click("details[data-menu=namespaces] > summary")
    browser.fill("#find-namespace", world.name)
    browser.until("the list", lambda: browser.all(f"[data-namespaces] a[href^='/ns/{world.name}/']"))
    browser.click(f"[data-namespaces] a[href^='/ns/{world.name}/']")
    browser.until("the namespace", lambda: browser.driver.current_url.endswith(f"/ns/{world.name}/_sim/console/namespaces"))
    browser.click("button[data-to$='/_sim/reset']")
    browser.say_yes()
    browser.has("was reset, or restored")
    assert world.api.must("GET", "/_sim/sessions")["total"] == 0


@test
def two_states_beside_each_other(browser, world):
    world.log_in()
    world.api.must("PUT", "/_sim/snapshots/morning")
    world.open("/namespaces")
    browser.click("a[href$='/diff']")
    browser.until("the page", lambda: browser.text("h1") == "Compare two states")
    # The first snapshot and now are chosen already.
    browser.click("form.search button")
    browser.has("No object differs")
    world.api.must("PATCH", "/_sim/settings", {"quota": 3})
    world.api.must("POST", "/_sim/authentications", {"brand": "Nike", "customer_item_id": "<b>\u202e'sku"})
    browser.click("form.search button")

    def are_shown():
        rows = [row.text for row in browser.all("main tbody tr")]
        assert any("setting" in row and "null → 3" in row.replace("–", "null") for row in rows), rows
        assert any("item" in row and "<b>" in row for row in rows), rows
        return "entrupy-sim diff snapshot:morning now" in browser.text(".cli")

    # The page before may still be there.
    browser.until("both changes", are_shown)


@test
def read_only_mode(browser, world):
    world.submit()
    world.open("/namespaces")
    browser.click("[data-read-only-mode=on]")
    browser.has("read-only", ".place")
    world.open("/items")
    assert not browser.all("main form[data-call]") and not browser.all("[data-advance]")
    world.open("/namespaces")
    browser.click("[data-read-only-mode=off]")
    browser.until("the actions", lambda: browser.all("#n-name"))


@test
def the_palette_finds_every_action(browser, world):
    world.open()
    browser.keys(Keys.CONTROL, "k")
    browser.until("the palette", lambda: browser.all("#palette[open]"))
    browser.keys(Keys.CONTROL + Keys.NULL)
    browser.one("#palette input").send_keys("go items")
    browser.until("the action", lambda: [item.text for item in browser.all("#palette-list li")] == ["Go to Items"])
    browser.one("#palette input").send_keys(Keys.ENTER)
    browser.until("the items", lambda: browser.text("h1") == "Items")
    browser.keys("?")
    browser.until("the keys", lambda: browser.all("#keys[open]"))
    browser.keys(Keys.ESCAPE)
    browser.until("their end", lambda: not browser.all("#keys[open]"))
    browser.keys(Keys.CONTROL, "k")
    browser.one("#palette input").send_keys("1 minute")
    browser.one("#palette input").send_keys(Keys.ENTER)
    browser.until("the minute", lambda: world.api.must("GET", "/_sim/clock")["now"].startswith("2026-01-05T09:01"))


@test
def hostile_names_are_text(browser, world):
    world.log_in()
    item = world.submit(customer_item_id=HOSTILE, style_name=HOSTILE)
    world.api.must("POST", "/_sim/faults", {"match": {"route": HOSTILE}, "effect": {"status": 503, "body": HOSTILE}})
    world.api.must("POST", "/_sim/outcomes", {"match": {"brand": HOSTILE}, "result": "unknown"})
    world.api("GET", "/sdk/x?" + "%3Cscript%3E", token=world.token, headers={"X-Sim-Test": "<img src=x onerror=document.title='owned'>"})
    for path in ["", "/items", f"/items/{item}", "/rules", "/timeline", "/captures?status=all", f"?q=test:{HOSTILE.replace('&', '%26').replace('#', '')}"]:
        world.open(path)
        browser.until("the page", lambda: browser.all("h1"))
        assert "owned" not in browser.driver.title, path
    world.open(f"/items/{item}")
    browser.has(HOSTILE)


@test
def what_is_gone_is_said(browser, world):
    world.open("/requests/req_forgotten")
    browser.has("The journal has no such request")
    world.open("?selected=req_forgotten")
    browser.has("The journal has forgotten this request")
    world.open("/items/NOPE2345")
    browser.has("Not found")
    browser.open("/ns/never-made/_sim/console")
    browser.has("entrupy-sim namespace make --url ")
    browser.has(" never-made")
    world.open()
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    Api(browser.simulator).must("DELETE", f"/_sim/namespaces/{world.name}")
    browser.has("was deleted", "h1")
    browser.problems()


@test
def a_server_that_stops_and_comes_back(browser, world):
    """The page says that the connection is lost, and goes on with the new server by itself."""
    directory = tempfile.mkdtemp()
    own = Server(BINARY, directory)
    browser.driver.get(own.url + "/_sim/console")
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    own.kill()
    browser.until("the loss", lambda: "connection lost" in browser.text("[data-live]"))
    browser.click("[data-command='Freeze the clock']")
    browser.has("The server does not answer")
    browser.script("document.querySelector('#main').insertAdjacentHTML('beforeend', `<p data-added=problem id=stale>The server does not answer. Start it again with entrupy-sim serve; this page reconnects by itself.</p>`)")
    process = Simulator.spawn(BINARY, "--data-dir", directory, "--port", str(own.port))
    try:
        browser.until("the new server", lambda: browser.text("[data-live]") == "live", 20)
        browser.until("the end of the problem", lambda: not browser.all("#stale"))
        browser.until("its clock", lambda: browser.all("[data-command='Freeze the clock']"))
        time.sleep(1.2)
        browser.click("[data-command='Freeze the clock']")
        browser.has("The clock is frozen")
    finally:
        process.terminate()
        process.wait()
        browser.driver.get("about:blank")
        browser.problems()


@test
def a_namespace_link_of_the_command_line_opens(browser, world):
    world.log_in()
    done = subprocess.run([BINARY, "requests", "show", "1", "--url", browser.server, "--namespace", world.name], capture_output=True, text=True)
    link = next(line for line in done.stderr.splitlines() if "/_sim/console/requests/" in line)
    browser.driver.get(link)
    browser.has("/v2/integrations/authorize-user", "h1")


@test
def one_repaint_a_second_under_load(browser, world):
    """A thousand requests a second: the page repaints at most once a second, and answers to the keyboard."""
    world.api.must("PATCH", "/_sim/settings", {"rate_limits": "off"})
    world.log_in()
    world.open()
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    browser.script("window.paints = 0; new MutationObserver(() => { window.paints += 1; }).observe(document.querySelector('#main'), {childList: true, subtree: true})")
    load = subprocess.Popen(["wrk", "-t1", "-c8", "-d4s", "-H", f"Authorization: Token {world.token}", f"{browser.server}/ns/{world.name}/sdk/session"],
                            stdout=subprocess.PIPE, text=True) if shutil.which("wrk") else None
    if not load:
        for _ in range(500):
            world.api("GET", "/sdk/session", token=world.token)
    else:
        load.wait()
        print("   ", next(line.strip() for line in load.stdout if "Requests/sec" in line))
    paints = browser.script("return window.paints")
    assert 1 <= paints <= 12, f"{paints} repaints in 4 s"
    start = time.monotonic()
    browser.keys("j")
    browser.until("the selection", lambda: browser.all("tr[aria-selected=true]"))
    assert time.monotonic() - start < 3


# MARK: What a reader sees first


def style(browser, selector, name):
    return browser.script("return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])", selector, name)


def colour(browser, name):
    """A colour of the style sheet, as the browser computes it."""
    return browser.script("""
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${arguments[0]})`;
        const found = getComputedStyle(probe).color;
        probe.remove();
        return found""", name)


def box(browser, selector):
    return browser.script("const {left, right, top, bottom, width, height} = document.querySelector(arguments[0]).getBoundingClientRect(); return {left, right, top, bottom, width, height}", selector)


def fail_a_webhook(world):
    """A subscription whose receiver is not there, and one delivery that was tried and another one that waits for it."""
    world.api.must("POST", "/v2/webhooks", {"url": DEAD, "secret_key": "secret"}, token="demo-api-token")
    item = world.submit()
    world.api.must("PATCH", f"/_sim/authentications/{item}", {"result": "unknown"})
    world.api.must("POST", f"/_sim/authentications/{item}/support-message", {"message": "Which size?"})
    world.api.must("POST", "/_sim/clock/advance", {"by": "0s"})
    return item


@test
def failing_subscriptions_are_red_and_come_first(browser, world):
    world.api.must("POST", "/v2/webhooks", {"url": "http://127.0.0.1:9/never", "secret_key": "s", "events": ["certificate.transfer"]}, token="demo-api-token")
    fail_a_webhook(world)
    world.open("/webhooks")
    rows = browser.all("table")[0].find_elements(By.CSS_SELECTOR, "tbody tr")
    assert "failing" in rows[0].get_attribute("class") and DEAD in rows[0].text and "connection refused" in rows[0].text, rows[0].text
    assert "failing" not in rows[1].text and "active" in rows[1].text
    assert style(browser, "tr.failing", "background-color") == colour(browser, "--bad-soft")
    first, *others = [row.text for row in browser.all("table[data-list] tr[data-row]")]
    assert "retrying" in first and "connection refused" in first and "waits for its next attempt, in 1 s" in first, first
    failed = browser.all("table[data-list] tr[data-row]")[0].get_attribute("data-key")
    assert any(f"waits for {failed}" in row for row in others), others
    assert browser.one(".tabs a:nth-child(2)").text == "failed"
    browser.click("tr.failing a")
    browser.until("the delivery", lambda: failed in browser.text("h1"))


@test
def activity_is_filtered_by_chips(browser, world):
    item = fail_a_webhook(world)
    world.open()
    assert [chip.text for chip in browser.all(".kinds a")] == ["all", "requests", "webhooks", "changes"]

    def choose(name):
        next(chip for chip in browser.all(".kinds a") if chip.text == name).click()
        browser.until("the chip", lambda: browser.text(".kinds a[aria-current]") == name)
        return [row.get_attribute("class").split() for row in browser.all("tr[data-row]")]

    kinds = {kind for row in choose("requests") for kind in row}
    assert not kinds & {"attempt", "change"}
    assert {kind for row in choose("changes") for kind in row} >= {"row", "change"} and not browser.all("tr.attempt")
    assert all("attempt" in row for row in choose("webhooks")) and browser.all("tr.attempt")
    assert "show%3Awebhooks" in browser.driver.current_url
    row = browser.one("tr.attempt")
    assert DEAD in row.text and "session." in row.text and "attempt 1: connection refused, retrying" in row.text, row.text
    line = browser.script("return parseFloat(getComputedStyle(arguments[0]).lineHeight)", row)
    for width in ["wide", "huge"]:
        browser.look("light", width)
        assert box(browser, "tr.attempt")["height"] < 2 * line, "an attempt is one line"
    browser.look("light", "wide")
    browser.click("tr.attempt a.main")
    browser.has("Attempts")
    assert item in browser.text()


@test
def a_long_address_leaves_the_reason_whole(browser, world):
    world.api.must("POST", "/v2/webhooks", {"url": f"http://127.0.0.1:9/{'x' * 200}", "secret_key": "secret"}, token="demo-api-token")
    world.submit()
    world.api.must("POST", "/_sim/clock/advance", {"by": "0s"})
    for width in [820, 1440]:
        browser.driver.set_window_size(width, 1000)
        world.open()
        browser.until("the attempt", lambda: browser.all("tr.attempt .reason"))
        assert browser.script("return [...document.querySelectorAll('tr.attempt .reason')].every(reason => reason.scrollWidth <= reason.clientWidth + 1)"), width
    browser.look("light", "wide")


@test
def the_search_finds_what_readers_know(browser, world):
    """A SKU with its item, a user without its organization, a word of a body; and no secret."""
    world.log_in("ada-lovelace")
    world.submit(customer_item_id="sku-1042")
    world.submit(customer_item_id="sku-2077", style_name="Panda Dunk")

    def found(text):
        browser.fill("input[name=q]", text)
        browser.keys(Keys.ENTER)
        browser.until("the search", lambda: browser.one("input[name=q]").get_attribute("value") == text and not browser.all("#main[aria-busy]"))
        return [row.text for row in browser.all("tr[data-row]")]

    world.open()
    rows = found("sku-1042")
    assert any("/sdk/captures" in row for row in rows) and any("Item submitted" in row for row in rows), rows
    assert "sku-1042" in browser.text(".found") and "sku-2077" not in browser.text(".found")
    everything = len(found("user:ada-lovelace"))
    assert everything == len(found("user:DemoOrg-ada-lovelace")) > 5 and len(found("user:lovelace")) == 0
    assert [row for row in found('"panda dunk"')] and not found("panda-dunk")
    for secret in (world.token, "demo-api-token"):
        # Nothing found would look as if it had not been sent.
        assert not found(secret) and "names a secret" in browser.text(".problem")
    assert not found("nothing-has-this")
    browser.click(".empty .button")
    browser.until("the list", lambda: browser.all("tr[data-row]"))
    browser.fill("input[name=q]", HOSTILE)
    browser.keys(Keys.ENTER)
    browser.has("Nothing that is kept fits this search")
    assert browser.driver.title != "owned"


@test
def a_phone_shows_cards(browser, world):
    sample(world)
    browser.look("light", "narrow")
    world.open("/webhooks")
    assert box(browser, ".bar")["height"] < 100, "the header is two lines"
    assert browser.one("[data-clock]").is_displayed() and not browser.one("[data-advance='1h']").is_displayed()
    assert box(browser, "#unfold")["width"] >= 24, "as large as a finger needs"
    browser.click("#unfold")
    assert browser.one("[data-advance='1h']").is_displayed() and browser.one("[data-open=palette]").is_displayed()
    browser.click("#unfold")
    place = box(browser, ".side a[aria-current]")
    assert place["left"] >= 0 and place["right"] <= 360, "the active section is in view"
    browser.script("document.querySelector('.side a[href$=\"/namespaces\"]').click()")
    browser.until("the namespaces", lambda: browser.text("h1").startswith("Namespaces"))
    assert 0 <= box(browser, ".side a[aria-current]")["left"] <= 360
    browser.script("document.querySelector('.side a[href$=\"/webhooks\"]').click()")
    browser.until("the webhooks", lambda: browser.text("h1") == "Webhooks")
    place = box(browser, ".side a[aria-current]")
    assert place["left"] >= 0 and place["right"] <= 360, "also after another one"
    for path in ["/webhooks", "/items", "/users", "/captures?status=all", "/rules", "/namespaces", ""]:
        world.open(path)
        browser.until("the rows", lambda: browser.all("main .scroll table tbody tr"))
        assert browser.script("""
            return [...document.querySelectorAll("main .scroll")].every(box => box.scrollWidth <= box.clientWidth + 1)"""), f"{path} is moved sideways"
        assert style(browser, "main .scroll table tbody tr", "display") in ("block", "flex"), path
        labels = browser.script("return [...document.querySelectorAll('main td[data-label]')].map(cell => getComputedStyle(cell, '::before').content)")
        assert path == "" or (labels and all(len(label) > 2 for label in labels)), path
    world.open("/timeline")
    chart, now = box(browser, ".chart"), box(browser, "svg line.now")
    assert chart["left"] <= now["left"] <= chart["right"], "now is in view"
    browser.look("light", "wide")


@test
def charts_fit_and_marks_stay_apart(browser, world):
    sample(world)
    for width in WIDTHS:
        browser.look("light", width)
        world.open("/users")
        page, chart, bars = box(browser, "main table"), box(browser, ".chart"), box(browser, ".chart svg")
        assert abs(chart["width"] - box(browser, "main .scroll")["width"]) < 2, width
        last = browser.script("return [...document.querySelectorAll('svg rect.bar')].at(-1).getBoundingClientRect().right")
        assert bars["width"] > .9 * chart["width"] and bars["right"] - last < bars["width"] / 60, (width, page)
        assert style(browser, ".chart svg text", "font-size") == "12px"
    browser.look("light", "wide")
    for span in ["", "?span=5m", "?span=1h", "?span=2d"]:
        world.open(f"/timeline{span}")
        overlaps = browser.script("""
            const marks = [...document.querySelectorAll("svg :is(.past, .future)")].map(mark => mark.getBoundingClientRect());
            return marks.flatMap((one, index) => marks.slice(index + 1).filter(other =>
                one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom).map(other => [one.left, other.left]))""")
        assert not overlaps, (span, overlaps)


@test
def scenarios_are_grouped_by_product(browser, world):
    world.open("/scenarios")
    assert [title.text for title in browser.all("main section > h2")] == ["Entrupy", "App Components"]
    assert "component-canceled" in browser.text("[data-key=group-components]") and "burst-limit" in browser.text("[data-key=group-entrupy]")
    world.api.must("POST", "/_sim/scenarios/component-verified/start", {})
    world.open("/scenarios")
    assert [title.text for title in browser.all("main section > h2")] == ["App Components", "Entrupy"]
    first = browser.all(".card")[0]
    assert "component-verified" in first.text and "running: 0 of" in first.text and len(browser.all(".card.running")) == 1


@test
def a_refusal_is_amber_and_a_failure_is_red(browser, world):
    item = fail_a_webhook(world)
    subscription = world.api.must("GET", "/_sim/webhooks")["webhooks"][0]["id"]
    delivery = world.api.must("GET", f"/_sim/webhook-deliveries?entrupy_id={item}")["deliveries"][0]["id"]
    world.open(f"/webhooks/deliveries/{delivery}")
    world.api.must("DELETE", f"/v2/webhooks/{subscription}", token="demo-api-token")
    browser.click("main button[data-call=POST]")
    browser.has("the subscription was deleted")
    assert browser.one(".message").get_attribute("class") == "message warn"
    assert style(browser, ".message", "border-left-color") == colour(browser, "--warn")
    world.open("/rules")
    browser.script("window.fetch = () => Promise.reject(new Error('gone'))")
    browser.click("[data-advance='1m']")
    browser.has("The server does not answer")
    assert style(browser, ".message", "border-left-color") == colour(browser, "--bad")


@test
def an_edited_request_is_sent_by_keys(browser, world):
    world.log_in()
    world.api("POST", "/sdk/search", {"limit": 3}, token=world.token)
    entry = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    world.open(f"/requests/{entry['id']}")
    browser.keys("e")
    browser.until("the body", lambda: browser.driver.switch_to.active_element.get_attribute("id") == "edit-body")
    field = browser.one("#edit-body")
    field.clear()
    field.send_keys('{"limit": "x"}')
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    browser.has("Answered 400")
    sent = world.api.must("GET", "/_sim/requests?limit=1")["requests"][0]
    assert world.api.must("GET", f"/_sim/requests/{sent['id']}?sequence={sent['sequence']}")["request"]["body"] == '{"limit": "x"}'


@test
def time_left_runs_with_the_clock(browser, world):
    """Counters and bars run while the clock does, and stand while it is frozen."""
    world.log_in()
    world.api.must("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Air"}}, token=world.token)

    def state():
        return browser.script("""
            return [...document.querySelectorAll("main [data-left], main progress")].map(part => part.value ?? part.textContent)""")

    def after(milliseconds):
        browser.driver.execute_async_script("setTimeout(arguments[1], arguments[0])", milliseconds)
        return state()

    for path in ["/captures", "/users"]:
        world.api.must("POST", "/_sim/clock/freeze")
        world.open(path)
        before = state()
        assert len(before) >= 2 and after(2500) == before, f"{path}: the clock is frozen"
        world.api.must("POST", "/_sim/clock/resume")
        world.open(path)
        before = state()
        if path == "/captures":
            # Two hours, and a second later less. That of a session shows no seconds.
            browser.until("the time", lambda: all(now != then for now, then in zip(state(), before)))
        bar = browser.script("return document.querySelector('main progress').value")
        browser.until("the bar", lambda: browser.script("return document.querySelector('main progress').value") > bar)
        world.api.must("POST", "/_sim/clock/freeze")
        browser.until("the frozen clock", lambda: browser.all("[data-mode=frozen]") and not browser.all("#main[aria-busy]"))
        before = after(1200)
        assert after(2500) == before, f"{path}: it stands again"


@test
def what_destroys_is_quiet_until_it_is_meant(browser, world):
    world.log_in()
    world.open()
    quiet, red = style(browser, "[data-follow] + *, .search button", "color"), colour(browser, "--bad")
    browser.script("document.activeElement.blur()")
    assert style(browser, "button.danger", "color") == colour(browser, "--ink") != red, quiet
    ActionChains(browser.driver).move_to_element(browser.one("button.danger")).perform()
    assert style(browser, "button.danger", "color") == red
    browser.click("button.danger")
    browser.until("the question", lambda: browser.all("#confirm[open]"))
    assert style(browser, "#confirm [data-yes]", "color") == red
    browser.keys(Keys.ESCAPE)


@test
def underlines_spare_ids(browser, world):
    fail_a_webhook(world)
    for path in ["", "/webhooks", "/timeline"]:
        world.open(path)
        browser.until("an id", lambda: browser.all("main a.mono"))
        # Below the underscores, which hang a tenth of the size or two below the line.
        distances = browser.script("""
            return [...document.querySelectorAll("main a.mono")].map(link => {
              const style = getComputedStyle(link);
              return style.textDecorationLine === "none" ? 1 : parseFloat(style.textUnderlineOffset) / parseFloat(style.fontSize) })""")
        assert min(distances) >= .3, (path, distances)


@test
def commands_of_empty_pages_work_as_pasted(browser, world):
    """Each command is pasted into each shell, in a namespace where the page is empty, and does what its page says."""
    programs = pathlib.Path(tempfile.mkdtemp())
    (programs / "entrupy-sim").symlink_to(BINARY)
    shells = [path for path in map(shutil.which, ["bash", "zsh"]) if path]
    name = f"{world.name}-empty"
    Api(browser.simulator).must("PUT", f"/_sim/namespaces/{name}", {"seed": "empty", "clock": {"freeze": "2026-01-05T09:00:00Z"}})
    api = Api(browser.simulator, f"/ns/{name}")

    def paste(shell, command, **more):
        flags = ["-f"] if shell.endswith("zsh") else ["--norc"]
        variables = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(programs), **more}
        done = subprocess.run([shell, *flags, "-c", command], capture_output=True, text=True, cwd=programs, timeout=60, env=variables)
        assert done.returncode == 0 and '"error"' not in done.stdout, (command, done.stdout, done.stderr)

    def journaled(route):
        return len(api.must("GET", f"/_sim/requests?route={route}&status=2xx")["requests"])

    def items():
        return api.must("GET", "/_sim/info")["namespace"]["counts"]["authentications"]

    effects = {
        "": [lambda: journaled("/v1/health"), items], "/items": [items], "/users": [lambda: len(api.must("GET", "/_sim/users")["users"])],
        "/webhooks": [lambda: len(api.must("GET", "/_sim/webhooks")["webhooks"])], "/components": [lambda: journaled("/components/**")],
        "/captures": [items], "/timeline": [items],
    }
    for shell in shells:
        for path, counts in effects.items():
            api.must("POST", "/_sim/reset")
            browser.open(f"/ns/{name}/_sim/console{path}")
            commands = [code.get_attribute("textContent") for code in browser.all("main .empty pre code")]
            assert len(browser.all("main .empty .copied [data-copy]")) == len(commands), f"{path}: a command without its button"
            assert len(commands) == len(counts), (path, commands)
            for command, count in zip(commands, counts):
                before = count()
                paste(shell, command)
                assert count() > before, command
    missing = f"{world.name}-typed"
    browser.open(f"/ns/{missing}/_sim/console")
    # This page is made before the server's address is known: it is that of the environment, or the default.
    paste(shells[0], browser.one("main pre code").get_attribute("textContent"), ENTRUPY_SIM_URL=browser.server)
    browser.open(f"/ns/{missing}/_sim/console")
    browser.has("Nothing has happened here yet")
    browser.problems()


# MARK: Rows, forms and small screens


def submit_row(browser):
    return next(row for row in browser.all("tr[data-row]") if "/submit" in row.text)


@test
def a_row_is_a_link_as_a_whole(browser, world):
    sample(world)
    for path in ["/items", "/webhooks", "/users", "/captures?status=all", "/audit", ""]:
        world.open(path)
        browser.until("the rows", lambda: browser.all("tr[data-row] a.main"))
        stops = browser.script("""
            return [...document.querySelectorAll("tr[data-row]:has(a.main)")].map(row =>
                [...row.querySelectorAll("a[href], button:not([data-advance-to])")].filter(part => part.tabIndex >= 0).length)""")
        assert set(stops) == {1}, f"{path}: one tab stop a row, not {stops}"
    row = submit_row(browser)
    # Marked text can be copied; the click that ends the marking opens nothing.
    browser.script("getSelection().selectAllChildren(arguments[0].cells[0]); arguments[0].cells[0].click()", row)
    assert "selected=" not in browser.driver.current_url
    browser.script("getSelection().removeAllRanges()")
    place = browser.script("const {left, top, width, height} = arguments[0].cells[0].getBoundingClientRect(); return [left + width / 2, top + height / 2]", row)
    tabs = len(browser.driver.window_handles)
    mine = browser.driver.current_window_handle
    if not browser.is_firefox:
        for kind in ["mousePressed", "mouseReleased"]:
            browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": place[0], "y": place[1], "button": "middle", "clickCount": 1})
        browser.until("another tab", lambda: len(browser.driver.window_handles) == tabs + 1)
        browser.driver.switch_to.window(next(handle for handle in browser.driver.window_handles if handle != mine))
        browser.until("the request there", lambda: "selected=" in browser.driver.current_url)
        browser.driver.close()
        browser.driver.switch_to.window(mine)
    row.find_elements(By.TAG_NAME, "td")[0].click()
    browser.until("the entry", lambda: browser.all("[data-detail]") and "/submit" in browser.text("[data-detail] h1"))
    world.open("/items")
    browser.until("the rows", lambda: browser.all("tr[data-row]"))
    browser.all("tr[data-row] td:last-child")[0].click()
    browser.until("the item", lambda: "/items/" in browser.driver.current_url)
    world.open("/items")
    browser.until("the rows", lambda: browser.all("tr[data-row]"))
    browser.script("document.querySelector('tr[data-row] a.main').focus()")
    browser.keys(Keys.ENTER)
    browser.until("the item", lambda: "/items/" in browser.driver.current_url)


@test
def a_path_is_cut_at_its_id_and_a_loss_is_a_mark(browser, world):
    world.log_in()
    world.api.must("POST", "/_sim/faults", {"match": {"route": "/sdk/captures/*/submit"}, "effect": {"drop_connection": True}, "times": 1})
    try:
        world.submit()
    except (ConnectionError, OSError, AssertionError, Exception):  # noqa: BLE001
        world.api.connection.close()
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row]"))
    row = submit_row(browser)
    state, decided = row.find_elements(By.TAG_NAME, "td")[1], row.find_elements(By.TAG_NAME, "td")[4]
    assert state.text.startswith("200") and state.find_elements(By.CSS_SELECTOR, ".mark.bad") and not state.find_elements(By.CSS_SELECTOR, ".pill")
    assert decided.text.split() == ["fault", "answer", "lost"], decided.text
    assert state.size["width"] < 100, "the status is a narrow column"
    assert "09:00:00 " in row.text.replace("\n", " "), "no .000 on a frozen clock"
    row.find_elements(By.TAG_NAME, "td")[0].click()
    browser.until("the entry", lambda: browser.all("[data-detail]"))
    cut, end, cell, text = browser.script("""
        const link = document.querySelector("tr[aria-selected] a.main"), head = link.querySelector(".head"), tail = head.nextElementSibling;
        return [head.scrollWidth - head.clientWidth, tail.getBoundingClientRect().right, link.closest("td").getBoundingClientRect().right, link.textContent]""")
    assert cut > 10 and end <= cell, f"the end of the path is seen: {cut}, {end}, {cell}"
    ends = browser.script("""
        return [...document.querySelectorAll(".feed .row:not(.attempt) .head")].map(head => head.nextElementSibling.getBoundingClientRect().right - head.closest("a").getBoundingClientRect().right)""")
    assert max(ends) < 1, "no end is cut"
    assert re.fullmatch(r"POST /sdk/captures/cap_[a-z0-9]+/submit", text), text
    world.open("?q=route:/sdk/login")
    browser.until("the login", lambda: browser.all(".feed .head"))
    assert browser.script("return [...document.querySelectorAll('.feed .head')].every(head => head.scrollWidth <= head.clientWidth + 1)"), "a path that has space is whole"


def command_of(browser, selector):
    return browser.text(f"{selector} .cli code")


def run_line(browser, line, directory):
    """Runs a command line of a form, as it would be pasted."""
    programs = pathlib.Path(tempfile.mkdtemp())
    (programs / "entrupy-sim").symlink_to(BINARY)
    return subprocess.run(["bash", "--norc", "-c", line], capture_output=True, text=True, cwd=directory, timeout=120,
                          env={"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(programs)})


LONG = "שלום-" + "long-name-" * 20


@test
def the_console_runs_a_capture(browser, world):
    world.open()
    browser.keys(Keys.CONTROL, "k")
    browser.until("the palette", lambda: browser.all("#palette[open]"))
    browser.keys(Keys.CONTROL + Keys.NULL)
    browser.one("#palette input").send_keys("run a capture")
    browser.one("#palette input").send_keys(Keys.ENTER)
    browser.until("the form", lambda: browser.driver.switch_to.active_element.get_attribute("id") == "c-sku")
    browser.fill("#c-sku", "sim-unknown-" + LONG)
    line = command_of(browser, "#new-capture")
    browser.submit("#new-capture form")
    browser.until("the item", lambda: re.search(r"/items/[A-Z0-9]{8}$", browser.driver.current_url), 30)
    world.api.must("POST", "/_sim/clock/advance", {"by": "1h"})
    made = world.api.must("GET", "/_sim/authentications")["authentications"]
    assert [(item["customer_item_id"], item["result"]["id"], item["brand"]) for item in made] == [("sim-unknown-" + LONG, "unknown", "nike")], made
    browser.has(LONG)
    browser.until("the photos", lambda: browser.all(".photos img"))
    assert browser.script("return document.documentElement.scrollWidth <= innerWidth + 1"), "a long name does not widen the page"
    ran = run_line(browser, line, tempfile.mkdtemp())
    assert ran.returncode == 0, (line, ran.stderr)
    assert len(world.api.must("GET", "/_sim/authentications")["authentications"]) == 2

    # What is refused is said at its field, and which request it was.
    world.open("/captures#new-capture")
    browser.until("the form", lambda: browser.one("#c-sku").is_displayed())
    browser.fill("#c-sku", "sku-1")
    browser.fill("#c-user", "a b")
    browser.submit("#new-capture form")
    browser.until("the problem at its field", lambda: browser.one("#c-user").get_attribute("aria-invalid") == "true")
    browser.has("POST /v2/integrations/authorize-user was answered 400")
    browser.fill("#c-user", "tester-1")
    for effect, said in [({"status": 503}, "was answered 503"), ({"drop_connection": True}, "was not answered: the connection was reset"), ({"malformed_json": True}, "was answered with a body that cannot be read")]:
        # A browser sends a request again by itself whose connection was reset.
        world.api.must("POST", "/_sim/faults", {"match": {"route": "/sdk/captures"}, "effect": effect, "times": 9 if "drop_connection" in effect else 1})
        browser.submit("#new-capture form")
        browser.has(f"POST /sdk/captures {said}")
        assert browser.one("#c-sku").get_attribute("value") == "sku-1", "what was typed stays"
        world.api.must("DELETE", "/_sim/faults")
    browser.problems()
    browser.script("window.fetch = () => Promise.reject(new Error('gone'))")
    browser.submit("#new-capture form")
    browser.has("The server does not answer", "#new-capture")
    browser.problems()


@test
def an_item_is_made_by_a_form(browser, world):
    world.open("/items#new-item")
    browser.until("the form", lambda: browser.one("#i-brand").is_displayed())
    browser.fill("#i-brand", "Louis Vuitton")
    browser.fill("#i-sku", LONG + "'$x")
    browser.fill("#i-result", "invalid")
    browser.until("the reason", lambda: browser.one("#i-reason").is_displayed())
    browser.fill("#i-reason", "blurry_images")
    line = command_of(browser, "#new-item")
    browser.submit("#new-item form")
    browser.until("the row", lambda: browser.all("tr[data-row]"))
    assert "Louis Vuitton" in browser.text("tr[data-row]") and "louis_vuitton" not in browser.text("table")
    ran = run_line(browser, line, tempfile.mkdtemp())
    assert ran.returncode == 0, (line, ran.stderr)
    items = world.api.must("GET", "/_sim/authentications")["authentications"]
    facts = [(item["customer_item_id"], item["brand"], item["result"]) for item in items]
    assert len(facts) == 2 and facts[0] == facts[1] == (LONG + "'$x", "louis_vuitton", {"id": "invalid", "final": True, "reason": "blurry_images"}), facts
    browser.until("the empty form", lambda: browser.one("#i-sku").get_attribute("value") == "")
    browser.fill("#i-user", "nobody")
    browser.submit("#new-item form")
    browser.until("the problem at its field", lambda: browser.one("#i-user").get_attribute("aria-invalid") == "true")
    browser.script("window.fetch = () => Promise.reject(new Error('gone'))")
    browser.submit("#new-item form")
    browser.has("The server does not answer", "#new-item")


@test
def a_receiver_is_subscribed_by_a_form(browser, world):
    world.open("/webhooks#new-subscription")
    browser.until("the form", lambda: browser.one("#w-url").is_displayed())
    browser.fill("#w-url", "nowhere")
    browser.fill("#w-secret", "it's secret")
    browser.submit("#new-subscription form")
    browser.until("the problem at its field", lambda: browser.one("#w-url").get_attribute("aria-invalid") == "true")
    url = DEAD + "/" + "long" * 40
    browser.fill("#w-url", url)
    browser.click("#new-subscription input[value='session.completed']")
    browser.click("#new-subscription input[value='support.message']")
    line = command_of(browser, "#new-subscription")
    browser.submit("#new-subscription form")
    browser.until("the row", lambda: browser.all("tr[id^=wh_]"))
    made = world.api.must("GET", "/_sim/webhooks")["webhooks"]
    assert [(one["url"], one["events"]) for one in made] == [(url, ["session.completed", "support.message"])], made
    ran = run_line(browser, line, tempfile.mkdtemp())
    assert ran.returncode == 0 and "there already" in ran.stderr, (line, ran.stderr)
    browser.fill("#w-url", url)
    browser.fill("#w-secret", "s")
    browser.submit("#new-subscription form")
    browser.until("the question", lambda: browser.all("#confirm[open]"))
    browser.has("is subscribed already", "#confirm")
    browser.keys(Keys.ESCAPE)
    browser.until("its end", lambda: not browser.all("#confirm[open]"))
    assert len(world.api.must("GET", "/_sim/webhooks")["webhooks"]) == 1


@test
def a_report_is_written_by_a_form(browser, world):
    item = world.submit(customer_item_id=HOSTILE)
    files = pathlib.Path(tempfile.mkdtemp())
    if not browser.is_firefox:
        browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(files)})
    world.open("/report")
    browser.fill("#r-name", "what-i-saw")
    line = command_of(browser, "main form")
    assert line.startswith("entrupy-sim bundle -o what-i-saw.bundle.tar --namespace") and line.endswith("&& entrupy-sim report what-i-saw.bundle.tar -o what-i-saw.html"), line
    browser.submit("main form")
    browser.has("The report is written")
    if not browser.is_firefox:
        browser.until("the file", lambda: (files / "what-i-saw.html").exists())
        text = (files / "what-i-saw.html").read_text()
        assert item in text and "/sdk/captures" in text and HOSTILE not in text and "demo-api-token" not in text
        browser.driver.get((files / "what-i-saw.html").as_uri())
        browser.has(item)
        assert "owned" not in browser.driver.title
    directory = tempfile.mkdtemp()
    ran = run_line(browser, line, directory)
    assert ran.returncode == 0 and (pathlib.Path(directory) / "what-i-saw.html").exists(), (line, ran.stderr)
    assert world.api("GET", "/_sim/console/report/..%2Fx.html")[0] == 404
    world.open("/report")
    browser.script("window.fetch = () => Promise.reject(new Error('gone'))")
    browser.submit("main form")
    browser.has("The server does not answer", "main form")


@test
def the_testers_page_can_be_done_in_the_console(browser, world):
    """The scenario of docs/start-tester.md, without a shell."""
    world.open("/scenarios/signed-request-used-twice")
    browser.submit("form[data-done='The scenario is started']")
    browser.say_yes()
    browser.has("not all expectations are met yet")
    for number in [1, 2]:
        world.open("/captures#new-capture")
        browser.until("the form", lambda: browser.one("#c-sku").is_displayed())
        browser.fill("#c-sku", f"sku-{number}")
        if number == 1:
            browser.click("#new-capture [name=login_twice]")
            browser.until("the command", lambda: "--login-twice" in command_of(browser, "#new-capture"))
        browser.submit("#new-capture form")
        browser.until("the item", lambda: "/items/" in browser.driver.current_url, 30)
    world.open("/scenarios/signed-request-used-twice")
    browser.has("all expectations are met")
    assert "not all" not in browser.text(".title")


@test
def settings_wait_for_a_change(browser, world):
    def state():
        return browser.script("""
            return [...document.querySelectorAll("main form")].map(form => [form.querySelector("button:not([type=button])").disabled,
                Boolean(form.querySelector(".cli:not([hidden])"))])""")

    world.open("/settings")
    browser.until("the forms", lambda: len(state()) > 3)
    assert all(one == [True, False] for one in state()), state()
    field = browser.one("[name='result.delay']")
    before = field.get_attribute("value")
    browser.fill("[name='result.delay']", "3h")
    browser.until("the command", lambda: "3h" in command_of(browser, "#result form"))
    assert sorted(state()) == sorted([[False, True]] + [[True, False]] * (len(state()) - 1))
    field.clear()
    field.send_keys(before)
    browser.until("nothing to do", lambda: all(one == [True, False] for one in state()))
    browser.click("input[data-limits=off]")
    browser.until("the command", lambda: "off" in command_of(browser, "#rate_limits form"))
    browser.click("input[data-limits=own]")
    # Own limits that are not given yet are no command.
    browser.until("no command", lambda: not browser.all("#rate_limits .cli:not([hidden])"))
    world.open("/settings")
    browser.keys(Keys.CONTROL, "k")
    browser.until("the palette", lambda: browser.all("#palette[open]"))
    browser.keys(Keys.CONTROL + Keys.NULL)
    browser.one("#palette input").send_keys("settings of result")
    browser.until("the form can be gone to", lambda: len(browser.all("#palette-list li[id]")) == 1)


@test
def the_fault_form_breaks_one_request_and_says_how(browser, world):
    world.open("/rules#new-fault")
    for form, prefix in [("#new-fault", "#f-"), ("details[data-key=new-webhook-fault]", "#w-")]:
        browser.script("document.querySelector(arguments[0]).open = true", form)
        for effect in browser.script("return [...document.querySelector(arguments[0]).options].map(option => option.value)", f"{prefix}effect"):
            browser.fill(f"{prefix}effect", effect)
            words = [hint.text for hint in browser.all(f"{prefix}about .hint") if hint.is_displayed()]
            assert len(words) == 1 and words[0].endswith("."), (effect, words)
    world.open()
    world.open("/rules#new-fault")
    browser.submit("#new-fault form")
    browser.until("the fault", lambda: [(fault["effect"], fault["times"]) for fault in world.api.must("GET", "/_sim/faults")["faults"]] == [({"status": 503}, 1)])
    assert not browser.all("#confirm[open]")
    browser.until("the new form", lambda: browser.one("#f-times").get_attribute("value") == "1")
    browser.one("#f-times").clear()
    browser.submit("#new-fault form")
    browser.until("the question", lambda: browser.all("#confirm[open]"))
    browser.has("every request until it is removed", "#confirm")
    browser.keys(Keys.ESCAPE)


@test
def a_phone_opens_requests_in_view_and_needs_no_keyboard(browser, world):
    sample(world)
    browser.look("light", "narrow")
    world.open()
    browser.until("the rows", lambda: len(browser.all("tr[data-row]")) > 20)
    row = browser.all("tr[data-row]:has(a[data-soft])")[8]
    browser.script("arguments[0].scrollIntoView({block: 'center'})", row)
    before = browser.script("return scrollY")
    row.find_elements(By.CSS_SELECTOR, "td.what")[0].click()
    browser.until("the entry", lambda: browser.all("[data-detail]"))
    browser.until("its beginning", lambda: 0 <= box(browser, "[data-detail] h1")["top"] < 300)
    browser.click("[data-detail] [data-back]")
    browser.until("the list", lambda: not browser.all("[data-detail]"))
    browser.until("the same place", lambda: abs(browser.script("return scrollY") - before) < 60)
    browser.click("#unfold")
    keys = browser.script("return [...document.querySelectorAll('body :is(button, .button) kbd, [data-open=keys]')].filter(part => part.checkVisibility()).length")
    assert keys == 0, "nothing is offered that needs a keyboard"
    browser.click("[data-open=palette]")
    browser.until("the palette", lambda: browser.all("#palette[open]"))
    assert "List of keys" not in browser.text("#palette-list")
    browser.keys(Keys.ESCAPE)
    world.open("/timeline")
    for place in [0, 300, 5000]:
        browser.script("document.querySelector('.chart').scrollLeft = arguments[0]", place)
        chart, label = box(browser, ".chart"), box(browser, ".labels text.lane")
        assert chart["left"] <= label["left"] and label["right"] <= chart["left"] + 130, (place, chart, label)
        assert label["height"] > 9, "the names can be read"
    assert len(browser.all(".legend.marks li")) >= 7
    browser.look("light", "wide")


@test
def ten_thousand_requests_leave_the_forms_usable(browser, world):
    world.api.must("PATCH", "/_sim/settings", {"journal": {"entries": 10000}})
    for _ in range(1000 if SHORT else 10000):
        world.api("GET", "/v1/nothing")
    world.open("/report")
    started = time.monotonic()
    browser.submit("main form")
    browser.has("The report is written", seconds=120)
    assert time.monotonic() - started < 120
    world.open("/captures#new-capture")
    browser.until("the form", lambda: browser.one("#c-sku").is_displayed())
    browser.fill("#c-sku", "sku-1")
    browser.submit("#new-capture form")
    browser.until("the item", lambda: "/items/" in browser.driver.current_url, 30)


@test
def the_navigation_is_in_groups(browser, world):
    world.open("/items")
    titles = [title.text for title in browser.all(".side .group")]
    assert titles == ["What happens", "What is there", "Decide", "Judge", "Server"], titles
    names = browser.script("return [...document.querySelectorAll('.side ul')].map(list => document.getElementById(list.getAttribute('aria-labelledby')).textContent)")
    assert names == titles
    assert browser.text(".side a[aria-current=page]") == "Items"


PICTURE_SIZE = (1500, 760)


def take_picture(browser, name):
    """Makes a picture of the docs, of what the window shows."""
    size = {"width": PICTURE_SIZE[0], "height": PICTURE_SIZE[1], "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    # A picture shows neither the bar of the window nor a mark of the focus.
    browser.script("document.documentElement.style.overflow = 'hidden'; document.activeElement.blur()")
    (PICTURES / name).write_bytes(browser.driver.get_screenshot_as_png())


@test
def the_pictures_of_the_docs(browser, world):
    """Makes every picture that the docs show. `--pictures docs/images` puts them there; otherwise they are compared in size."""
    if browser.is_firefox:
        return
    items = sample(world)
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row] a[data-soft]"))
    row = next(row for row in browser.all("tr[data-row]") if "/submit" in row.text)
    browser.script("arguments[0].querySelector('a[data-soft]').click()", row)
    browser.until("the detail", lambda: items[-1] in browser.text("[data-detail]"))
    browser.until("the connection", lambda: browser.text("[data-live]") == "live")
    take_picture(browser, "console-live.png")
    world.open("/timeline")
    browser.until("the chart", lambda: browser.all("svg .past") and browser.text("[data-live]") == "live")
    take_picture(browser, "console-timeline.png")
    browser.look("light", "wide")
    shown = {name for file in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] for name in re.findall(r"images/([\w-]+\.png)", file.read_text())}
    assert shown == {file.name for file in PICTURES.glob("console-*.png")}, "each picture of the docs is made here"
    for name in shown:
        # The width and the height of a PNG.
        sizes = [(directory / name).read_bytes()[16:24] for directory in (PICTURES, ROOT / "docs" / "images")]
        assert sizes[0] == sizes[1], f"{name} has another size: make pictures"


# MARK: Every page


PAGES = ["", "/items", "/explain/event:1", "/audit", "/timeline", "/captures?status=all", "/users", "/users/DemoOrg-example-user-id", "/components", "/rules?route=/sdk/x", "/scenarios",
         "/scenarios/late-result-then-disputed", "/webhooks", "/webhooks/check", "/coverage", "/report", "/namespaces", "/diff?from=now&to=namespace:default", "/settings"]


def sample(world):
    """A namespace with something of everything."""
    world.api.must("POST", "/v2/webhooks", {"url": "http://127.0.0.1:9/hooks", "secret_key": "secret"}, token="demo-api-token")
    world.api.must("POST", "/_sim/outcomes", {"match": {"customer_item_id": "late-*"}, "result": "unknown", "after": "3h"})
    world.api.must("POST", "/_sim/faults", {"match": {"route": "/sdk/search"}, "effect": {"status": 503}, "times": 2})
    world.log_in()
    items = []
    for number, (brand, name) in enumerate([("Nike", "sku-1042"), ("Gucci", "late-77"), ("Adidas", "sim-invalid"), ("Nike", "sku-1043")]):
        items.append(world.submit(brand=brand, customer_item_id=name))
        world.api.must("POST", "/_sim/clock/advance", {"by": f"{7 + number * 4}m"})
    world.api.must("PATCH", f"/_sim/authentications/{items[2]}", {"flag": "flagged"})
    world.api("POST", "/sdk/search", {}, token=world.token)
    world.api("POST", "/sdk/search", {}, token=world.token)
    world.api("GET", "/sdk/results/NOPE2345", token=world.token, headers={"X-Sim-Test": "checkout"})
    world.api.must("PUT", "/_sim/snapshots/before-dispute")
    world.api.must("POST", f"/_sim/authentications/{items[2]}/flag/resolve", {"note": "Seen again", "result": "authentic"})
    world.api.must("POST", "/sdk/captures", {"item": {"brand": "Nike", "style_name": "Air", "customer_item_id": "open-1"}}, token=world.token)
    code = world.api("POST", "/components/v1/workflows/onboarding/validationcode", {}, token="demo-api-token")[1]
    world.api("POST", "/components/sessions", {"configuration": {"validationCode": code.get("validationCode", "")}})
    return items


@test
def every_page_is_accessible(browser, world):
    """axe finds nothing, in both schemes and at two widths, no page is wider than the window, and screenshots are taken."""
    from axe_core_python.selenium import Axe
    items = sample(world)
    entry = world.api.must("GET", "/_sim/requests?route=/sdk/captures/*/submit&limit=1")["requests"][0]
    delivery = world.api.must("GET", "/_sim/webhook-deliveries")["deliveries"][0]
    pages = PAGES + [f"/items/{items[1]}", f"/items/{items[2]}", f"/requests/{entry['id']}", f"?selected={entry['id']}",
                     f"/webhooks/deliveries/{delivery['id']}", "/nothing"]
    axe = Axe()
    found = []
    looks = [("light", "wide"), ("dark", "narrow")] if SHORT else [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]
    for scheme, width in looks:
        browser.look(scheme, width)
        for path in pages:
            world.open(path)
            browser.until("the page", lambda: browser.all("h1"))
            for summary in browser.all("main details.box:not([open]) > summary"):
                browser.script("arguments[0].parentNode.open = true", summary)
            for violation in axe.run(browser.driver)["violations"]:
                for node in violation["nodes"]:
                    found.append(f"{scheme} {width} {path or '/'}: {violation['id']}: {node['html'][:160]}: {node.get('failureSummary', '')[:200]}")
            wide = browser.script("return document.documentElement.scrollWidth - innerWidth")
            if wide > 1:
                widest = browser.script("""
                    return [...document.querySelectorAll("body *")]
                        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .chart, .side, details:not([open]) > :not(summary)"))
                        .map(e => `${e.tagName}.${e.className}`).slice(0, 4).join(" ")""")
                found.append(f"{scheme} {width} {path or '/'}: {wide} px wider than the window: {widest}")
            if SCREENSHOTS:
                name = (path.strip("/?").replace("/", "-").split("=")[0] or "activity").replace(items[1], "item").replace(items[2], "item-2")
                name = name.replace(entry["id"], "one").replace(delivery["id"], "one")
                world.open(path)
                browser.until("the page", lambda: browser.all("h1"))
                browser.driver.save_screenshot(str(SCREENSHOTS / f"{name}-{scheme}-{width}.png"))
    browser.look("light", "wide")
    for line in sorted(set(found))[:60]:
        print("   ", line)
    assert not found, f"{len(found)} findings"
    browser.problems()


@test
def a_report_opens_from_a_file(browser, world):
    """A bundle becomes one page that is searched without a server, and loads nothing."""
    items = sample(world)
    hostile = world.submit(customer_item_id=HOSTILE)
    large = world.api.must("POST", "/sdk/captures", {"item": {"brand": "Gucci", "style_name": "Bag", "customer_item_id": "large"}}, token=world.token)
    for number, step in enumerate(large["steps"]):
        # A comment makes the file larger than a report takes.
        comment = b"\xff\xfe\xff\xf0" + bytes([number]) * 65518
        world.api.must("PUT", f"/sdk/captures/{large['capture_id']}/images/{step['region_id']}", PICTURE[:2] + comment * 9 + PICTURE[2:], token=world.token)
    large = world.api.must("POST", f"/sdk/captures/{large['capture_id']}/submit", token=world.token)["entrupy_id"]
    directory = pathlib.Path(tempfile.mkdtemp())
    bundle, page = directory / "failure.bundle.tar", directory / "failure.html"
    bundle.write_bytes(world.api.bytes("GET", "/_sim/bundle"))
    before = bundle.read_bytes()
    done = subprocess.run([BINARY, "report", bundle, "-o", page], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Pictures that are left out" in done.stderr, done.stderr
    assert bundle.read_bytes() == before
    text = page.read_text()
    print(f"    report: {len(text) / 1e6:.2f} MB")
    assert len(text) < 5_000_000
    assert world.token not in text and "demo-api-token" not in text and "<script>document.title" not in text
    browser.driver.get(page.as_uri())
    browser.has("failure.bundle.tar", "h1")
    assert not browser.problems()
    total = len([entry for entry in browser.all("details[data-words]") if entry.is_displayed()])
    browser.one("#find").send_keys("status:503")
    browser.until("the search", lambda: browser.text("#found").startswith("2 of"))
    shown = [entry for entry in browser.all("details[data-words]") if entry.is_displayed()]
    assert len(shown) == 2 < total and all("/sdk/search" in entry.text for entry in shown)
    shown[0].find_element(By.CSS_SELECTOR, "summary").click()
    browser.until("the exchange", lambda: "Answer" in shown[0].text)
    browser.one("#find").clear()
    browser.one("#find").send_keys(items[1].lower())
    browser.until("the item", lambda: browser.one(f"[id='{items[1]}']").is_displayed())
    browser.click(f"[id='{items[1]}'] > summary")
    browser.until("its photo", lambda: browser.script("const i = document.querySelector(`[id='${arguments[0]}'] img`); return i && i.complete && i.naturalWidth > 0", items[1]))
    assert browser.one(f"[id='{items[1]}'] svg .past").is_displayed()
    browser.one("#find").clear()
    browser.one("#find").send_keys(hostile.lower())
    browser.until("the hostile item", lambda: HOSTILE in browser.text(f"[id='{hostile}']"))
    browser.script("document.getElementById(arguments[0]).open = true", large)
    assert "left out" in browser.script("return document.getElementById(arguments[0]).textContent", large)
    assert browser.script("return performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length") == 0
    assert not browser.problems()
    for wrong, code in [(page, 64), (directory / "none", 64)]:
        done = subprocess.run([BINARY, "report", wrong, "-o", directory / "x.html"], capture_output=True, text=True)
        assert done.returncode == code and "error:" in done.stderr and not (directory / "x.html").exists(), done


@test
def nothing_comes_from_outside(browser, world):
    world.log_in()
    world.open()
    browser.until("the rows", lambda: browser.all("tr[data-row]"))
    loaded = browser.script("return performance.getEntriesByType('resource').map(e => [e.name, e.transferSize]).concat([[location.href, performance.getEntriesByType('navigation')[0].transferSize]])")
    assert all(name.startswith(browser.server) for name, _ in loaded), loaded
    size = sum(size for _, size in loaded)
    print(f"    first page: {len(loaded)} files, {size / 1000:.0f} kB")
    assert size < 200_000
    blocked = browser.script("""
        const script = document.createElement('script'); script.textContent = 'window.inline = true'; document.body.append(script);
        return window.inline === undefined""")
    assert blocked, "an inline script ran"
    browser.problems()


# MARK: The page of the routes


# What readers look for, and a route (or a shape, or an error) that must be among what is found.
LOOK_UPS = [
    ("unique_user_id", "POST /v2/integrations/authorize-user"), ("Retry-After", "POST /sdk/login"), ("secret_key", "POST /v2/webhooks"),
    ("429", "POST /sdk/captures"), ("drop_connection", "POST /_sim/faults"), ("lose_request", "POST /_sim/faults"), ("hold", "GET /_sim/held"),
    ("uniform", "FaultDelay"), ("component_error", "POST /_sim/faults"), ("DocumentExpired", "POST /_sim/faults"),
    ("ErrorCodeTooManyRequests", "POST /sdk/login"), ("image_rejected", "PUT /sdk/captures/{id}/images/{region_id}"),
    ("rate limit exceeded", "429 TooManyRequests"), ("410", "POST /sdk/captures/{id}/submit"), ("Content-Digest", "PUT /sdk/captures/{id}/images/{region_id}"),
    ("Last-Event-ID", "GET /_sim/events"), ("If-None-Match", "GET /sdk/config"), ("Set-Cookie", "GET /_sim/docs"), ("random_seed", "PUT /_sim/namespaces/{name}"),
    ("session.completed", "POST /v2/webhooks"), ("fingerprint_register", "POST /sdk/captures"), ("customer_item_id", "GET /v2/lookup/authentications/{lookup_value}"),
    ("har", "GET /_sim/requests"), ("PATCH settings", "PATCH /_sim/settings"), ("free_camera", "FormFactorFilter"), ("next_cursor", "EntrupySearchResult"),
    ("/sdk/results/QZ5HXWOU/flag", "PUT /sdk/results/{entrupy_id}/flag"), ("http://127.0.0.1:8642/ns/a/sdk/session?x=1", "GET /sdk/session"),
]
SHOWN = "nav section a:not([hidden])"


def filter_docs(browser, text):
    """Types a filter, and answers what is found."""
    browser.one("#filter").clear()
    browser.one("#filter").send_keys(text, Keys.ENTER)
    return browser.script("return [...document.querySelectorAll(arguments[0])].map(link => link.textContent.trim().replace(/\\s+/g, ' '))", SHOWN)


@test
def the_routes_are_found_by_what_they_show(browser, world):
    browser.open("/_sim/docs")
    everything = len(browser.all(SHOWN))
    for text, wanted in LOOK_UPS:
        links = filter_docs(browser, text)
        assert wanted in links, f"{text}: {links[:8]}"
        assert len(links) < everything, f"{text} filters nothing"
        counts = [int(part.split()[0]) for part in browser.text("#found").split(", ") if "introduction" not in part]
        assert sum(counts) == len(links), f"{text}: {browser.text('#found')}, {len(links)} links"
        shown = browser.script("return [...document.querySelectorAll('main article')].filter(article => article.checkVisibility()).length")
        assert shown == len(links), f"{text}: {shown} articles, {len(links)} links"
        assert not browser.script("return [...document.querySelectorAll('main section > h2')].some(title => title.checkVisibility() && !title.parentNode.querySelector(':is(article, .lead):not([hidden])'))")
    assert filter_docs(browser, "429") and browser.script("return CSS.highlights.get('found').size") > 20
    # A number is a whole one: an id may have any digits.
    assert not filter_docs(browser, "42949") and "Nothing found" in browser.text("#found")
    # The place of a match is opened, and closed again.
    filter_docs(browser, "sku-1042-x")
    assert not browser.script("return document.querySelector('main details[open]')")
    filter_docs(browser, "ClientRejected")
    browser.one("#filter").send_keys(Keys.ESCAPE)
    assert len(browser.all(SHOWN)) == everything and browser.text("#found") == ""


@test
def nothing_found_has_a_way_out(browser, world):
    browser.open("/_sim/docs")
    everything = len(browser.all(SHOWN))
    for text in ["unique_user_id nonsense", "retry_afterr", HOSTILE, "(a+)+$ [", "\\\\x", "x" * 300]:
        assert filter_docs(browser, text) == [], text
        assert browser.text("#found") == "Nothing found"
        assert browser.one("#nothing").is_displayed() and "Clear the filter" in browser.text("#nothing")
    assert browser.driver.title != "owned"
    filter_docs(browser, "unique_user_id nonsense")
    button = next(button for button in browser.all("#nothing button") if "unique_user_id" in button.text)
    count = int(re.search(r"\((\d+)\)", button.text)[1])
    button.click()
    assert not browser.one("#nothing").is_displayed() and len(browser.all(SHOWN)) <= count > 0
    filter_docs(browser, "nonsense")
    browser.all("#nothing button")[-1].click()
    assert len(browser.all(SHOWN)) == everything and browser.one("#filter").get_attribute("value") == ""
    # A link leads to its target, also if the filter hides it.
    filter_docs(browser, "drop_connection")
    browser.script("document.querySelector('article:not([hidden]) a[href=\"#shape-FaultDelay\"]').click()")
    assert browser.one("#shape-FaultDelay").is_displayed()


def copied(browser, route):
    """Copies a route's command, and answers it. The clipboard of a headless browser is not the system's."""
    button = browser.one(f"article[data-method='{route.split()[0]}'][data-path='{route.split()[1]}'] .copy")
    browser.script("""
        window.written = null;
        Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async text => { window.written = text; }}});
        arguments[0].click()""", button)
    command = browser.until("the command", lambda: browser.script("return window.written"))
    assert button.find_element(By.XPATH, "./following-sibling::pre").get_attribute("textContent") == command
    browser.until("the word", lambda: browser.script("return document.getElementById('said').textContent") == "Copied")
    return command


def arguments_of(command, shell, **variables):
    """The arguments that a shell gives to curl."""
    program = "curl() { printf '%s\\0' \"$@\"; }\n" + command
    flags = ["-f"] if shell.endswith("zsh") else ["--norc"]
    done = subprocess.run([shell, *flags, "-c", program], capture_output=True, env={"PATH": os.environ["PATH"], **variables}, cwd=tempfile.gettempdir())
    assert done.returncode == 0 and not done.stderr, (command, done.stderr)
    return done.stdout.decode().split("\0")[:-1]


def run_command(command, **variables):
    """Runs a command, and answers its status and its body."""
    done = subprocess.run(["bash", "--norc", "-c", f"{command} --silent --show-error --max-time 20 --write-out '\\n%{{http_code}}'"], capture_output=True,
                          text=True, env={"PATH": os.environ["PATH"], **variables}, cwd=ROOT)
    assert done.returncode == 0, (command, done.stderr)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


def set_field(browser, route, name, value):
    method, path = route.split()
    browser.script("document.querySelector(`article[data-method='${arguments[0]}'][data-path='${arguments[1]}'] form [name='${arguments[2]}']`).value = arguments[3]",
                   method, path, name, value)


@test
def every_route_copies_as_curl(browser, world):
    """Each command reads in bash and zsh as what the form has; those that need nothing more work against the server."""
    browser.open(f"/ns/{world.name}/_sim/docs")
    base = f"{browser.server}/ns/{world.name}"
    shells = [path for path in map(shutil.which, ["bash", "zsh"]) if path]
    routes = browser.script("return [...document.querySelectorAll('article[data-path]')].map(route => `${route.dataset.method} ${route.dataset.path}`)")
    assert len(routes) > 150 and len(browser.all("article[data-path] .copy")) == len(routes)
    assert copied(browser, routes[0]).startswith("curl -X ")
    commands = dict(zip(routes, browser.script("""
        const buttons = [...document.querySelectorAll("article[data-path] .copy")];
        buttons.forEach(button => button.click());
        return buttons.map(button => button.nextElementSibling.textContent)""")))
    for route, command in commands.items():
        method, path = route.split()
        readings = [arguments_of(command, shell, TOKEN="the token") for shell in shells]
        assert all(words == readings[0] for words in readings), command
        words = readings[0]
        assert words[:2] == ["-X", method], command
        url = next(word for word in words if "://" in word)
        pattern = re.sub(r"\\\{[^/]*?\\\}", "[^/?]+", re.escape(path))
        assert re.fullmatch(re.escape(base) + pattern + r"(\?.*)?", url), (route, url)
    assert "-H 'Authorization: Token demo-api-token'" in commands["POST /v2/webhooks"]
    assert '-H "Authorization: Token $TOKEN"' in commands["GET /sdk/session"] and "Authorization" not in commands["GET /_sim/clock"]
    assert "--no-buffer" in commands["GET /_sim/events"] and "X-Sim-Control-Token" not in commands["GET /_sim/clock"]
    assert "--data-binary @demo/sneaker.jpg" in commands["PUT /sdk/captures/{id}/images/{region_id}"]
    for route, status in [("GET /v1/health", 200), ("POST /v2/webhooks", 200), ("POST /v2/integrations/authorize-user", 200), ("POST /_sim/faults", 201),
                          ("GET /_sim/requests", 200), ("POST /partner/login", 200), ("PUT /_sim/snapshots/{name}", 200), ("GET /openapi.json", 200),
                          ("PUT /_sim/scenarios/{name}", 200), ("DELETE /_sim/scenarios/{name}", 204), ("POST /_sim/seed", 200), ("GET /sdk/session", 401), ("DELETE /_sim/namespaces", 200)]:
        got, body = run_command(commands[route], TOKEN="none")
        assert got == status or (status < 300 and 200 <= got < 300), (route, got, body[:300])
    # The command that registered the example user gave it another address.
    token = world.log_in("docs-user-2")
    assert run_command(commands["GET /sdk/session"], TOKEN=token)[0] == 200


@test
def hostile_values_stay_values_in_commands(browser, world):
    browser.open("/_sim/docs")
    shells = [path for path in map(shutil.which, ["bash", "zsh"]) if path]
    for text in [HOSTILE, "a'b", "'; touch /tmp/owned; '", "$(id) `id` ${HOME}", "!! !$ ^a^b", "=ls", "~", "*", "[a-c]{1,2}", "-H", "@/etc/passwd", "..", "%2e",
                 "a\\b", "é\u202e\u200b", "\x1b[31m", "#x", "a b&c=d"]:
        set_field(browser, "GET /sdk/results/{entrupy_id}", "entrupy_id", text)
        set_field(browser, "GET /sdk/results/{entrupy_id}", "Authorization", f"Token {text}")
        set_field(browser, "GET /_sim/requests", "route", text)
        set_field(browser, "PATCH /_sim/settings", "body", f"{{\n  {text}\t!^'")
        path, query, body = (copied(browser, route) for route in ("GET /sdk/results/{entrupy_id}", "GET /_sim/requests", "PATCH /_sim/settings"))
        for shell in shells:
            words = arguments_of(path, shell)
            url = next(word for word in words if "://" in word)
            assert url == browser.server + "/sdk/results/" + browser.script("return encodeURIComponent(arguments[0])", text), words
            assert words[-1] == f"Authorization: Token {text.strip()}", words
            url = next(word for word in arguments_of(query, shell) if "://" in word)
            assert url == browser.server + "/_sim/requests?" + browser.script("return new URLSearchParams({route: arguments[0]}).toString()", text)
            words = arguments_of(body, shell)
            assert words[-2:] == ["--data-raw", f"{{\n  {text}\t!^'"], words
        assert run_command(body)[0] == 400 and run_command(path)[0] in (400, 401, 404)
    assert not pathlib.Path("/tmp/owned").exists()


@test
def a_route_is_tried_and_its_token_kept(browser, world):
    browser.open(f"/ns/{world.name}/_sim/docs")
    user = {"sdk_authorization_request": "test", "unique_user_id": "docs-user-1", "email": "docs@example.com"}
    signed = world.api.must("POST", "/v2/integrations/authorize-user", user, token="demo-api-token")["signed_authorization_request"]
    set_field(browser, "POST /sdk/login", "body", json.dumps({"signed_authorization_request": signed}))
    login = "article[data-method=POST][data-path='/sdk/login']"
    browser.script("document.querySelector(arguments[0] + ' details.tool').open = true", login)
    browser.click(f"{login} form button")
    browser.until("the answer", lambda: browser.text(f"{login} .answer").startswith("200"))
    command = copied(browser, "GET /sdk/session")
    assert "$TOKEN" not in command and run_command(command)[0] == 200
    assert '"Authorization: Token $TOKEN"' in copied(browser, "POST /partner/authorize-entrupy-sdk-user")


@test
def the_page_of_the_routes_reads_everywhere(browser, world):
    """axe finds nothing, no page is wider than the window, paths break at slashes, and it reads without its script."""
    from axe_core_python.selenium import Axe
    axe, found = Axe(), []
    looks = [("light", "wide"), ("dark", "narrow")] if SHORT else [(scheme, width) for scheme in ("light", "dark") for width in WIDTHS]
    for scheme, width in looks:
        browser.look(scheme, width)
        for name, text in [("all", ""), ("found", "drop_connection"), ("nothing", "unique_user_id nonsense")]:
            browser.open("/_sim/docs")
            if text:
                filter_docs(browser, text)
            if SCREENSHOTS:
                browser.driver.save_screenshot(str(SCREENSHOTS / f"docs-{name}-{scheme}-{width}.png"))
            wide = browser.script("return document.documentElement.scrollWidth - innerWidth")
            if wide > 1:
                found.append(f"{scheme} {width} {name}: {wide} px wider than the window")
            # The routes are alike: one in twelve is enough, and the page that is left takes seconds instead of minutes.
            browser.script("""
                for (const [index, article] of document.querySelectorAll("main article").entries())
                    if (article.hidden || (arguments[0] && index % 12)) { document.querySelector(`nav a[href='#${article.id}']`).remove(); article.remove(); }
                for (const details of document.querySelectorAll("main details")) details.open = true""", not text)
            for violation in axe.run(browser.driver)["violations"]:
                for node in violation["nodes"]:
                    found.append(f"{scheme} {width} {name}: {violation['id']}: {node['html'][:160]}: {node.get('failureSummary', '')[:200]}")
    browser.look("light", "wide")
    assert not found, f"{len(found)} findings: {found[:5]}"
    browser.open("/_sim/docs")
    size = len(browser.script("return document.documentElement.outerHTML"))
    print(f"    the page of the routes: {size / 1e6:.2f} MB")
    # Without the script: the policy of a page that is put into a frame without scripts.
    browser.script("""
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-same-origin"; frame.width = 1000; frame.height = 600;
        document.body.replaceChildren(frame);
        frame.srcdoc = arguments[0]""", world.api.bytes("GET", "/_sim/docs").decode())
    plain = "document.querySelector('iframe').contentDocument"
    browser.until("the page without its script", lambda: browser.script(f"return {plain}.querySelectorAll('main article').length") > 300)
    texts = browser.script(f"return [{plain}.body.innerText, [...{plain}.querySelectorAll('.tool')].some(tool => tool.checkVisibility())]")
    assert "drop_connection" in texts[0] and "Retry-After" in texts[0] and not texts[1]
    browser.problems()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--firefox", action="store_true")
    arguments = parser.parse_args()
    global BINARY, SHORT, SCREENSHOTS, PICTURES
    BINARY, SHORT, SCREENSHOTS = str(pathlib.Path(arguments.binary).resolve()), arguments.short, arguments.screenshots
    PICTURES = arguments.pictures or pathlib.Path(tempfile.mkdtemp())
    if SCREENSHOTS:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as directory, contextlib.closing(Server(arguments.binary, directory)) as simulator:
        browser = Browser(simulator, arguments.firefox)
        try:
            for function in TESTS:
                if arguments.only and arguments.only not in function.__name__:
                    continue
                started = time.monotonic()
                world = World(browser)
                try:
                    function(browser, world)
                    problems = browser.problems()
                    assert not problems, f"the browser logged {problems}"
                    print(f"ok   {function.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
                except (AssertionError, WebDriverException, Exception) as error:  # noqa: BLE001
                    failed.append(function.__name__)
                    print(f"FAIL {function.__name__}: {str(error)[:600]}", flush=True)
                    if os.environ.get("TRACE"):
                        traceback.print_exc()
                    browser.problems()
                    if SCREENSHOTS:
                        browser.driver.save_screenshot(str(SCREENSHOTS / f"failed-{function.__name__}.png"))
                    browser.driver.get("about:blank")
        finally:
            browser.driver.quit()
    ran = len([function for function in TESTS if not arguments.only or arguments.only in function.__name__])
    print(f"{ran - len(failed)} of {ran} browser tests passed" + (f"; failed: {', '.join(failed)}" if failed else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
