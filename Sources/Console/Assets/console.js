// The script of the console. Pages come from the server; this follows what happens, and sends changes to the control API.
"use strict";
(() => {
  const page = document.body.dataset;
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  /** Makes an element. Text is never read as HTML. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // MARK: Quoting

  /** A word of a command line for bash and zsh. The same as Shell.quoted of the server, which says why; a test compares them. */
  function quoted(value) {
    const text = value.replaceAll("\0", "\ufffd");
    if (/^[\w@%+:,.\/-][\w@%+=:,.\/-]*$/.test(text)) return text;
    const hasInvisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{NChar}]/u.test(value.replaceAll("\n", ""));
    if (!hasInvisible && !(text.includes("\n") && /[!^]/.test(text))) return `'${text.replaceAll("'", "'\\''")}'`;
    const octal = part => [...new TextEncoder().encode(part)].map(byte => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    return `$'${value.replaceAll(/['\\!^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{NChar}]/gu, part => octal(part === "\0" ? "\ufffd" : part))}'`;
  }

  /**
   * A command line from its template: {name} is a value, [--flag {name}] is left out without one, [--flag ?name] is there if it is true.
   * `end` belongs to the first of two commands that && joins. Each value is put in once, and never read as a part of the template. `end` is text of the server.
   */
  function filled(template, given, end) {
    const words = [], last = [];
    const option = (flag, value) => `${flag}${value.startsWith("-") ? "=" : " "}${quoted(value)}`;
    for (const [part, optional] of template.matchAll(/\[([^\]]*)\]|--?[\w-]+ \{[\w.]+\}|\S+/g)) {
      const [, flag, sign, name] = /^(?:(--?[\w-]+) ?)?([?{])([\w.]+)\}?$/.exec(optional ?? part) ?? [];
      if (part === "&&") { words.push(end.trim(), part); end = ""; continue; }
      if (!name) { words.push(part); continue; }
      const value = given(name);
      if (sign === "?") { if (value) words.push(flag); continue; }
      const values = (Array.isArray(value) ? value : [value]).map(String).filter(text => text !== "");
      if (values.length === 0 && optional === undefined) words.push(flag ? `${flag} …` : "…");
      else if (flag) words.push(...values.map(text => option(flag, text)));
      // What looks like an option can only be a value after "--", and so can what follows it.
      else for (const text of values) (last.length > 0 || text.startsWith("-") ? last : words).push(quoted(text));
    }
    return words.filter(Boolean).join(" ") + end + (last.length > 0 ? ` -- ${last.join(" ")}` : "");
  }

  // MARK: Calls of the control API

  const gone = "The server does not answer. Start it again with entrupy-sim serve; this page reconnects by itself.";

  /** Calls the control API. Answers {ok, status, body}; a server that does not answer has the status 0. */
  async function call(method, path, body, type = "application/json") {
    const headers = {Accept: "application/json"};
    if (method !== "GET") headers["X-Sim-Console"] = page.proof;
    if (body !== undefined) headers["Content-Type"] = type;
    try {
      const answer = await fetch(path, {method, headers, body: body === undefined || type !== "application/json" ? body : JSON.stringify(body)});
      const text = await answer.text();
      let value = null;
      try { value = text ? JSON.parse(text) : null; } catch { value = null; }
      return {ok: answer.ok, status: answer.status, body: value};
    } catch {
      return {ok: false, status: 0, body: {error: gone, details: []}};
    }
  }

  // MARK: Messages

  /** Says what was done. With `undo`, offers to take it back. What was refused is a warning; what failed is an error. Both stay. */
  function say(text, {isBad = false, isRefused = false, undo = null, cli = null} = {}) {
    const content = make("p", {}, text);
    if (cli) content.append(make("br"), make("code", {}, cli));
    const message = make("div", {class: `message${isRefused ? " warn" : isBad ? " bad" : ""}`}, content);
    const close = make("button", {class: "small plain", "aria-label": "Close this message"}, "×");
    close.addEventListener("click", () => message.remove());
    if (undo) {
      const button = make("button", {class: "small"}, undo.name ?? "Undo");
      button.addEventListener("click", async () => {
        message.remove();
        const answer = await call(undo.method, undo.path, undo.body);
        if (answer.ok) say("Undone"); else refuse(answer);
        await refresh();
      });
      message.append(button);
    }
    message.append(close);
    const messages = find("#messages");
    messages.append(message);
    while (messages.children.length > 4) messages.firstChild.remove();
    if (!isBad && !isRefused) setTimeout(() => message.remove(), undo ? 20000 : 8000);
  }

  /** Whether the server works, and does not do what was asked. */
  const isRefusal = answer => answer.status >= 400 && answer.status < 500;

  /** Says why the server refused something. */
  function refuse(answer) {
    const details = (answer.body?.details ?? []).filter(detail => !(answer.body?.error ?? "").includes(detail.problem));
    const more = details.map(detail => `${detail.field} ${detail.problem}`).join("; ");
    say([answer.body?.error ?? `The server answered ${answer.status}`, more].filter(Boolean).join(": "), isRefusal(answer) ? {isRefused: true} : {isBad: true});
  }

  /** Asks before something that cannot be undone. */
  function ask(text) {
    const dialog = find("#confirm");
    find("#confirm-text").textContent = text;
    dialog.returnValue = "";
    dialog.showModal();
    find("button[value=no]", dialog).focus();
    return new Promise(resolve => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), {once: true}));
  }

  // MARK: Pages

  const isAdded = node => node.nodeType === 1 && node.hasAttribute("data-added");
  const keyOf = node => node.nodeType === 1 ? node.dataset.key || node.id || null : null;

  /** Changes an element into another one, and keeps what a reader has opened, chosen or begun to type. */
  function morph(from, to) {
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) return from.replaceWith(to);
    if (from.nodeType !== 1) { if (from.data !== to.data) from.data = to.data; return; }
    if (from.nodeName === "DIALOG") return;
    for (const {name, value} of [...to.attributes]) {
      if (from.nodeName === "DETAILS" && name === "open") continue;
      if (from.hasAttribute("data-managed") && name === "hidden") continue;
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    for (const {name} of [...from.attributes]) {
      if (to.hasAttribute(name) || ["data-managed", "data-added", "data-dirty", "style"].includes(name)) continue;
      if (name === "open" && from.nodeName === "DETAILS" || name === "hidden" && from.hasAttribute("data-managed")) continue;
      if (name === "aria-selected" && from.hasAttribute("data-row") || name === "title" && from.hasAttribute("data-cli")) continue;
      from.removeAttribute(name);
    }
    // What is being typed stays; where it goes and how it is undone may have changed.
    if (["TEXTAREA", "INPUT"].includes(from.nodeName) || from.hasAttribute("data-dirty")) return;
    const keyed = new Map(all(":scope > [data-key], :scope > [id]", from).map(node => [keyOf(node), node]));
    const after = node => { let next = node?.nextSibling ?? null; while (next && isAdded(next)) next = next.nextSibling; return next; };
    let cursor = from.firstChild;
    while (cursor && isAdded(cursor)) cursor = cursor.nextSibling;
    for (const child of [...to.childNodes]) {
      const key = keyOf(child);
      const match = key ? keyed.get(key) ?? null : cursor && !keyOf(cursor) && cursor.nodeType === child.nodeType && cursor.nodeName === child.nodeName ? cursor : null;
      if (match) {
        if (match === cursor) cursor = after(cursor); else from.insertBefore(match, cursor);
        if (key) keyed.delete(key);
        morph(match, child);
      } else {
        if (child.nodeType === 1 && child.hasAttribute("data-row")) child.classList.add("fresh");
        from.insertBefore(child, cursor);
      }
    }
    while (cursor) { const next = after(cursor); cursor.remove(); cursor = next; }
    for (const node of keyed.values()) if (node.parentNode === from) node.remove();
  }

  /** Fetches a page. Null if the answer is none of the console's pages, undefined if the server does not answer. */
  async function load(url) {
    try {
      const answer = await fetch(url, {headers: {Accept: "text/html"}});
      const text = await answer.text();
      if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/html") || !text.includes('id="main"')) return null;
      return new DOMParser().parseFromString(text, "text/html");
    } catch { return undefined; }
  }

  /** Takes over the regions of a fetched page. */
  function adopt(fresh, only = null) {
    document.title = fresh.title;
    if (!only && find("[data-news]")) find("[data-news]").hidden = true;
    for (const region of all("[data-region]")) {
      const name = region.dataset.region;
      const next = find(`[data-region="${name}"]`, fresh);
      if (next && (!only || only.includes(name))) morph(region, next);
    }
    // The page shows the present state of another run of the server now, so changes may come from it again.
    if (!only) page.proof = fresh.body.dataset.proof ?? page.proof;
    const links = new Map(all(".side a", fresh).map(link => [link.getAttribute("href"), link.getAttribute("aria-current")]));
    for (const link of all(".side a")) {
      const current = links.get(link.getAttribute("href"));
      if (current) link.setAttribute("aria-current", current); else link.removeAttribute("aria-current");
    }
    prepare();
  }

  let visits = 0;
  let depth = history.state?.depth ?? 0;
  let shown = location.pathname + location.search;

  /** Opens or closes an entry beside the list, which stays as it is. */
  function adoptDetail(fresh) {
    document.title = fresh.title;
    const split = find("[data-split]");
    const [from, to] = [find("[data-detail]"), find("[data-detail]", fresh)];
    split.className = find("[data-split]", fresh).className;
    if (from && to) morph(from, to); else if (to) split.append(to); else from?.remove();
    // The fetched list may be past the entry by now; the rows that stand here know which one is open.
    const chosen = new URL(location.href).searchParams.get("selected");
    const name = row => new URL(find("a[data-soft]", row)?.href ?? location.href, location.href).searchParams.get("selected");
    for (const row of all("[data-row]")) if (chosen && find("a[data-soft]", row) && name(row) === chosen) row.setAttribute("aria-selected", "true"); else row.removeAttribute("aria-selected");
    const tail = find("[data-tail]");
    tail.toggleAttribute("data-following", find("[data-tail]", fresh).hasAttribute("data-following"));
    // After it is closed the list still stands, if there is something new.
    isPaused = !to && find("[data-news]")?.hidden === false;
    prepare();
  }

  /** Brings the open entry into view where it stands in place of the list. Answers whether it did. */
  function showDetail() {
    const detail = find("[data-detail]");
    if (!detail || find(".split .list").checkVisibility()) return false;
    detail.scrollIntoView({block: "start"});
    return true;
  }

  /** Whether two addresses show the same list, with or without an open entry. */
  function isSameList(left, right) {
    const list = text => { const url = new URL(text, location.href); url.searchParams.delete("selected"); return url.pathname + url.search; };
    return list(left) === list(right) && new URL(right, location.href).pathname === page.console;
  }

  /** Goes to another page of the console without loading everything anew. */
  async function visit(url, {isNew = true, isReplacing = false, isWhole = false, y = 0, isByKey = false} = {}) {
    const number = ++visits;
    if (isNew && !isReplacing) history.replaceState({...history.state, y: scrollY, depth}, "");
    const main = find("#main");
    main.setAttribute("aria-busy", "true");
    const fresh = await load(url);
    if (number !== visits) return;
    main.removeAttribute("aria-busy");
    if (fresh === undefined) return say(gone, {isBad: true});
    if (!fresh) { location.href = url; return; }
    const keepsPlace = !isWhole && isSameList(shown, url) && find("[data-split]") && find("[data-split]", fresh);
    if (isNew && isReplacing) history.replaceState({...history.state, depth}, "", url);
    else if (isNew) history.pushState({depth: ++depth, isOpened: Boolean(keepsPlace)}, "", url);
    shown = location.pathname + location.search;
    if (keepsPlace) {
      adoptDetail(fresh);
      // What was opened is read from the start.
      find("[data-detail]")?.scrollTo(0, 0);
      if (!showDetail() && !find("[data-detail]")) { if (y) scrollTo(0, y); }
      if (isByKey) find("[data-detail]")?.focus({preventScroll: true});
      return;
    }
    main.replaceChildren();
    isPaused = false;
    adopt(fresh);
    const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    if (target) {
      const box = target.closest("details") ?? target;
      if (target.nodeName === "DETAILS") target.open = true; else if (box.nodeName === "DETAILS") box.open = true;
      target.scrollIntoView({block: "center"});
      if (target.nodeName === "TR") target.setAttribute("aria-selected", "true");
      if (target.nodeName === "DETAILS") find("input:not([type=hidden]), select", target)?.focus({preventScroll: true});
      else if (target.nodeName === "INPUT") target.focus({preventScroll: true});
    } else {
      scrollTo(0, y);
      main.focus({preventScroll: true});
      showDetail();
    }
  }

  /** Fetches the page that is shown. Undefined if another one is shown, or asked for, when it arrives. */
  async function reload() {
    const place = () => `${visits} ${location.pathname}${location.search}`;
    const before = place();
    const fresh = await load(location.href);
    if (place() === before) return fresh;
    // The other page may have been fetched before what this was about.
    changed();
    return undefined;
  }

  /** Reads the page again, and changes what is different. */
  async function refresh(only = null) {
    if (isGone) return;
    const wasFollowing = isFollowing();
    const fresh = await reload();
    // Someone may have chosen an entry while the page was on its way.
    if (fresh) adopt(fresh, wasFollowing && !isFollowing() ? ["clock"] : only);
  }

  // MARK: What happens, live

  let isPaused = false;
  let isGone = false;
  let isDirty = false;
  let lastPaint = 0;
  let timer = null;
  let source = null;

  function show(state, text) {
    const live = find("[data-live]");
    live.dataset.state = state;
    if (live.textContent !== text) live.textContent = text;
  }

  /** Follows the event stream. Every event asks for one repaint, at most one a second. */
  function listen() {
    source?.close();
    let wasLost = false;
    source = new EventSource(`${page.base}/_sim/events`);
    source.onopen = () => {
      show("live", "live");
      for (const problem of all("[data-added=problem]")) if (problem.textContent === gone) problem.remove();
      if (wasLost) { wasLost = false; changed(); }
    };
    source.onerror = () => {
      wasLost = true;
      show("lost", "connection lost, trying again");
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) { listen(); changed(); } }, 2000);
    };
    for (const type of ["request", "request.undelivered", "state", "webhook", "gap"]) source.addEventListener(type, changed);
    source.addEventListener("world.replaced", () => { say("This namespace was reset, or restored from a snapshot."); changed(); });
    source.addEventListener("world.deleted", () => {
      source.close();
      isGone = true;
      show("lost", "the namespace was deleted");
      const link = make("a", {href: "/_sim/console/namespaces", "data-full": ""}, "All namespaces");
      find("#main").replaceChildren(make("h1", {}, `The namespace ${page.namespace} was deleted`), make("p", {}, "Its users, items and journal are gone."), make("p", {}, link));
    });
  }

  function changed() {
    isDirty = true;
    if (timer === null) timer = setTimeout(repaint, Math.max(0, lastPaint + 1000 - Date.now()));
  }

  async function repaint() {
    timer = null;
    if (!isDirty || document.hidden) return;
    isDirty = false;
    lastPaint = Date.now();
    const tail = find("[data-tail]");
    if (tail && !isFollowing()) {
      await refresh(["clock"]);
      await count(tail);
    } else if (String(getSelection()) && find("#main").contains(getSelection().anchorNode)) {
      // Someone is about to copy. The page is read again at the next event.
      await refresh(["clock"]);
    } else {
      await refresh();
    }
    if (isDirty) changed();
  }

  /** Whether the live view takes new entries. It stands still while something is open, chosen, or scrolled to. */
  function isFollowing() {
    const tail = find("[data-tail]");
    return tail !== null && tail.hasAttribute("data-following") && !isPaused && scrollY < 160 && !find("[data-row][aria-selected]");
  }

  /** Says how many entries are newer than those shown. */
  async function count(tail) {
    const query = new URLSearchParams(location.search);
    const answer = await call("GET", `${page.console}/news?since=${tail.dataset.place}&q=${encodeURIComponent(query.get("q") ?? "")}`);
    const button = find("[data-news]");
    if (!answer.ok || !button) return;
    button.hidden = answer.body.count === 0;
    button.setAttribute("data-managed", "");
    button.textContent = `${answer.body.count}${answer.body.more ? " or more" : ""} new`;
    if (find("[data-detail]")) await refreshDetail();
  }

  async function refreshDetail() {
    const fresh = await reload();
    const [from, to] = [find("[data-detail]"), fresh && find("[data-detail]", fresh)];
    if (from && to) { morph(from, to); prepare(); }
  }

  function follow() {
    isPaused = false;
    for (const row of all("[data-row][aria-selected]")) row.removeAttribute("aria-selected");
    if (find("[data-detail]")) {
      const query = new URLSearchParams(location.search);
      query.delete("selected");
      visit(`${page.console}${query.size ? `?${query}` : ""}`, {isWhole: true});
    } else {
      scrollTo(0, 0);
      const button = find("[data-news]");
      if (button) button.hidden = true;
      refresh();
    }
  }

  function showFollowing() {
    const button = find("[data-follow]");
    if (!button) return;
    const following = isFollowing();
    button.setAttribute("aria-pressed", String(following));
    const text = following ? "Following" : "Paused";
    if (button.textContent !== text) button.textContent = text;
  }

  // MARK: Time

  const started = new WeakMap();

  function span(seconds) {
    const whole = Math.ceil(Math.max(0, seconds));
    const units = [["d", Math.floor(whole / 86400)], ["h", Math.floor(whole / 3600) % 24], ["min", Math.floor(whole / 60) % 60], ["s", whole % 60]];
    const first = units.findIndex(([, count]) => count > 0);
    return first < 0 ? "now" : units.slice(first, first + 2).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(" ");
  }

  /** The real seconds since an element got its value. */
  function elapsed(element, value) {
    const known = started.get(element);
    if (known && known.value === value) return (performance.now() - known.at) / 1000;
    started.set(element, {value, at: performance.now()});
    return 0;
  }

  /** Moves a running clock and its countdowns. */
  function tick() {
    showFollowing();
    const clock = find("[data-clock]");
    if (find("[data-refreshed]") && Date.now() - lastPaint > 5000 && clock?.dataset.mode === "running") changed();
    if (!clock || clock.dataset.mode !== "running") return;
    const now = Number(clock.dataset.clock) + elapsed(clock, clock.dataset.clock);
    const text = new Date(now * 1000).toISOString().slice(0, 19).replace("T", " ");
    if (clock.textContent !== text) clock.textContent = text;
    for (const element of all("[data-left]")) {
      const left = span(Number(element.dataset.left) - elapsed(element, element.dataset.left));
      if (element.textContent !== left) element.textContent = left;
    }
    for (const bar of all("progress[data-runs]")) {
      bar.value = Math.min(bar.max, Number(bar.dataset.runs) + elapsed(bar, bar.dataset.runs));
    }
  }

  // MARK: Forms

  function put(body, path, value) {
    const names = path.split(".");
    let place = body;
    for (const name of names.slice(0, -1)) {
      if (typeof place[name] === "string") return;
      place = place[name] ??= {};
    }
    place[names.at(-1)] = value;
  }

  const isHidden = field => field.closest("[hidden]") !== null;

  /** The body that a form sends, the values for its path, and the problems of its fields. */
  function read(form) {
    const body = {}, path = {}, problems = [], words = {};
    const isPatch = form.hasAttribute("data-only-changed");
    for (const field of form.elements) {
      if (!field.name || field.disabled || field.type === "file" || isHidden(field)) continue;
      const {type, value} = {type: field.dataset.type ?? "text", value: field.value};
      if (field.hasAttribute("data-path")) { path[field.name] = value; words[field.name] = value; continue; }
      if (field.type === "radio") { if (field.checked && value) put(body, field.name, value); continue; }
      if (field.type === "checkbox") {
        if (type === "list") { if (field.checked) { (body[field.name] ??= []).push(value); words[field.name] = body[field.name]; } }
        else if (type === "flag") { if (!isPatch || field.checked !== field.defaultChecked) put(body, field.name, field.checked); }
        else if (field.checked) { put(body, field.name, true); words[field.name] = "true"; }
        continue;
      }
      if (field.nodeName === "SELECT" && isPatch && [...field.options].find(option => option.defaultSelected)?.value === value) continue;
      if (field.nodeName !== "SELECT" && isPatch && field.defaultValue === value) continue;
      if (type === "raw") { if (field.hasAttribute("data-empty") || field.defaultValue !== value) put(body, field.name, value); words[field.name] = value; continue; }
      if (type === "json") {
        if (field.defaultValue === value) continue;
        try { put(body, field.name, value.trim() ? JSON.parse(value) : {}); } catch (error) { problems.push({field: field.name, problem: `is not JSON: ${error.message}`}); }
        continue;
      }
      if (value === "" && !field.hasAttribute("data-empty")) { if (isPatch) put(body, field.name, null); continue; }
      words[field.name] = value;
      if (type === "number") put(body, field.name, Number.isNaN(Number(value)) ? value : Number(value));
      else if (type === "list") put(body, field.name, value.split(",").map(word => word.trim()).filter(Boolean));
      else put(body, field.name, value);
    }
    if (find("[data-limits=own]", form)?.checked && !body.rate_limits) problems.push({field: "rate_limits.sdk_per_second", problem: "give at least one limit"});
    const effect = find("[data-effect]", form);
    if (effect) {
      const has = body.effect && Object.keys(body.effect).length > 0;
      if (!has) put(body, `effect.${effect.value}`, true);
      if (!has) words.effect = effect.value;
      else if (!["status", "delay"].includes(effect.value)) words.effect = JSON.stringify(body.effect);
    }
    if (form.dataset.cli?.includes("{json}")) words.json = JSON.stringify(body);
    if (form.dataset.cli?.includes("{template}")) {
      // The members for which the command has no option.
      const more = all("[data-json]", form).filter(field => !isHidden(field) && field.value !== "").map(field => [field.name.split(".").at(-1), field.value]);
      if (more.length > 0) words.template = JSON.stringify(Object.fromEntries(more));
    }
    if (form.dataset.download) {
      const name = path[form.dataset.download];
      if (name) Object.assign(words, {bundleFile: `${name}.bundle.tar`, reportFile: `${name}.html`});
    }
    if (form.dataset.cli?.includes("{limits}")) words.limits = JSON.stringify(body.rate_limits ?? null);
    return {body, path, problems, words};
  }

  /** The command line that does the same as an element. What the page knows is in its data-word-… attributes. */
  function commandLine(element, words = {}) {
    const template = element.dataset.cli;
    if (!template) return null;
    const given = name => words[name] ?? element.dataset[`word${name[0].toUpperCase()}${name.slice(1)}`] ?? "";
    return filled(template, given, element.hasAttribute("data-cli-everywhere") ? page.cliServer : page.cliEnd);
  }

  /** Whether a field of a form has another value than the page gave it. */
  function isChanged(form) {
    return [...form.elements].some(field => field.name && !isHidden(field) && (["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked
      : field.nodeName === "SELECT" ? field.selectedOptions[0] !== (find("option[selected]", field) ?? field.options[0])
      : field.value !== field.defaultValue));
  }

  /** Shows what the choices of a form ask for, and the command line that does the same. */
  function prepareForm(form) {
    const effect = find("[data-effect]", form);
    for (const part of all("[data-for-effect]", form)) {
      part.setAttribute("data-managed", "");
      part.hidden = part.dataset.forEffect !== effect?.value;
    }
    for (const choice of all("[data-shows]", form)) {
      const [key, value] = choice.dataset.shows.split(":");
      const part = find(`[data-shown-by="${key}"]`, form);
      if (part) { part.setAttribute("data-managed", ""); part.hidden = choice.value !== value; }
    }
    const own = find("[data-limits=own]", form);
    for (const part of all("[data-own-limit]", form)) { part.setAttribute("data-managed", ""); part.hidden = !own?.checked; }
    const {body, words} = read(form);
    let shown = find(":scope > [data-added=cli]", form);
    // A form that changes what is there does nothing, and has no command, until something is different.
    const isIdle = form.hasAttribute("data-needs-change") && (!isChanged(form) || Object.keys(body).length === 0);
    if (form.hasAttribute("data-needs-change")) for (const button of all("button:not([type=button])", form)) button.disabled = !isChanged(form);
    if (shown) shown.hidden = isIdle;
    const line = isIdle ? null : commandLine(form, words);
    if (!line) return;
    if (!shown) {
      const copy = make("button", {type: "button", class: "small plain"}, "Copy");
      copy.addEventListener("click", () => toClipboard(find("code", shown).textContent));
      shown = make("div", {class: "cli", "data-added": "cli"}, make("code"), copy);
      form.append(shown);
    }
    const code = find("code", shown);
    if (code.textContent !== line) code.textContent = line;
  }

  const placed = new WeakMap();

  /** Brings the active tab of each row of tabs, and the present of each chart, into view: once, then they stay where a reader puts them. */
  function bringIntoView() {
    const center = (box, target) => {
      const [outer, inner] = [box.getBoundingClientRect(), target.getBoundingClientRect()];
      box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    };
    for (const box of all(".side, .tabs, .chart")) {
      const target = find("[aria-current], line.now", box);
      if (!target || box.scrollWidth <= box.clientWidth || placed.get(box) === target) continue;
      placed.set(box, target);
      center(box, target);
    }
  }

  /** Tells the beginning of each path how much space its end and what stands before it take. */
  function reserveEnds() {
    const heads = all(".feed .head");
    const sizes = heads.map(head => {
      const before = head.getBoundingClientRect().left - head.parentNode.getBoundingClientRect().left;
      // Half a pixel less, so that a path that has space is whole. The mark of a query that is cut needs space too.
      return before + head.nextElementSibling.getBoundingClientRect().width + (find(".query", head.parentNode) ? 20 : -.5);
    });
    heads.forEach((head, index) => head.style.setProperty("--reserve", `${sizes[index]}px`));
  }

  /** Sets up what a page brings, after each change of it. */
  function prepare() {
    for (const form of all("form[data-call]")) prepareForm(form);
    for (const element of all("[data-cli]:not(form)")) element.title ||= commandLine(element);
    reserveEnds();
    bringIntoView();
    tick();
  }

  /** Shows problems at their fields, and the others above the form. */
  function showProblems(form, text, details, isRefused = false) {
    clearProblems(form);
    const others = [];
    for (const {field, problem} of details) {
      const fields = [...form.elements].filter(element => element.name && !isHidden(element));
      const named = fields.find(({name}) => name === field || field.startsWith(`${name}.`) || field.startsWith(`${name}[`));
      // Of a template the server names the members alone.
      const input = named ?? fields.find(({name}) => name === `template.${field}`) ?? (field === "effect" ? find("[data-effect]", form) : null);
      if (!input) { others.push(`${field} ${problem}`.trim()); continue; }
      const id = `problem-${Math.random().toString(36).slice(2)}`;
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", id);
      (input.closest(".field") ?? input.parentNode).append(make("p", {class: "problem", id, "data-added": "problem", role: "alert"}, problem));
    }
    if (details.length === 0 || others.length > 0) {
      const message = others.length > 0 ? others.join("; ") : text;
      form.prepend(make("p", {class: `problem${isRefused ? " refused" : ""}`, "data-added": "problem", role: "alert"}, message));
    }
    find("[aria-invalid=true]", form)?.focus();
  }

  function clearProblems(form) {
    for (const problem of all("[data-added=problem]", form)) problem.remove();
    for (const field of all("[aria-invalid]", form)) { field.removeAttribute("aria-invalid"); field.removeAttribute("aria-describedby"); }
  }

  // MARK: Actions

  /** Does what an element is for. */
  async function act(element, method, path, body, {type, words} = {}) {
    if (element.dataset.confirm && !await ask(element.dataset.confirm)) return null;
    if (element.getAttribute("aria-busy") === "true") return null;
    element.setAttribute("aria-busy", "true");
    const undo = element.dataset.undo ? JSON.parse(element.dataset.undo) : null;
    const answer = await call(method, path, body, type);
    element.removeAttribute("aria-busy");
    if (answer.status === 403 && /console page/.test(answer.body?.error ?? "")) {
      say("The server was started again since this page was loaded. Reload it.", {isBad: true});
      return null;
    }
    if (!answer.ok) {
      if (element.nodeName === "FORM") showProblems(element, answer.body?.error ?? `The server answered ${answer.status}`, answer.body?.details ?? [], isRefusal(answer));
      else refuse(answer);
      return answer;
    }
    if (element.dataset.done) say(element.dataset.done, {undo, cli: commandLine(element, words)});
    return answer;
  }

  /** Reads the page again after an action, and gives the focus back if what had it is gone. */
  async function refreshAfter(element) {
    const focused = document.activeElement;
    await refresh();
    if (document.activeElement !== document.body && document.contains(document.activeElement)) return;
    const same = element.dataset.to && find(`[data-to="${CSS.escape(element.dataset.to)}"]`);
    const target = document.contains(focused) && focused !== document.body ? focused : document.contains(element) ? element : same || find("#main");
    target.focus({preventScroll: true});
  }

  async function submit(form) {
    clearProblems(form);
    const {body, path, problems, words} = read(form);
    if (problems.length > 0) return showProblems(form, "", problems);
    if (form.dataset.askEmpty && Object.keys(body.match ?? {}).length === 0 && body.times === undefined && !await ask(form.dataset.askEmpty)) return;
    const taken = path[form.dataset.takenBy ?? "name"] ?? body[form.dataset.takenBy];
    if (form.dataset.taken && JSON.parse(form.dataset.taken).includes(taken) && !await ask(`${taken} ${form.dataset.takenText ?? "exists already. Replace it? What it holds is lost."}`)) return;
    if (form.hasAttribute("data-only-changed") && Object.keys(body).length === 0) return say("Nothing is different.");
    const target = form.dataset.to.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ""));
    if (form.hasAttribute("data-plays-capture")) return runCapture(form, body, words);
    if (form.dataset.download) return download(form, target, `${path[form.dataset.download]}.html`, words);
    const file = find("input[type=file]", form)?.files?.[0];
    const isUpload = form.hasAttribute("data-upload");
    const answer = await act(form, form.dataset.call, target, isUpload ? file : body, {type: isUpload ? "application/octet-stream" : undefined, words});
    if (!answer?.ok) return;
    form.removeAttribute("data-dirty");
    for (const note of answer.body?.note_details ?? answer.body?.notes ?? []) say(`${note.field} ${note.problem}`.trim(), {isRefused: true});
    if (form.hasAttribute("data-shows-answer")) return showCheck(form, answer.body);
    if (form.hasAttribute("data-resend")) return resent(answer.body);
    if (form.dataset.goto) {
      const name = path[form.dataset.goto] ?? body[form.dataset.goto];
      location.href = `/ns/${encodeURIComponent(name)}/_sim/console${location.pathname.includes("/scenarios/") ? location.pathname.slice(location.pathname.indexOf("/scenarios/")) : ""}`;
      return;
    }
    form.reset();
    prepareForm(form);
    if (/clock\/advance$/.test(target)) said(answer.body);
    await refreshAfter(form);
  }

  /** Writes what an address answers to a file of the reader. */
  async function download(form, path, file, words) {
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    let problem = null;
    try {
      const answer = await fetch(path, {headers: {Accept: "text/html"}});
      if (answer.ok) {
        const link = make("a", {href: URL.createObjectURL(await answer.blob()), download: file, "data-full": ""});
        document.body.append(link);
        link.click();
        link.remove();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      } else problem = `The server answered ${answer.status}`;
    } catch { problem = gone; }
    form.removeAttribute("aria-busy");
    if (problem) showProblems(form, problem, []); else say(form.dataset.done, {cli: commandLine(form, words)});
  }

  // MARK: Playing the app

  /** A grey PNG of 48 by 48 pixels, as the command uploads it. */
  const photo = "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAJ0lEQVR42mP4TyJgGKQaJhAJRjWMahjVMKphVMOohlEN9NcwxNsaAHZDQZuahtY3AAAAAElFTkSuQmCC";

  /** Sends a request of the platform, as an app or its back end does. */
  async function send(method, path, token, body) {
    const headers = {Accept: "application/json"};
    if (token) headers.Authorization = `Token ${token}`;
    if (body instanceof Uint8Array) headers["Content-Type"] = "image/png";
    else if (body !== undefined) headers["Content-Type"] = "application/json";
    const step = {name: `${method} ${path}`, status: 0, ok: false, body: null};
    try {
      const answer = await fetch(page.base + path, {method, headers, body: body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body)});
      [step.status, step.ok] = [answer.status, answer.ok];
      step.body = JSON.parse(await answer.text() || "null");
    } catch {
      // A fault may reset the connection, or spoil the answer. Then the server is still there.
      step.problem = step.status ? `${step.name} was answered with a body that cannot be read` : (await call("GET", "/_sim/ping")).status ? `${step.name} was not answered: the connection was reset` : gone;
      step.ok = false;
    }
    return step;
  }

  /** Ends a run of steps: carries the answer that is not as it should be. */
  class Stopped extends Error { constructor(step) { super(step.name); this.step = step; } }

  /** Takes an item from a login to its submission, as an app does. */
  async function capture({item, unique_user_id = "sim-test-user", config_type, login_twice}, told) {
    const must = async (...request) => {
      const step = await send(...request);
      if (!step.ok) throw new Stopped(step);
      return step.body;
    };
    const seed = await call("GET", `${page.base}/_sim/export?format=json`);
    const token = seed.body?.organizations?.flatMap(organization => organization.api_tokens)[0];
    if (!token) throw new Stopped({problem: seed.ok ? "No organization of the namespace has an API token: load seed data with one" : seed.body?.error ?? gone});
    told("Logs in…");
    const email = `${encodeURIComponent(unique_user_id)}@example.com`;
    const login = {sdk_authorization_request: "the console of entrupy-sim", unique_user_id, email};
    const authorized = await send("POST", "/v2/integrations/authorize-user", token, login);
    // A user who has another email is refused, and the request is signed all the same.
    const signed = authorized.body?.signed_authorization_request;
    if (!signed) throw new Stopped({...authorized, ok: false});
    const session = (await must("POST", "/sdk/login", null, {signed_authorization_request: signed})).token;
    // The refusal is what the second login is for.
    if (login_twice) await send("POST", "/sdk/login", null, {signed_authorization_request: signed});
    const {capture_id: id, steps} = await must("POST", "/sdk/captures", session, {item: {style_name: "Any style", ...item}, config_type});
    const png = Uint8Array.from(atob(photo), letter => letter.charCodeAt(0));
    const wanted = steps.filter(step => step.required);
    for (const [index, {region_id: region}] of wanted.entries()) {
      told(`Uploads photo ${index + 1} of ${wanted.length}…`);
      await must("PUT", `/sdk/captures/${encodeURIComponent(id)}/images/${encodeURIComponent(region)}`, session, png);
    }
    told("Submits…");
    return (await must("POST", `/sdk/captures/${encodeURIComponent(id)}/submit`, session)).entrupy_id;
  }

  async function runCapture(form, body, words) {
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    const place = location.pathname;
    const told = text => { find("[data-progress]", form).textContent = text; };
    try {
      const id = await capture(body, told);
      form.removeAttribute("data-dirty");
      say(`The item ${id} is submitted`, {cli: commandLine(form, words)});
      if (location.pathname === place) await visit(`${page.console}/items/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      const {step} = error;
      const known = (step.body?.details ?? []).filter(({field}) => [...form.elements].some(element => element.name === field));
      const text = step.problem ?? `${step.name} was answered ${step.status}${step.body?.error ? `: ${step.body.error}` : ""}`;
      showProblems(form, text, known, isRefusal(step));
      // The field says what is wrong, and this which request was refused for it.
      if (known.length > 0) form.prepend(make("p", {class: "problem refused", "data-added": "problem"}, text));
    } finally {
      told("");
      form.removeAttribute("aria-busy");
    }
  }

  /** Shows the exchange of a request that was sent again. */
  function resent(exchange) {
    say(`Answered ${exchange.status}`);
    const name = `${exchange.sequence}~${exchange.id}`;
    const query = new URLSearchParams(location.search);
    if (find("[data-split]")) {
      query.set("selected", name);
      visit(`${page.console}?${query}`, {isReplacing: find("[data-detail]") !== null});
    } else {
      visit(`${page.console}/requests/${encodeURIComponent(exchange.id)}?sequence=${exchange.sequence}`);
    }
  }

  function showCheck(form, check) {
    const place = find("[data-answer]", form);
    const rows = Object.entries(check.expected).map(([name, text]) => make("tr", {}, make("th", {scope: "row"}, name), make("td", {class: "mono"}, text)));
    place.replaceChildren(
      make("p", {class: check.valid ? "notice" : "notice bad"}, check.valid ? `It fits, in the form ${check.form}.` : check.hint ? `It does not fit: ${check.hint}.` : "It does not fit this body and secret."),
      ...(check.valid ? [] : [make("p", {}, "It would be, in each form:"), make("table", {class: "facts"}, make("tbody", {}, ...rows))]));
  }

  async function advance(element, body) {
    const answer = await act(element, "POST", `${page.base}/_sim/clock/advance`, body);
    if (!answer?.ok) return;
    said(answer.body);
    await refreshAfter(element);
  }

  function said(clock) {
    const time = clock.now.slice(0, 19).replace("T", " ");
    if (clock.nothing_due) say(`Nothing is due. The clock stays at ${time}`);
    else if (clock.reached === false) say(`The clock stopped at ${time}: receivers took too long. ${clock.pending === 1 ? "1 piece of work is" : `${clock.pending} pieces of work are`} left; advance again.`, {isBad: true});
    else say(`The clock is at ${time}`);
  }

  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without a secure context there is no clipboard to write to.
      const area = make("textarea");
      area.value = text;
      (find("dialog[open]") ?? document.body).append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say("Copied");
  }

  let namespaces = null;

  async function listNamespaces() {
    const input = find("#find-namespace");
    if (!namespaces) {
      const answer = await call("GET", "/_sim/namespaces");
      if (!answer.ok) return;
      namespaces = answer.body.namespaces.map(namespace => namespace.name);
      setTimeout(() => { namespaces = null; }, 5000);
    }
    const place = location.pathname.includes("/_sim/console") ? location.pathname.split("/_sim/console")[1].split("/").slice(0, 2).join("/") : "";
    const section = /^\/(items|timeline|captures|users|components|rules|scenarios|webhooks|audit|coverage|report|namespaces|settings)$/.test(place) ? place : "";
    const found = namespaces.filter(name => name.includes(input.value)).slice(0, 40);
    const links = found.map(name => {
      const link = make("a", {class: "choice", href: `${name === "default" ? "" : `/ns/${encodeURIComponent(name)}`}/_sim/console${section}`, "data-full": ""}, name);
      if (name === page.namespace) link.setAttribute("aria-current", "true");
      return link;
    });
    const list = find("[data-namespaces]");
    list.setAttribute("data-dirty", "");
    list.replaceChildren(...(links.length > 0 ? links : [make("p", {class: "dim"}, "No name contains this.")]));
  }

  // MARK: The list of actions

  let commands = [];

  function openPalette() {
    // A form whose button waits for a change can be gone to.
    commands = all("[data-command]").filter(element => !element.closest("[hidden]") && (!element.disabled || element.dataset.command.endsWith("…")))
      .map(element => ({element, name: element.dataset.command, hint: element.dataset.cli ? commandLine(element) : ""}));
    const pages = [["Run a capture…", "/captures#new-capture"], ["Make an item…", "/items#new-item"], ["Subscribe a receiver…", "/webhooks#new-subscription"], ["Write a report…", "/report#r-name"], ["Make a fault…", "/rules#new-fault"], ["Make an outcome rule…", "/rules#new-outcome"], ["Set the rate limits…", "/settings#rate_limits"],
      ["Save a snapshot…", "/namespaces"], ["Make a namespace…", "/namespaces"], ["Reset this namespace…", "/namespaces"], ["Start a scenario…", "/scenarios"],
      ["Revoke sessions…", "/users"], ["Check a signature", "/webhooks/check"]];
    for (const [name, path] of pages) if (!commands.some(command => command.name.replace("…", "") === name.replace("…", ""))) commands.push({name, hint: "", run: () => visit(page.console + path)});
    if (find("[data-open=keys]").checkVisibility()) commands.push({name: "List of keys", hint: "?", run: () => find("#keys").showModal()});
    const dialog = find("#palette");
    dialog.showModal();
    const input = find("input", dialog);
    input.value = "";
    input.focus();
    showCommands();
  }

  function showCommands() {
    const words = find("#palette input").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = commands.filter(command => words.every(word => command.name.toLowerCase().includes(word)));
    const list = find("#palette-list");
    list.replaceChildren(...found.map((command, index) => {
      const item = make("li", {role: "option", id: `command-${index}`, "aria-selected": String(index === 0)}, make("span", {}, command.name), make("span", {class: "dim"}, command.hint ?? ""));
      item.addEventListener("click", event => { event.stopPropagation(); run(command); });
      item.command = command;
      return item;
    }));
    if (found.length === 0) list.append(make("li", {role: "option", "aria-selected": "false"}, "No action has this name"));
    find("#palette input").setAttribute("aria-activedescendant", found.length > 0 ? "command-0" : "");
  }

  function moveCommand(step) {
    const items = all("#palette-list li");
    const index = items.findIndex(item => item.getAttribute("aria-selected") === "true");
    const next = items[(index + step + items.length) % items.length];
    for (const item of items) item.setAttribute("aria-selected", String(item === next));
    find("#palette input").setAttribute("aria-activedescendant", next?.id ?? "");
    next?.scrollIntoView({block: "nearest"});
  }

  function run(command) {
    find("#palette").close();
    if (command.run) return command.run();
    const element = command.element;
    let box = element.closest("details");
    for (; box; box = box.parentNode.closest("details")) box.open = true;
    const form = element.closest("form");
    // An ellipsis says that something must be typed first.
    if (command.name.endsWith("…")) {
      const target = find("input:not([type=hidden]), select, textarea", form ?? element.parentNode);
      target?.scrollIntoView({block: "center"});
      target?.focus();
    } else {
      element.click();
      for (const menu of all("details.menu[open]")) menu.open = false;
    }
  }

  // MARK: Keys, clicks and lists

  const isTyping = event => event.target.closest("input, textarea, select, [contenteditable]") !== null;

  function step(count) {
    const rows = all("[data-row]");
    if (rows.length === 0) return;
    const index = rows.findIndex(row => row.hasAttribute("aria-selected"));
    const next = rows[Math.min(rows.length - 1, Math.max(0, index < 0 ? (count > 0 ? 0 : rows.length - 1) : index + count))];
    for (const row of rows) row.removeAttribute("aria-selected");
    next.setAttribute("aria-selected", "true");
    next.scrollIntoView({block: "nearest"});
    const link = find("a.main, a", next);
    if (find("[data-detail]") && find("a[data-soft]", next)) visit(find("a[data-soft]", next).href, {isReplacing: true}); else link?.focus({preventScroll: true});
    showFollowing();
  }

  /** Closes the open entry. Where it was opened from the list, that is one step back. */
  function closeDetail(link) {
    if (history.state?.isOpened) history.back(); else visit(link.href);
  }

  function back() {
    const row = find("[data-row][aria-selected]");
    const close = find("[data-detail] [data-back]");
    if (close) return closeDetail(close);
    if (row && find("[data-tail]")) { row.removeAttribute("aria-selected"); document.activeElement?.blur(); return showFollowing(); }
    const link = find("#main [data-back]");
    if (link) { if (depth > 0) history.back(); else link.click(); }
  }

  document.addEventListener("keydown", event => {
    const key = event.key;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "k") {
      event.preventDefault();
      if (find("#palette").open) find("#palette").close(); else if (!find("dialog[open]")) openPalette();
      return;
    }
    if (find("#palette").open) {
      if (key === "ArrowDown" || key === "ArrowUp") { event.preventDefault(); moveCommand(key === "ArrowDown" ? 1 : -1); }
      if (key === "Enter") { event.preventDefault(); const chosen = find("#palette-list [aria-selected=true]"); if (chosen?.command) run(chosen.command); }
      return;
    }
    const sending = (event.ctrlKey || event.metaKey) && key === "Enter" && event.target.closest?.("form[data-sends]");
    if (sending && !find("dialog[open]")) { event.preventDefault(); sending.requestSubmit(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) return;
    if (key === "Escape") {
      const menu = event.target.closest("details.menu[open]") ?? find("details.menu[open]");
      if (menu) { menu.open = false; find("summary", menu).focus(); return; }
      if (isTyping(event)) { event.target.blur(); return; }
      back();
      return;
    }
    if (isTyping(event)) return;
    const actions = {
      j: () => step(1), k: () => step(-1), "/": () => find("#main input[type=search]")?.focus(), "?": () => find("#keys").showModal(),
      p: () => find("[data-follow]")?.click(), r: () => find("[data-exchange] button[data-resend]")?.click(),
      e: () => find("[data-exchange] button[data-edit]")?.click(), m: () => find("[data-exchange] a[data-make]")?.click(),
    };
    const action = actions[key] ?? actions[key.toLowerCase()];
    if (action) { event.preventDefault(); action(); }
    if (key === "Enter" && event.target === document.body) find("[data-row][aria-selected] a.main, [data-row][aria-selected] a")?.click();
  });

  /** The link that a row is as a whole. None where the pointer is on a part that does something else, or has marked text. */
  function linkOfRow(event) {
    const row = event.target.closest?.("tr[data-row]");
    if (!row || event.target.closest("a, button, input, select, textarea, label, summary")) return null;
    const marked = getSelection();
    return !marked.isCollapsed && row.contains(marked.anchorNode) ? null : find("a.main[href]", row);
  }

  // A middle click, or one with a key, opens a row as it opens a link: beside this page.
  document.addEventListener("mousedown", event => { if (event.button === 1 && linkOfRow(event)) event.preventDefault(); });
  document.addEventListener("auxclick", event => {
    const link = event.button === 1 ? linkOfRow(event) : null;
    if (link) open(link.href, "_blank", "noopener");
  });

  document.addEventListener("click", event => {
    const own = event.button === 0 ? linkOfRow(event) : null;
    const target = own ?? event.target.closest("a, button, [data-advance-to]");
    for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    if (own && (event.ctrlKey || event.metaKey || event.shiftKey)) return void open(own.href, "_blank", "noopener");
    if (!target || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (target.dataset.advance) return void advance(target, {by: target.dataset.advance});
    if (target.hasAttribute("data-advance-to")) { event.preventDefault(); return void advance(target, {to: target.getAttribute("data-advance-to")}); }
    if (target.nodeName === "BUTTON" && target.dataset.call) {
      const body = target.dataset.body ? JSON.parse(target.dataset.body) : undefined;
      return void act(target, target.dataset.call, target.dataset.to, body).then(answer => {
        if (!answer?.ok) return;
        if (target.hasAttribute("data-resend")) resent(answer.body); else refreshAfter(target);
      });
    }
    if (target.hasAttribute("data-follow")) { if (isFollowing()) { isPaused = true; showFollowing(); } else follow(); return; }
    if (target.hasAttribute("data-news")) return follow();
    if (target.dataset.copy) return void toClipboard(find(`[data-copied="${target.dataset.copy}"]`).textContent);
    if (target.hasAttribute("data-edit")) {
      const editor = find("[data-editor]");
      editor.setAttribute("data-managed", "");
      editor.hidden = !editor.hidden;
      if (!editor.hidden) find("[name=body]", editor).focus();
      return;
    }
    if (target.dataset.open) return target.dataset.open === "palette" ? openPalette() : find(`#${target.dataset.open}`).showModal();
    if (target.hasAttribute("data-close")) return target.closest("dialog").close();
    if (target.dataset.readOnlyMode) {
      document.cookie = `sim_console_read_only=${target.dataset.readOnlyMode === "on" ? 1 : 0}; path=/; SameSite=Strict`;
      return location.reload();
    }
    if (target.nodeName !== "A" && target.nodeName !== "a") return;
    const href = target.getAttribute("href") ?? "";
    const url = new URL(href, location.href);
    const isHere = url.origin === location.origin && (url.pathname === page.console || url.pathname.startsWith(`${page.console}/`));
    if (!isHere || href.startsWith("#") || target.hasAttribute("data-full") || target.hasAttribute("download") || target.target) { if (own) own.click(); return; }
    event.preventDefault();
    for (const menu of all("details.menu[open]")) menu.open = false;
    if (target.closest("[data-detail]") && target.hasAttribute("data-back")) return closeDetail(target);
    visit(url.href, {isReplacing: target.hasAttribute("data-soft") && find("[data-detail]") !== null, isByKey: event.detail === 0});
  });

  document.addEventListener("submit", event => {
    const form = event.target;
    if (form.hasAttribute("data-visit")) {
      event.preventDefault();
      const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
      visit(`${form.getAttribute("action")}${query.size ? `?${query}` : ""}`);
    } else if (form.dataset.call) {
      event.preventDefault();
      submit(form);
    }
  });

  function edited(event) {
    if (event.target.id === "find-namespace") return void listNamespaces();
    if (event.target.closest("#palette")) return showCommands();
    const form = event.target.closest("form[data-call]");
    if (!form) return;
    form.setAttribute("data-dirty", "");
    prepareForm(form);
  }

  document.addEventListener("input", edited);
  document.addEventListener("change", event => {
    // Of a text this comes when it loses the focus, and every letter came before.
    if (event.target.hasAttribute("data-submit")) event.target.form.requestSubmit();
    else if (event.target.matches("select, [type=checkbox], [type=radio], [type=file]")) edited(event);
  });

  addEventListener("popstate", event => {
    // A link to a place of the same page, such as the one to the content.
    if (location.pathname + location.search === shown) return;
    depth = event.state?.depth ?? 0;
    visit(location.href, {isNew: false, y: event.state?.y ?? 0});
  });
  addEventListener("scroll", showFollowing, {passive: true});
  document.addEventListener("toggle", event => { if (event.target.matches?.("details[data-menu=namespaces][open]")) listNamespaces(); }, true);
  document.addEventListener("visibilitychange", () => {
    // A browser has few connections to a host. A page that nobody sees gives its own back.
    if (document.hidden) { source?.close(); show("off", "waiting"); } else { listen(); changed(); }
  });

  history.scrollRestoration = "manual";
  history.replaceState({...history.state, depth}, "");
  setInterval(tick, 1000);
  prepare();
  if (location.hash) {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.nodeName === "DETAILS") target.open = true;
    target?.scrollIntoView({block: "center"});
    if (target?.nodeName === "TR") target.setAttribute("aria-selected", "true");
  } else showDetail();
  if (!document.hidden) listen();
})();
