// Pages of usage: panels are saved as pictures, and the page reads itself again every five minutes while it is
// visible.
import { keepFocus } from "./focus.js";
import { token } from "./charts/colours.js";
import { drawInline } from "./charts/inline.js";
import { save, sheetOf } from "./charts/picture.js";
import { parsed } from "./swap.js";

const AGAIN = 5 * 60_000;
const ROW = 22; // of a bar in a PNG, in pixels
const WIDTH = 640;

// A panel is saved as its chart, or as its rows (data-bar: share; the label is the first cell).
function savePng(panel) {
  const figure = panel.querySelector("[data-chart]");
  if (figure) {
    figure.chart.savePng();
    return;
  }
  const canvas = document.createElement("canvas");
  paintBars(canvas, [...panel.querySelectorAll("[data-bar]")], panel.getAttribute("aria-label"));
  save(canvas.toDataURL("image/png"), `${panel.dataset.panel}.png`);
}

function paintBars(canvas, rows, title) {
  const paint = sheetOf(canvas, 2 * WIDTH, 2 * (40 + ROW * rows.length), 2, title);
  paint.scale(2, 2);
  paint.font = "12px system-ui";
  rows.forEach((row, n) => {
    const y = 36 + ROW * n;
    const cells = row.querySelectorAll("th, td");
    paint.fillStyle = token("--text-2");
    paint.fillText(cells[0].textContent.trim(), 12, y + 12, 180);
    paint.fillStyle = token("--track");
    paint.fillRect(200, y, 340, 14);
    paint.fillStyle = token("--accent");
    paint.fillRect(200, y, 340 * Number(row.dataset.bar), 14);
    paint.fillStyle = token("--text");
    paint.fillText(
      row.dataset.barText ?? cells[cells.length - 1].textContent.trim(),
      550,
      y + 12,
      80,
    );
  });
}

async function refresh(isForced) {
  const old = document.querySelector("[data-usage]");
  const isBusy =
    document.hidden ||
    old.contains(document.activeElement) ||
    document.querySelector(".is-arranging");
  if (isBusy && !isForced) return;
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = (await parsed(answer)).querySelector("[data-usage]");
  if (!fresh) return;
  keepFocus(old, () => old.replaceWith(fresh));
  drawInline(fresh);
  document.dispatchEvent(new Event("boardchanged"));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-usage-png]");
  if (button) savePng(button.closest("section"));
});
document.addEventListener("boardchange", () => refresh(true));
if (document.querySelector("[data-usage]")) setInterval(() => refresh(false), AGAIN);
drawInline();
