// Charts of usage: <div data-usage-chart="id"> draws {times, series} of the JSON script with that id.
// The page reads itself again every five minutes while it is visible.
import { keepFocus } from "./focus.js";
import uPlot from "../vendor/uplot.js";
import { clock, moment } from "./charts/axis.js";
import { token } from "./charts/colours.js";
import { formatOf } from "./charts/format.js";
import { parsed } from "./swap.js";
import { say } from "./words.js";

const HEIGHT = 220;
const HALF_DAY = 43_200; // seconds: room for the first and the last bar
const DAYS = [1, 2, 7, 14, 30].map((n) => n * 86_400); // steps of the axis below bars
const AGAIN = 5 * 60_000;
const plots = new Map();

const number = (value) =>
  value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });

function lineOf(one, write) {
  const color = token(one.color ?? "--c1");
  const kinds = {
    dashed: { width: 1, dash: [4, 4] },
    area: { fill: token("--run-soft") },
    bars: {
      fill: color,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars({ size: [0.7, 48] }),
    },
  };
  return {
    label: one.label,
    stroke: color,
    width: 1.5,
    value: (_, value) => (value === null || value === undefined ? "–" : write(value)),
    spanGaps: false,
    ...kinds[one.kind],
  };
}

function draw(place) {
  const data = JSON.parse(document.getElementById(place.dataset.usageChart).textContent);
  const axis = {
    stroke: token("--text-2"),
    grid: { stroke: token("--line"), width: 1 },
    ticks: { show: false },
  };
  const values = data.series.map((one) => one.values);
  const last = Math.max(0, values[0]?.findLastIndex((value) => value !== null) ?? 0);
  const write = place.dataset.unit === "W" ? formatOf("W") : number;
  const hasBars = data.series.some((one) => one.kind === "bars");
  plots.get(place)?.destroy();
  plots.set(
    place,
    new uPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        scales: {
          ...(hasBars ? { x: { range: (_, a, b) => [a - HALF_DAY, b + HALF_DAY] } } : {}),
          y: { range: (_, __, top) => [0, (top || 1) * 1.08] },
        },
        axes: [
          {
            ...axis,
            ...(hasBars ? { incrs: DAYS } : {}),
            values: (_, ticks, __, ___, step) => clock(ticks, step),
          },
          { ...axis, size: 56, values: (_, ticks) => ticks.map(write) },
        ],
        cursor: { points: { size: 6 }, sync: { key: "usage" } },
        hooks: {
          // Without a pointer, the legend shows the last values.
          ready: [(made) => made.setLegend({ idx: last }, false)],
          setLegend: [(made) => made.legend.idx ?? made.setLegend({ idx: last }, false)],
        },
        series: [
          { label: say("Time"), value: (_, t) => (t === null ? "–" : moment(t)) },
          ...data.series.map((one) => lineOf(one, write)),
        ],
      },
      [data.times, ...values],
      place,
    ),
  );
}

function drawAll() {
  for (const [place, plot] of plots)
    if (!place.isConnected) {
      plot.destroy();
      plots.delete(place);
    }
  for (const place of document.querySelectorAll("[data-usage-chart]")) {
    draw(place);
    sizes.observe(place);
  }
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries)
    plots.get(target)?.setSize({ width: target.clientWidth, height: HEIGHT });
});

const ROW = 22; // of a bar in a PNG, in pixels
const WIDTH = 640;

// A panel is saved as its chart, or as its rows (data-bar: share; the label is the first cell).
function savePng(panel) {
  const place = panel.querySelector("[data-usage-chart]");
  const canvas = document.createElement("canvas");
  const title = panel.getAttribute("aria-label") ?? place.getAttribute("aria-label");
  if (place) paintChart(canvas, place, title);
  else paintBars(canvas, [...panel.querySelectorAll("[data-bar]")], title);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = `${panel.dataset.panel ?? place.dataset.usageChart}.png`;
  link.click();
}

function sheet(canvas, width, height, ratio, title) {
  canvas.width = width;
  canvas.height = height;
  const paint = canvas.getContext("2d");
  paint.fillStyle = token("--panel");
  paint.fillRect(0, 0, width, height);
  paint.fillStyle = token("--text");
  paint.font = `${13 * ratio}px system-ui`;
  paint.fillText(title, 12 * ratio, 19 * ratio);
  return paint;
}

function paintChart(canvas, place, title) {
  const from = plots.get(place).ctx.canvas;
  const ratio = devicePixelRatio || 1;
  const head = 28 * ratio;
  sheet(canvas, from.width, from.height + head, ratio, title).drawImage(from, 0, head);
}

function paintBars(canvas, rows, title) {
  const paint = sheet(canvas, 2 * WIDTH, 2 * (40 + ROW * rows.length), 2, title);
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
  drawAll();
  document.dispatchEvent(new Event("boardchanged"));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-usage-png]");
  if (button) savePng(button.closest("section"));
});
document.addEventListener("themechange", drawAll);
document.addEventListener("boardchange", () => refresh(true));
if (document.querySelector("[data-usage]")) setInterval(() => refresh(false), AGAIN);
drawAll();
