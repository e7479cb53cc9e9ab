// Job list: rows that update in place. New rows wait behind "3 new" if the list is scrolled, filtered
// or paged, so that nothing moves.
import { keepFocus } from "./focus.js";
import { live } from "./live.js";
import { chosen, showSelection } from "./select.js";
import { span, tick } from "./time.js";
import { isEnglish, say } from "./words.js";

const root = document.querySelector("[data-jobs]");
if (root) {
  const pill = document.querySelector(".fresh");
  const heard = new Map();
  let fresh = new Set();

  live().subscribe(root.dataset.topic, {
    event: update,
    resync: () => chosen().length || refresh(),
  });

  function update(job) {
    const row = document.querySelector(`tr[data-id="${job.id}"]`);
    if (!row) {
      if (root.dataset.first === "true") {
        fresh.add(job.id);
        arrived();
      }
      return;
    }
    const state = row.querySelector(".state");
    state.className = `state ${job.is_stale ? "unknown" : job.state}`;
    state.lastElementChild.textContent = say(job.is_stale ? "unknown" : job.state, {
      context: "state of a job",
    });
    told(
      row,
      state,
      job.state_text,
      job.pending?.text ?? (job.state === "failed" ? whyFailed(job.reason ?? {}) : ""),
    );
    const where = row.querySelector("[data-where]");
    if (where && job.nodes?.length) {
      where.textContent =
        job.nodes.length > 1
          ? say("{name} + {n} more", {
              context: "text, table",
              name: job.nodes[0],
              n: job.nodes.length - 1,
            })
          : job.nodes[0];
      where.title = job.nodes.slice(0, 50).join(", ");
    }
    const time = row.querySelector("[data-took]");
    if (job.started_at) time?.classList.remove("skip");
    if (time && job.started_at && !job.finished_at && !time.querySelector("time")) {
      time.innerHTML = '<time data-rel="span"></time>';
      time.firstElementChild.dateTime = job.started_at;
      tick(row);
    } else if (time && job.finished_at && job.started_at)
      time.textContent = span((new Date(job.finished_at) - new Date(job.started_at)) / 1000);
  }

  // Events contain English text; in other languages, changed rows are requested from the server.
  function told(row, state, text, reason) {
    const why = row.querySelector("[data-why]");
    if (isEnglish) {
      state.title = text;
      if (why) why.textContent = why.title = reason;
      return;
    }
    if (!reason && why) why.textContent = why.title = "";
    if (heard.get(row.dataset.id) === text + reason) return;
    heard.set(row.dataset.id, text + reason);
    told.timer ??= setTimeout(() => {
      told.timer = null;
      if (!chosen().length) refresh();
    }, 1000);
  }

  function arrived() {
    const isAway = window.scrollY > 80 || chosen().length || root.dataset.filtered === "true";
    if (!isAway) {
      clearTimeout(arrived.timer);
      arrived.timer = setTimeout(() => (chosen().length ? arrived() : refresh()), 250);
      return;
    }
    pill.hidden = false;
    pill.textContent = say("{n} new", { context: "text, table", n: fresh.size });
  }

  async function refresh() {
    const answer = await fetch(location.href, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const body = page.querySelector("[data-jobs]");
    if (!body) return;
    const kept = new Set(chosen().map((box) => box.value));
    keepFocus(root, () => root.replaceChildren(...body.childNodes));
    tick(root);
    root.querySelectorAll("input[name=job]").forEach((box) => {
      box.checked = kept.has(box.value);
    });
    showSelection();
    fresh = new Set();
    pill.hidden = true;
  }

  pill.addEventListener("click", () => {
    window.scrollTo({ top: 0 });
    refresh();
  });
}

// What the program said of its own error, else the reason in a sentence; as in _job_row.html.
const whyFailed = ({ code, evidence, headline }) =>
  (code === "user_error" && evidence) || headline || "";
