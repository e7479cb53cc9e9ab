// Relative times that tick, with the absolute one on hover, in the reader's zone; durations as "2h 04m".
export function span(seconds) {
  const s = Math.max(Math.floor(seconds), 0);
  if (s < 90) return `${s} s`;
  const m = Math.floor(s / 60), h = Math.floor(s / 3600);
  if (m < 60) return `${m} min`;
  if (h < 48) return `${h}h ${String(m % 60).padStart(2, "0")}m`;
  return `${Math.floor(h / 24)}d ${String(h % 24).padStart(2, "0")}h`;
}

export function tick(root = document) {
  const now = Date.now();
  for (const at of root.querySelectorAll("time[data-rel]")) {
    const then = new Date(at.dateTime);
    if (!at.title) at.title = then.toLocaleString();
    const text = at.dataset.rel === "span" ? span((now - then) / 1000) : ago((now - then) / 1000);
    if (at.textContent !== text) at.textContent = text;
  }
}

function ago(seconds) {
  return seconds < 5 ? "just now" : seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`;
}

tick();
setInterval(tick, 1000);
document.addEventListener("htmx:afterSettle", () => tick());
