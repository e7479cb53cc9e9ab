// The list of jobs: selection with its bar, and rows that change in place. New rows wait behind "3 new" when one has scrolled,
// filtered or paged; nothing jumps.
import { live } from "./live.js";
import { tick } from "./time.js";

const root = document.querySelector("[data-jobs]");
if (root) {
  const bar = document.querySelector(".bulk"), pill = document.querySelector(".fresh");
  let fresh = new Set();

  const chosen = () => [...document.querySelectorAll("input[name=job]:checked")];
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) document.querySelectorAll("input[name=job]").forEach((box) => { box.checked = event.target.checked; });
    if (event.target.matches("[data-all], input[name=job]")) select();
  });

  function select() {
    document.querySelectorAll("tr[data-id]").forEach((row) => row.classList.toggle("is-selected", row.querySelector("input[name=job]")?.checked ?? false));
    bar.hidden = !chosen().length;
    bar.querySelector("b").textContent = `${chosen().length} selected`;
  }

  live().subscribe(root.dataset.topic, { event: update, resync: () => chosen().length || refresh() });

  function update(job) {
    const row = document.querySelector(`tr[data-id="${job.id}"]`);
    if (!row) { if (root.dataset.first === "true") { fresh.add(job.id); arrived(); } return; }
    const state = row.querySelector(".state");
    state.className = `state ${job.is_stale ? "unknown" : job.state}`;
    state.lastChild.textContent = job.is_stale ? "unknown" : job.state;
    state.title = job.state_text;
    const why = row.querySelector("[data-why]");
    why.textContent = why.title = job.pending?.text ?? (job.state === "failed" ? (job.reason?.evidence || job.reason?.headline || "") : "");
    const where = row.querySelector("[data-where]");
    if (where && job.nodes?.length) {
      where.textContent = job.nodes.length > 1 ? `${job.nodes[0]} + ${job.nodes.length - 1} more` : job.nodes[0];
      where.title = job.nodes.slice(0, 50).join(", ");
    }
    const time = row.querySelector("[data-took]");
    if (time && job.started_at && !job.finished_at && !time.querySelector("time")) {
      time.innerHTML = '<time data-rel="span"></time>';
      time.firstChild.dateTime = job.started_at;
      tick(row);
    } else if (time && job.finished_at && job.started_at) time.textContent = took(job);
  }

  function took(job) {
    const s = (new Date(job.finished_at) - new Date(job.started_at)) / 1000;
    return s < 90 ? `${Math.round(s)} s` : s < 3600 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)}h ${String(Math.floor(s / 60) % 60).padStart(2, "0")}m`;
  }

  function arrived() {
    const isAway = window.scrollY > 80 || chosen().length || root.dataset.filtered === "true";
    if (!isAway) { clearTimeout(arrived.timer); arrived.timer = setTimeout(() => (chosen().length ? arrived() : refresh()), 250); return; }
    pill.hidden = false;
    pill.textContent = `${fresh.size} new`;
  }

  async function refresh() {
    const answer = await fetch(location.href, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const body = page.querySelector("[data-jobs]");
    if (!body) return;
    const kept = new Set(chosen().map((box) => box.value));
    root.replaceChildren(...body.childNodes);
    tick(root);
    root.querySelectorAll("input[name=job]").forEach((box) => { box.checked = kept.has(box.value); });
    select();
    fresh = new Set();
    pill.hidden = true;
  }

  pill.addEventListener("click", () => { window.scrollTo({ top: 0 }); refresh(); });
}
