// The search of all pages and the filter of the map. Everything else works without this file.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const base = root.dataset.root || "";

  // MARK: Search

  /** The words of a query, in lower case. */
  const termsOf = query => query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  /** Whether a word begins at this place of a text. */
  const begins = (text, place) => place === 0 || !/[\p{L}\p{N}]/u.test(text[place - 1]);

  /** How well a word fits a heading: the whole of it, one of its words, the beginning of one, a part of one. */
  const inHeading = (heading, term) => {
    if (heading === term) return 120;
    let best = 0;
    for (let place = heading.indexOf(term); place >= 0; place = heading.indexOf(term, place + 1)) {
      const end = place + term.length;
      const isWhole = end === heading.length || !/[\p{L}\p{N}]/u.test(heading[end]);
      best = Math.max(best, begins(heading, place) ? (isWhole ? 60 : 35) : 12);
    }
    return best;
  };
  const inText = (text, term) => {
    let found = 0, best = 0;
    for (let place = text.indexOf(term); place >= 0 && found < 6; place = text.indexOf(term, place + term.length)) {
      found += 1;
      best = Math.max(best, begins(text, place) ? 6 : 2);
    }
    return best + Math.min(found, 5);
  };

  /** The best sections of an index for a query. Every word must be found: in the heading, the page's title or the text. */
  const search = (index, query, most = 12) => {
    const terms = termsOf(query), phrase = terms.join(" ");
    if (!terms.length) return [];
    const hits = [];
    for (const [number, [page, anchor, heading, text]] of index.sections.entries()) {
      const [url, title, weight, group] = index.pages[page];
      const low = index.lower?.[number] ?? [heading.toLowerCase(), title.toLowerCase(), text.toLowerCase()];
      // The first section of a page has the page's title for its heading.
      const own = heading ? low[0] : low[1];
      let score = 0;
      for (const term of terms) {
        const points = inHeading(own, term) * 2 || inText(low[2], term) || (inHeading(low[1], term) ? 1 : 0);
        if (!points) { score = 0; break; }
        score += points + (heading && inHeading(low[1], term) ? 5 : 0);
      }
      if (!score) continue;
      if (terms.length > 1) score += own === phrase ? 150 : own.includes(phrase) ? 80 : low[2].includes(phrase) ? 15 : 0;
      // A short heading is about less else; the beginning of a page is where to read first.
      score += 20 / (1 + own.length / 20) + (heading ? 0 : 8);
      hits.push({ url: url + (anchor ? `#${anchor}` : ""), heading: heading || title, title, group, text, score: score * weight, number });
    }
    return hits.sort((a, b) => b.score - a.score || a.number - b.number).slice(0, most);
  };
  window.siteSearch = search;

  const field = document.getElementById("find"), list = document.getElementById("hits"), said = document.getElementById("said");
  let index = null, loading = null, selected = -1;

  const load = () => loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${base}search-index.js`;
    script.onload = () => {
      index = window.siteIndex;
      index.lower = index.sections.map(([page, , heading, text]) => [heading, index.pages[page][1], text].map(one => one.toLowerCase()));
      done();
    };
    script.onerror = failed;
    document.head.append(script);
  });

  /** The text with the words of the query marked, as nodes: no text of a page is read as HTML. */
  const marked = (text, terms) => {
    const low = text.toLowerCase(), nodes = [];
    let from = 0;
    while (from < text.length) {
      let next = -1, length = 0;
      for (const term of terms) {
        const place = low.indexOf(term, from);
        if (place >= 0 && (next < 0 || place < next)) { next = place; length = term.length; }
      }
      if (next < 0) break;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next, next + length);
      nodes.push(text.slice(from, next), mark);
      from = next + length;
    }
    nodes.push(text.slice(from));
    return nodes;
  };

  const part = (name, ...nodes) => {
    const element = document.createElement("span");
    element.className = name;
    element.append(...nodes);
    return element;
  };

  const excerpt = (text, terms) => {
    const low = text.toLowerCase();
    const place = Math.max(0, Math.min(...terms.map(term => low.indexOf(term)).filter(found => found >= 0), text.length));
    const from = place > 60 && place < text.length ? text.indexOf(" ", place - 60) + 1 : 0;
    return (from ? "… " : "") + text.slice(from, from + 170) + (from + 170 < text.length ? " …" : "");
  };

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
    selected = -1;
  };

  const show = () => {
    const query = field.value.trim(), terms = termsOf(query);
    if (!terms.length || !index) return close();
    const hits = search(index, query);
    selected = -1;
    list.replaceChildren(...hits.map((hit, number) => {
      const link = document.createElement("a");
      link.href = base + hit.url;
      link.id = `hit-${number}`;
      link.setAttribute("role", "option");
      link.setAttribute("aria-selected", "false");
      link.tabIndex = -1;
      link.append(part("where", hit.heading === hit.title ? hit.group : `${hit.group} › ${hit.title}`), ...marked(hit.heading, terms),
                  part("words", ...marked(excerpt(hit.text, terms), terms)));
      return link;
    }));
    if (!hits.length) {
      const nothing = document.createElement("p");
      nothing.setAttribute("role", "option");
      nothing.setAttribute("aria-selected", "false");
      nothing.textContent = `Nothing has “${query}”. Try fewer words, or a part of one.`;
      list.append(nothing);
    }
    said.textContent = hits.length ? `${hits.length} results` : "Nothing found";
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    field.removeAttribute("aria-activedescendant");
  };

  const select = step => {
    const links = [...list.querySelectorAll("a")];
    if (!links.length) return;
    selected = (selected + step + links.length) % links.length;
    for (const [number, link] of links.entries()) link.setAttribute("aria-selected", String(number === selected));
    field.setAttribute("aria-activedescendant", links[selected].id);
    links[selected].scrollIntoView({ block: "nearest" });
  };

  if (field) {
    if (innerWidth > 900) field.placeholder = "Search (press /)";
    field.addEventListener("focus", () => load().then(show, () => { said.textContent = "The search index cannot be read"; }));
    field.addEventListener("input", () => load().then(show, () => {}));
    field.form.addEventListener("submit", event => {
      event.preventDefault();
      load().then(() => {
        show();
        const links = list.querySelectorAll("a");
        const link = links[Math.max(selected, 0)];
        if (link) { close(); location.href = link.href; }
      }, () => {});
    });
    field.addEventListener("keydown", event => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) show();
        select(event.key === "ArrowDown" ? 1 : selected < 0 ? 0 : -1);
      } else if (event.key === "Enter" && selected >= 0) {
        event.preventDefault();
        const link = list.querySelectorAll("a")[selected];
        close();
        location.href = link.href;
      } else if (event.key === "Escape") {
        close();
        field.value = "";
      }
    });
    list.addEventListener("click", event => { if (event.target.closest("a")) close(); });
    document.addEventListener("click", event => { if (!event.target.closest(".find")) close(); });
    document.addEventListener("keydown", event => {
      const isTyping = event.target.closest?.("input, textarea, select");
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        field.focus();
        field.select();
      }
    });
  }

  // The page that is shown is in sight in the list of pages.
  const current = document.querySelector(".side [aria-current]");
  if (current) {
    const side = current.closest(".side");
    if (current.offsetTop > side.clientHeight - 60) side.scrollTop = current.offsetTop - side.clientHeight / 2;
  }

  // MARK: The map of fidelity

  const filter = document.getElementById("filter");
  let showAll = () => {};
  if (filter) {
    const buttons = [...document.querySelectorAll(".filter [data-kind]")], shown = document.getElementById("shown");
    const areas = [...document.querySelectorAll("[data-area]")].map(area => ({
      area, details: area.querySelector("details"),
      rules: [...area.querySelectorAll(".rule")].map(rule => ({
        rule, tile: area.querySelector(`[data-rule="${CSS.escape(rule.id)}"]`), kind: rule.dataset.kind,
        text: `${area.querySelector("h2").textContent} ${rule.textContent}`.toLowerCase(),
      })),
    }));
    const apply = () => {
      const kinds = new Set(buttons.filter(one => one.getAttribute("aria-pressed") === "true").map(one => one.dataset.kind));
      const terms = termsOf(filter.value);
      let all = 0, found = 0;
      for (const { area, details, rules } of areas) {
        let here = 0;
        for (const { rule, tile, kind, text } of rules) {
          const isShown = (!kinds.size || kinds.has(kind)) && terms.every(term => text.includes(term));
          rule.hidden = tile.hidden = !isShown;
          here += isShown;
        }
        all += rules.length;
        found += here;
        area.hidden = !here;
        // Words that were looked for are in the rules.
        if (terms.length) details.open = true;
      }
      shown.textContent = found === all ? "" : found ? `${found} of ${all} rules` : "No rule has these words. Try fewer of them, or another kind.";
    };
    /** Shows all rules again, for a link to one that is hidden. */
    showAll = () => {
      filter.value = "";
      for (const button of buttons) button.setAttribute("aria-pressed", "false");
      apply();
    };
    filter.form.addEventListener("submit", event => event.preventDefault());
    filter.addEventListener("input", apply);
    for (const button of buttons) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        apply();
      });
    }
  }

  // A link to what is folded away opens it.
  const unfold = () => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (target?.closest("[hidden]")) showAll();
    for (let element = target?.parentElement; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
