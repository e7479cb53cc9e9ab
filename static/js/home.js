// The chart of the home page: GPUs allocated, used and in total over a day or a week, by team.
import uPlot from "../vendor/uplot.js";
import { clock, moment } from "./charts/axis.js";
import { token } from "./charts/colours.js";
import { say } from "./words.js";

const HEIGHT = 220;
const TOTAL_UP_TO = 5; // a total of more than this many times the peak would flatten the curves
const place = document.getElementById("gpu-chart");
const table = document.getElementById("gpu-teams");
const team = document.getElementById("gpu-team");
const loaded = { 24: JSON.parse(document.getElementById("gpu-time").textContent) };
let hours = 24;
let plot = null;

function curves({ times, total, teams }) {
  const shown = teams.filter((one) => !team?.value || one.slug === team.value);
  const sum = (name) =>
    times.map((_, n) => {
      const values = shown.map((one) => one[name][n]);
      const known = values.filter((value) => value !== null);
      return values.length && !known.length ? null : known.reduce((a, b) => a + b, 0);
    });
  return [times, total, sum("allocated"), sum("used")];
}

function draw() {
  const data = curves(loaded[hours]);
  const peak = Math.max(1, ...data[2].filter((n) => n !== null));
  const total = Math.max(0, ...data[1].filter((n) => n !== null));
  const top = total <= peak * TOTAL_UP_TO ? Math.max(total, peak) : peak;
  const number = (_, value) => (value === null ? "–" : value.toFixed(value < 10 ? 1 : 0));
  const axis = {
    stroke: token("--text-2"),
    grid: { stroke: token("--line"), width: 1 },
    ticks: { show: false },
  };
  plot?.destroy();
  const known = data[2].findLastIndex((value) => value !== null);
  const last = known < 0 ? data[0].length - 1 : known;
  plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { y: { range: [0, top * 1.08] } },
      axes: [
        { ...axis, values: (_, ticks, __, ___, step) => clock(ticks, step) },
        { ...axis, size: 44 },
      ],
      cursor: { points: { size: 6 } },
      hooks: {
        // Without a pointer, the legend shows the last values.
        ready: [(made) => made.setLegend({ idx: last }, false)],
        setLegend: [(made) => made.legend.idx ?? made.setLegend({ idx: last }, false)],
      },
      series: [
        { label: say("Time"), value: (_, t) => (t === null ? "–" : moment(t)) },
        { label: say("Total"), stroke: token("--text-3"), width: 1, dash: [4, 4], value: number },
        {
          label: say("Allocated"),
          stroke: token("--c1"),
          fill: token("--run-soft"),
          width: 1.5,
          value: number,
          spanGaps: false,
        },
        { label: say("Used"), stroke: token("--c3"), width: 2, value: number, spanGaps: false },
      ],
    },
    data,
    place,
  );
}

function list() {
  const row = (one) => {
    const used = one.measured_hours
      ? `${Math.round((100 * one.used_hours) / one.measured_hours)}%`
      : "–";
    const cells = [one.name, `${Math.round(one.allocated_hours).toLocaleString()} GPU-h`, used];
    const made = document.createElement("tr");
    cells.forEach((text, n) => {
      const cell = made.insertCell();
      cell.className = n ? "num nowrap" : "clip";
      cell.textContent = text;
    });
    return made;
  };
  const teams = loaded[hours].teams;
  if (teams.length) table.replaceChildren(...teams.map(row));
}

async function choose(button) {
  const wanted = Number(button.dataset.hours);
  if (!loaded[wanted]) {
    const answer = await fetch(`${place.dataset.url}?hours=${wanted}`);
    if (!answer.ok) return;
    loaded[wanted] = await answer.json();
  }
  hours = wanted;
  for (const one of document.querySelectorAll("[data-hours]"))
    one.setAttribute("aria-pressed", String(one === button));
  list();
  draw();
}

for (const button of document.querySelectorAll("[data-hours]"))
  button.addEventListener("click", () => choose(button));
team?.addEventListener("change", draw);
new ResizeObserver(() => plot?.setSize({ width: place.clientWidth, height: HEIGHT })).observe(
  place,
);
document.addEventListener("themechange", draw);
draw();
