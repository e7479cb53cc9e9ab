// Job page: tabs that keep their scroll position and URL, and a live header.
import { live } from "./live.js";
import { isEnglish, say } from "./words.js";

const root = document.querySelector("[data-job]");
if (root) {
  const tabs = [...document.querySelectorAll(".tabs [role=tab]")];
  const scrolls = new Map();
  let heard = null;

  function show(name, push = true) {
    const before = tabs.find((tab) => tab.getAttribute("aria-selected") === "true");
    if (before) scrolls.set(before.dataset.tab, window.scrollY);
    for (const tab of tabs) {
      const on = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(on));
      document.getElementById(`tab-${tab.dataset.tab}`).hidden = !on;
    }
    if (push) {
      const url = new URL(location);
      url.searchParams.set("tab", name);
      history.replaceState(null, "", url);
    }
    window.scrollTo({ top: scrolls.get(name) ?? 0 });
    document.querySelectorAll(`#tab-${name} [data-log]`).forEach((el) => el.logView?.draw());
    window.dispatchEvent(new Event("resize"));
  }

  for (const tab of tabs)
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      show(tab.dataset.tab);
    });
  if (/^#L\d+$/.test(location.hash)) show("logs");

  if (root.dataset.final !== "true")
    live().subscribe(`job:${root.dataset.job}`, { event: changed, resync: age });

  function changed(job) {
    const state = document.querySelector("[data-head] .state");
    const was = state.dataset.state;
    state.className = `state ${job.is_stale ? "unknown" : job.state}`;
    state.lastElementChild.textContent = say(job.is_stale ? "unknown" : job.state);
    const isTold = isEnglish || heard === job.state_text; // events contain English text; in other languages, ask the server
    if (isEnglish) document.querySelector("[data-state-text]").textContent = job.state_text;
    heard = job.state_text;
    // Timeline, reason and actions are rendered by the server; log and charts stay as they are.
    if (was !== job.state || !isTold) {
      state.dataset.state = job.state;
      redraw();
    }
    if (job.finished_at) root.dataset.final = "true"; // no more updates
  }

  async function redraw() {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (fresh) part.replaceChildren(...fresh.childNodes);
    }
  }

  // Poll until the deletion ends; the log then reports it.
  async function gone() {
    await redraw();
    if (document.querySelector("[data-deleting]")) setTimeout(gone, 2000);
    else location.reload();
  }
  if (document.querySelector("[data-deleting]")) setTimeout(gone, 1000);

  setInterval(() => {
    if (root.dataset.final !== "true" && document.visibilityState === "visible") age();
  }, 5000);
  async function age() {
    const answer = await fetch(root.dataset.url, { headers: { Accept: "application/json" } });
    if (answer.ok) changed(await answer.json());
  }
}
