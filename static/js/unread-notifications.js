// The link to notifications in the top bar: the number of unread notifications, kept up to date by the websocket. The
// last number is shown at once, so that the bar does not jump.
import "./drawer.js";
import "./swap.js";
import { live } from "./live.js";
import { say } from "./words.js";

const MOST = 99;
const link = document.querySelector("[data-notifications]");

if (link) {
  show(Number(sessionStorage.getItem("unread")) || 0);
  count();
  const ask = () => count();
  live().subscribe(link.dataset.notifications, { event: ask, resync: ask });
  document.addEventListener("swapped", ask);
}

async function count() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  try {
    const answer = await fetch(`${link.pathname}/unread?zone=${encodeURIComponent(zone)}`);
    if (!answer.ok) return;
    const { unread } = await answer.json();
    sessionStorage.setItem("unread", unread);
    show(unread);
  } catch {
    // The next message asks again.
  }
}

function show(unread) {
  const badge = link.querySelector(".unread-count");
  badge.hidden = !unread;
  badge.textContent = unread > MOST ? `${MOST}+` : unread;
  link.title = unread
    ? say("{n} unread notifications", { context: "tooltip", n: badge.textContent })
    : say("Notifications", { context: "text, unread-notifications" });
}
