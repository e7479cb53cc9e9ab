// Job page: tabs that keep their scroll position and URL, the array's grid, and parts that change in place.
import { live } from "./live.js";
import { parts } from "./ansi.js";
import { metric } from "./metric.js";
import { morph } from "./morph.js";
import { tick } from "./time.js";
import { isEnglish, say } from "./words.js";

const EVERY = 30_000; // ms between updates of the numbers of a running job
const TAIL = 20; // lines of the log in the overview
const root = document.querySelector("[data-job]");
if (root) {
  const tabs = [...document.querySelectorAll(".tabs [role=tab]")];
  const log = document.querySelector("[data-log]");
  const scrolls = new Map();
  let heard = null;

  function show(name, push = true) {
    if (!document.getElementById(`tab-${name}`)) {
      location.assign(tabs.find((tab) => tab.dataset.tab === name).href); // read only when asked for
      return;
    }
    const before = tabs.find((tab) => tab.getAttribute("aria-selected") === "true");
    if (before) scrolls.set(before.dataset.tab, window.scrollY);
    for (const tab of tabs) {
      const on = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      const panel = document.getElementById(`tab-${tab.dataset.tab}`);
      if (panel) panel.hidden = !on; // absent: read only when asked for
    }
    if (push) {
      const url = new URL(location);
      url.searchParams.set("tab", name);
      history.replaceState(null, "", url);
    }
    keepTab(name);
    window.scrollTo({ top: scrolls.get(name) ?? 0 });
    document.querySelectorAll(`#tab-${name} [data-log]`).forEach((el) => el.logView?.draw());
    window.dispatchEvent(new Event("resize"));
  }

  // Links to other tasks and attempts open the tab that is shown.
  function keepTab(name) {
    for (const link of root.querySelectorAll(".task-cell, .task-bar a[rel], .attempts a")) {
      const url = new URL(link.href);
      if (name === "overview") url.searchParams.delete("tab");
      else url.searchParams.set("tab", name);
      link.href = url.pathname + url.search;
    }
  }

  for (const tab of tabs) {
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      show(tab.dataset.tab);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs.at((tabs.indexOf(tab) + step) % tabs.length);
      next.focus();
      show(next.dataset.tab);
    });
  }
  if (/^#L\d+$/.test(location.hash)) show("logs");
  root.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open-tab]");
    if (!opener || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(opener.dataset.openTab);
    const error = log?.querySelector("[data-do=error]");
    if ("atError" in opener.dataset && error && !error.hidden) error.click();
    log?.scrollIntoView({ block: "nearest" });
  });

  // Arrow keys move between the cells of the array; the grid is one stop of the Tab key.
  root.querySelector("[data-grid]")?.addEventListener("keydown", (event) => {
    const cells = [...event.currentTarget.querySelectorAll(".task-cell")];
    const at = cells.indexOf(event.target.closest(".task-cell"));
    const width = cells.filter((cell) => cell.offsetTop === cells[0].offsetTop).length;
    const to = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + width,
      ArrowUp: at - width,
      Home: 0,
      End: cells.length - 1,
    }[event.key];
    if (at < 0 || to === undefined || !cells[to]) return;
    event.preventDefault();
    for (const cell of cells) cell.tabIndex = -1;
    cells[to].tabIndex = 0;
    cells[to].focus();
  });

  // The end of the log in the overview follows the log view.
  const tail = root.querySelector("[data-tail]");
  log?.addEventListener("loglines", () => {
    const { lines } = log.logView;
    const rows = [];
    for (let n = Math.max(lines.count - TAIL, lines.first); n < lines.count; n++) {
      for (const part of parts(lines.text(n))) {
        const piece = document.createElement("span");
        if (part.classes) piece.className = part.classes;
        piece.textContent = part.text;
        rows.push(piece);
      }
      rows.push("\n");
    }
    tail.replaceChildren(...rows);
    tail.scrollTop = tail.scrollHeight;
    root.querySelector("[data-tail-empty]").hidden = lines.count > 0;
  });
  tail.scrollTop = tail.scrollHeight;

  if (root.dataset.final !== "true" || root.querySelector("[data-saving]")) {
    live().subscribe(`job:${root.dataset.job}`, { event: changed, resync: age });
    if (!root.querySelector("[data-grid]"))
      live().subscribe(`metrics:job:${root.dataset.job}`, { event: measured });
  }

  function measured({ earlier = [], values }) {
    const last = Object.assign({}, ...earlier.map((step) => step.values), values);
    for (const [name, value] of Object.entries(last)) {
      const shown = root.querySelector(`[data-metric="${CSS.escape(name)}"]`);
      if (shown) shown.textContent = metric(value);
    }
  }

  function changed(job) {
    const state = root.querySelector("[data-part=state] .state");
    state.className = `state big ${job.is_stale ? "unknown" : job.state}`;
    state.dataset.state = job.state;
    state.lastElementChild.textContent = say(job.is_stale ? "unknown" : job.state, {
      context: "state of a job",
    });
    const isTold = isEnglish || heard === job.state_text; // events contain English text; in other languages, ask the server
    heard = job.state_text;
    const shown = `${job.state} ${job.is_held} ${job.pending?.code ?? ""}`;
    const isNew = shown !== root.dataset.shown || job.has_new_outputs;
    if (isNew || !isTold || root.querySelector("[data-grid]")) redraw();
    root.dataset.shown = shown;
    if (job.finished_at) root.dataset.final = "true"; // no more updates
  }

  // The server renders what has changed; the log, the charts, focus and open menus stay as they are.
  let isDrawing = false;
  async function redraw() {
    if (isDrawing) return;
    isDrawing = true;
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
        if (fresh) morph(part, document.adoptNode(fresh));
      }
      keepTab(tabs.find((tab) => tab.getAttribute("aria-selected") === "true").dataset.tab);
      tick();
      const now = page.querySelector("[data-log]");
      if (now && "failed" in now.dataset && log.dataset.key === now.dataset.key) {
        log.dataset.evidence = now.dataset.evidence;
        if (!("failed" in log.dataset)) log.logView.findError();
        log.dataset.failed = "";
      }
    } finally {
      isDrawing = false;
    }
  }

  // Poll until the deletion ends; the log then reports it.
  async function gone() {
    await redraw();
    if (document.querySelector("[data-deleting]")) setTimeout(gone, 2000);
    else location.reload();
  }
  if (document.querySelector("[data-deleting]")) setTimeout(gone, 1000);

  let drawn = Date.now();
  setInterval(() => {
    if (root.dataset.final === "true" || document.visibilityState !== "visible") return;
    if (Date.now() - drawn > EVERY) {
      drawn = Date.now();
      redraw();
    } else age();
  }, 5000);
  async function age() {
    const answer = await fetch(root.dataset.url, { headers: { Accept: "application/json" } });
    if (answer.ok) changed(await answer.json());
  }
}
