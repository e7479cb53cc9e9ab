// Live relative times with the absolute time on hover, in the user's time zone; durations as "2h 04m".
import { locale, say } from "./words.js";

export function span(seconds) {
  const s = Math.max(Math.floor(seconds), 0);
  if (s < 90) return say("{n} s", { context: "time", n: s });
  const m = Math.floor(s / 60),
    h = Math.floor(s / 3600);
  if (m < 60) return say("{n} min", { context: "time", n: m });
  if (h < 48) return say("{h}h {m}m", { context: "time", h, m: String(m % 60).padStart(2, "0") });
  return say("{d}d {h}h", {
    context: "time",
    d: Math.floor(h / 24),
    h: String(h % 24).padStart(2, "0"),
  });
}

export function tick(root = document) {
  const now = Date.now();
  for (const at of root.querySelectorAll("time[data-rel]")) {
    const then = new Date(at.dateTime);
    if (!at.title) at.title = then.toLocaleString(locale);
    if (at.dataset.rel === "clock") {
      at.textContent = atClock(at.textContent, then);
      continue;
    }
    const text = at.dataset.rel === "span" ? span((now - then) / 1000) : ago((now - then) / 1000);
    if (at.textContent !== text) at.textContent = text;
  }
}

// A sentence with a time in UTC ("About 14:20 UTC, …") in the user's time zone.
export function atClock(text, then) {
  const isSoon = then - Date.now() < 20 * 3600_000;
  const day = isSoon ? {} : { weekday: "short", month: "short", day: "numeric" };
  const clock = then.toLocaleString(locale, { ...day, hour: "2-digit", minute: "2-digit" });
  return text.replace(/(\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/, clock);
}

export function ago(seconds) {
  if (seconds < -5) return say("in {time}", { context: "time", time: distance(-seconds) });
  return seconds < 5
    ? say("just now", { context: "time" })
    : say("{time} ago", { context: "time", time: distance(seconds) });
}

// A span that is less exact the longer it is: "3h 14m", "1d 3h", "12d".
function distance(seconds) {
  const h = Math.floor(seconds / 3600),
    d = Math.floor(h / 24);
  if (!d) return span(seconds);
  return d < 7 && h % 24
    ? say("{d}d {h}h", { context: "time", d, h: h % 24 })
    : say("{n}d", { context: "time", n: d });
}

if (globalThis.document) {
  // Filters such as "yesterday" begin at midnight here.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `muster_zone=${zone}; path=/; samesite=lax; max-age=31536000`;
  tick();
  setInterval(tick, 1000);
  document.addEventListener("swapped", () => tick());
}
