// The script of a report: search, pictures and links. It needs no server.
"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const entries = [...document.querySelectorAll("[data-words]")];
  const input = document.getElementById("find");

  function show(box) {
    for (const image of box.querySelectorAll("img[data-picture]:not([src])")) {
      const data = pictures[image.dataset.picture];
      if (data) { image.src = data; continue; }
      const tile = document.createElement("span");
      tile.className = "tile";
      tile.textContent = `${image.alt}, left out`;
      image.replaceWith(tile);
    }
  }

  /** Shows the entries that have every word. A word with a colon must begin as the entry's does. */
  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const entry of entries) {
      const own = ` ${entry.dataset.words}`;
      let text = null;
      const fits = words.every(word => /^(status|method|route|user|test|fault|kind|subject|brand|result|flag|event):./.test(word) ? own.includes(` ${word.replace(/\*+$/, "")}`) : own.includes(word) || (text ??= entry.textContent.toLowerCase()).includes(word));
      entry.hidden = !fits;
      if (fits) count += 1;
    }
    document.getElementById("found").textContent = words.length > 0 ? `${count} of ${entries.length}` : "";
  }

  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 80); });
  document.addEventListener("toggle", event => { if (event.target.open) show(event.target); }, true);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && event.target !== input) { event.preventDefault(); input.focus(); }
  });
  /** Shows the entry that an address or a link names. */
  function reveal(name) {
    const target = document.getElementById(name), box = target?.closest("details");
    if (box) { box.hidden = false; box.open = true; target.scrollIntoView({block: "start"}); }
  }
  document.addEventListener("click", event => {
    const link = event.target.closest("a[href^='#request-']");
    if (link) reveal(link.getAttribute("href").slice(1));
  });
  // The marks of timelines lead to the console's pages; here, to the entry.
  document.addEventListener("click", event => {
    const link = event.target.closest("a[href^='/']");
    if (!link) return;
    event.preventDefault();
    const name = decodeURIComponent(link.getAttribute("href").split(/[/#]/).at(-1));
    const target = document.getElementById(name);
    if (target) { target.hidden = false; target.open = true; target.scrollIntoView({block: "start"}); }
  });
})();
