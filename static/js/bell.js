// The bell in the top bar: the number of unread notifications, kept up to date by the websocket. The
// last number is shown at once, so that the bar does not jump.
import "./drawer.js";
import "./swap.js";
import { live } from "./live.js";
import { say } from "./words.js";

const MOST = 99;
const bell = document.querySelector("[data-bell]");

if (bell) {
  show(Number(sessionStorage.getItem("unread")) || 0);
  count();
  const ask = () => count();
  live().subscribe(bell.dataset.bell, { event: ask, resync: ask });
  document.addEventListener("swapped", ask);
}

async function count() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  try {
    const answer = await fetch(`${bell.pathname}/unread?zone=${encodeURIComponent(zone)}`);
    if (!answer.ok) return;
    const { unread } = await answer.json();
    sessionStorage.setItem("unread", unread);
    show(unread);
  } catch {
    // The next message asks again.
  }
}

function show(unread) {
  const badge = bell.querySelector(".bell-count");
  badge.hidden = !unread;
  badge.textContent = unread > MOST ? `${MOST}+` : unread;
  bell.title = unread
    ? say("{n} unread notifications", { n: badge.textContent })
    : say("Notifications");
}
