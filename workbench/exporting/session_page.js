"use strict";
// Shows and hides parts of the page, highlights pieces, walks through the steps. Texts are only ever moved as text.
(() => {
  const SWITCHES = ["case", "wording", "reply", "column"];
  const root = document.documentElement;
  const by = (id) => document.getElementById(id);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const chosen = { case: "0", wording: "0", reply: "0", column: "0" };
  const switched = all(SWITCHES.map((name) => `[data-${name}]`).join(","));
  const origins = [...by("origins").children].map((one) => ({ name: one.textContent, field: one.dataset.field }));
  const texts = [...by("texts").children].map((one) => one.textContent);
  const pieces = new Map();
  for (const one of all("[data-key]")) {
    if (!pieces.has(one.dataset.key)) pieces.set(one.dataset.key, []);
    pieces.get(one.dataset.key).push(one);
  }
  const isShown = (one) => one.closest("[hidden]") === null;

  for (const one of all("[data-text]")) one.textContent = texts[Number(one.dataset.text)];

  // -- what is chosen

  function show() {
    for (const one of switched) {
      one.hidden = SWITCHES.some((name) => {
        const places = one.dataset[name];
        return places !== undefined && !places.split(" ").includes(chosen[name]);
      });
    }
    const said = all("#switches .tabs, #lesson .tabs").map((group) => {
      const picked = group.querySelector("input:checked + span");
      return `${group.querySelector("legend").textContent}: ${picked.textContent}`;
    });
    const who = by("reply");
    said.push(`Reply of ${who.options[who.selectedIndex].textContent}`);
    by("chosen").textContent = said.join(" · ");
    unlight();
  }

  function choose(name, value) {
    chosen[name] = value;
    show();
    if (root.classList.contains("stepping")) step(Math.min(at, steps().length - 1), false);
  }

  for (const box of all("input[type=radio]")) {
    box.addEventListener("change", () => choose(box.name, box.value));
    if (box.checked) chosen[box.name] = box.value;
  }
  by("reply").addEventListener("change", () => choose("reply", by("reply").value));
  chosen.reply = by("reply").value;

  // -- what lights up

  function unlight() {
    for (const one of all(".lit")) one.classList.remove("lit");
    by("named").hidden = true;
  }

  function columnOf(one) {
    const column = one.closest(".column");
    return column === null ? "" : column.querySelector("h3").textContent.split(" → ")[0];
  }

  function light(found, name, from) {
    unlight();
    const seen = found.filter(isShown);
    for (const one of seen) one.classList.add("lit");
    const columns = [...new Set(seen.map(columnOf))].filter((one) => one !== "");
    const said = `${name} — in ${columns.length === 0 ? "no column" : columns.join(", ")}`;
    by("named").textContent = said;
    by("named").hidden = false;
    if (from !== null) {
      reveal(seen, from);
      by("said").textContent = from === undefined ? said : `${said}: ${from.textContent.slice(0, 200)}`;
    }
  }

  // The first lit piece of each text is scrolled into the text's own view; the page itself stays where it is.
  function reveal(found, from) {
    const done = new Set();
    for (const one of from === undefined ? found : [from, ...found]) {
      const text = one.closest("pre");
      if (text === null || done.has(text)) continue;
      done.add(text);
      const place = one.getBoundingClientRect();
      const view = text.getBoundingClientRect();
      if (place.top < view.top || place.bottom > view.bottom) {
        text.scrollTop += place.top - view.top - text.clientHeight / 3;
      }
    }
  }

  const lightKey = (piece, from) => light(pieces.get(piece.dataset.key), origins[Number(piece.dataset.key)].name, from);

  document.addEventListener("mouseover", (event) => {
    const piece = event.target.closest("[data-key]");
    if (piece !== null) lightKey(piece, null);
    else if (event.target.closest("pre, button") === null) unlight();
  });
  document.addEventListener("click", (event) => {
    const piece = event.target.closest("[data-key]");
    if (piece !== null) {
      walked.set(piece.closest("pre"), piece);
      lightKey(piece, piece);
    }
  });
  for (const button of all("[data-light]")) {
    button.addEventListener("click", () => {
      const found = [...pieces.entries()].filter(([key]) => origins[Number(key)].field === button.dataset.light);
      light(found.flatMap(([, some]) => some), button.textContent, undefined);
    });
  }
  const walked = new Map();
  for (const text of all("pre.pieces")) {
    text.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") unlight();
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const mine = all("[data-key]", text);
      if (mine.length === 0) return;
      event.preventDefault();
      const before = mine.indexOf(walked.get(text));
      const next = before + (event.key === "ArrowRight" ? 1 : -1);
      const piece = mine[Math.max(0, Math.min(mine.length - 1, next))];
      walked.set(text, piece);
      lightKey(piece, piece);
    });
  }

  // -- step by step

  let at = 0;
  const steps = () => all("#lesson .steps > li").filter(isShown);
  const columnNow = (section) => by(section).querySelectorAll(".column")[Number(chosen.column)];

  function literal(item) {
    if (item.dataset.at !== undefined) {
      return all(`[data-step="${item.dataset.at}"]`, columnNow("prompts")).filter(isShown);
    }
    const [reply, second] = all("pre.pieces", columnNow("replies")).filter(isShown);
    const text = item.dataset.second === undefined ? reply : second;
    if (text === undefined) return [];
    return item.dataset.spans.split(" ").filter((one) => one !== "").map((one) => text.children[Number(one)])
      .filter((one) => one !== undefined);
  }

  function clear() {
    for (const one of all(".step-lit")) one.classList.remove("step-lit");
    for (const one of all(".steps > li.now")) one.classList.remove("now");
  }

  function step(place, moves = true) {
    const items = steps();
    if (items.length === 0) return;
    at = Math.max(0, Math.min(items.length - 1, place));
    clear();
    unlight();
    const item = items[at];
    item.classList.add("now");
    const picked = columnNow("prompts").querySelector("h3").textContent;
    by("step-place").textContent = `${picked} · step ${at + 1} of ${items.length}`;
    by("step-title").textContent = item.querySelector("button").textContent;
    by("step-words").textContent = item.querySelector("p").textContent;
    const facts = item.querySelector("dl");
    by("step-facts").replaceChildren(...(facts === null ? [] : [facts.cloneNode(true)]));
    by("back").disabled = at === 0;
    by("next").disabled = at === items.length - 1;
    by("panel").hidden = false;
    root.classList.add("stepping");
    const lit = literal(item);
    for (const one of lit) {
      one.classList.add("step-lit");
      const fold = one.closest("details");
      if (fold !== null) fold.open = true;
    }
    const first = lit[0] ?? (item.dataset.at === undefined ? columnNow("replies") : columnNow("prompts"));
    reveal(lit, lit[0]);
    first.scrollIntoView({ block: "start", inline: "nearest" });
    if (moves) by("step-title").focus({ preventScroll: true });
  }

  function end() {
    clear();
    by("panel").hidden = true;
    root.classList.remove("stepping");
    by("begin").focus();
  }

  by("begin").addEventListener("click", () => step(0));
  by("back").addEventListener("click", () => step(at - 1));
  by("next").addEventListener("click", () => step(at + 1));
  by("end").addEventListener("click", end);
  by("panel").addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowRight") step(at + 1);
    else if (event.key === "ArrowLeft") step(at - 1);
    else if (event.key === "Escape") end();
    else return;
    event.preventDefault();
  });
  for (const button of all("button.step")) {
    button.addEventListener("click", () => step(steps().indexOf(button.parentElement)));
  }
  by("big").addEventListener("click", () => {
    const big = root.classList.toggle("big");
    by("big").setAttribute("aria-pressed", String(big));
  });
  show();
  if (by("panel").dataset.begins !== undefined) step(0);
})();
