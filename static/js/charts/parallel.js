// Parallel coordinates in SVG: one vertical axis for each parameter and metric, one line a run. Dragging
// along an axis keeps the runs in that range; the arrow keys walk through the runs. Returns `show(id, on)`
// and `mark(id, on)` of one run.
import { say } from "../words.js";
import { formatOf } from "./format.js";
import { placesOf } from "./places.js";
import { rampOf } from "./ramp.js";
import { make } from "./scatter.js";

const HEIGHT = 300;
const [TOP, BOTTOM, SIDE] = [40, 26, 48];
const LEAST = 96; // pixels between axes; more scroll
const MOST_BETWEEN = 6;
const WIDE = 50; // a positive range that spans this factor is logarithmic

const isWide = ({ values }) => {
  const known = values.filter((v) => typeof v === "number");
  if (known.length < 2 || values.some((v) => typeof v === "string")) return false;
  const low = known.reduce((a, b) => Math.min(a, b));
  return low > 0 && known.reduce((a, b) => Math.max(a, b)) / low >= WIDE;
};

// The values between the ends, if they are few, such as those of a sweep.
function between({ values }, low, high) {
  const found = [...new Set(values)].filter((v) => v != null && v > low && v < high);
  return found.length < MOST_BETWEEN ? found : [];
}

const cut = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text);

// How many axes fit without scrolling.
export const fitting = (box) => Math.floor((box.clientWidth - 2 * SIDE) / LEAST) + 1;

// axes: of points_of(); `by` is the axis whose values colour the lines, else `byRun(n)` does.
export function drawParallel(box, runs, axes, by, byRun) {
  if (axes.length < 2) {
    const none = document.createElement("p");
    none.className = "muted small";
    none.textContent = say("Choose two axes or more.");
    box.replaceChildren(none);
    return { show() {}, mark() {} };
  }
  const width = Math.max(box.clientWidth, 2 * SIDE + (axes.length - 1) * LEAST);
  const scales = axes.map((axis) => placesOf(axis, isWide(axis)));
  const ramp = by ? rampOf(by) : () => "var(--c1)";
  const xOf = (n) => SIDE + (n * (width - 2 * SIDE)) / (axes.length - 1);
  const yOf = (part) => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
  const partOf = (y) => (HEIGHT - BOTTOM - y) / (HEIGHT - TOP - BOTTOM);
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    tabindex: 0,
  });
  svg.setAttribute("aria-label", axes.map((axis) => axis.title).join(", "));
  const lines = runs
    .map((run, n) => {
      const places = axes.map((axis, a) => scales[a].at(axis.values[n]));
      const points = places
        .map((at, a) => (at == null ? null : `${xOf(a)},${yOf(at)}`))
        .filter(Boolean);
      if (points.length < 2) return null;
      const line = make("polyline", { points: points.join(" "), class: "run" });
      line.style.stroke = by || !byRun ? ramp(by?.values[n]) : byRun(n);
      svg.append(line);
      return { run, n, places, line };
    })
    .filter(Boolean);
  const ranges = new Map();
  axes.forEach((axis, a) => {
    const x = xOf(a);
    const { low, high, isText, ticks } = scales[a];
    const format = (v) => (isText ? cut(String(v), 12) : formatOf(axis.unit ?? "")(v));
    svg.append(make("line", { x1: x, x2: x, y1: yOf(0), y2: yOf(1), class: "axis" }));
    const head = make("text", { x, y: 14, class: "name" }, cut(axis.title, 14));
    head.append(make("title", {}, axis.title));
    svg.append(head);
    if (isText && ticks.length < 9)
      for (const tick of ticks)
        svg.append(
          make("text", { x: x + 5, y: yOf(tick.at) + 4, class: "start" }, cut(tick.text, 12)),
        );
    else if (low != null) {
      svg.append(make("text", { x, y: yOf(1) - 8 }, format(high)));
      svg.append(make("text", { x, y: HEIGHT - 8 }, format(low)));
      for (const value of between(axis, low, high))
        svg.append(
          make(
            "text",
            { x: x + 5, y: yOf(scales[a].at(value)) + 4, class: "start" },
            format(value),
          ),
        );
    }
    const mark = make("rect", { x: x - 5, width: 10, y: 0, height: 0, class: "range" });
    const grip = make("rect", {
      x: x - 12,
      y: yOf(1) - 6,
      width: 24,
      height: yOf(0) - yOf(1) + 12,
      class: "grip",
    });
    grip.addEventListener("pointerdown", (event) => {
      const top = () => svg.getBoundingClientRect().top;
      const from = partOf(event.clientY - top());
      grip.setPointerCapture(event.pointerId);
      grip.onpointermove = (moved) => {
        const to = partOf(moved.clientY - top());
        if (Math.abs(to - from) < 0.01) return;
        ranges.set(a, [Math.min(from, to), Math.max(from, to)]);
        mark.setAttribute("y", yOf(Math.max(from, to)));
        mark.setAttribute("height", yOf(Math.min(from, to)) - yOf(Math.max(from, to)));
        narrow();
      };
      grip.onpointerup = () => (grip.onpointermove = null);
    });
    grip.addEventListener("dblclick", () => {
      ranges.delete(a);
      mark.setAttribute("height", 0);
      narrow();
    });
    svg.append(mark, grip);
  });
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  const count = document.createElement("p");
  count.className = "small muted";
  count.hidden = true;

  function narrow() {
    let kept = 0;
    for (const one of lines) {
      const isIn = [...ranges].every(
        ([a, [low, high]]) =>
          one.places[a] != null && one.places[a] >= low && one.places[a] <= high,
      );
      one.line.classList.toggle("is-off", !isIn);
      kept += Number(isIn);
    }
    count.hidden = !ranges.size;
    count.textContent = say("{n} of {all} runs", {
      context: "text, charts",
      n: kept,
      all: lines.length,
    });
  }

  let current = null;
  function show(one, at = 0) {
    current?.line.classList.remove("is-marked");
    current = one;
    svg.classList.toggle("has-mark", Boolean(one));
    tip.hidden = !one;
    if (!one) return;
    one.line.classList.add("is-marked");
    const name = Object.assign(document.createElement("b"), { textContent: one.run.name });
    const rows = axes.map((axis) => {
      const value = axis.values[one.n];
      const row = document.createElement("span");
      const text =
        value == null ? "–" : typeof value === "string" ? value : formatOf(axis.unit ?? "")(value);
      row.append(
        axis.title,
        Object.assign(document.createElement("b"), { className: "num", textContent: text }),
      );
      return row;
    });
    tip.replaceChildren(name, ...rows);
    const isRight = at > box.clientWidth / 2;
    tip.style.left = isRight ? "auto" : `${at + 14}px`;
    tip.style.right = isRight ? `${box.clientWidth - at + 14}px` : "auto";
    tip.style.top = "40px";
  }

  const visible = () => lines.filter((one) => !one.line.matches(".is-off, .is-hidden"));
  const open = () => current && location.assign(current.run.url);
  svg.addEventListener("mousemove", (event) => {
    if (event.buttons) return;
    const at = svg.getBoundingClientRect();
    const [left, top] = [event.clientX - at.left, event.clientY - at.top];
    const gap = (width - 2 * SIDE) / (axes.length - 1);
    const a = Math.min(Math.max(Math.floor((left - SIDE) / gap), 0), axes.length - 2);
    const part = (left - xOf(a)) / gap;
    let [near, best] = [null, 10];
    for (const one of visible()) {
      const [from, to] = [one.places[a], one.places[a + 1]];
      if (from == null || to == null) continue;
      const away = Math.abs(yOf(from + part * (to - from)) - top);
      if (away < best) [near, best] = [one, away];
    }
    if (near !== current) show(near, left - box.scrollLeft);
    svg.style.cursor = near ? "pointer" : "";
  });
  svg.addEventListener("mouseleave", () => show(null));
  svg.addEventListener("blur", () => show(null));
  svg.addEventListener("click", (event) => !event.target.matches(".grip") && open());
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const found = visible();
    if (step && found.length)
      show(found[(found.indexOf(current) + step + found.length) % found.length]);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  });
  box.replaceChildren(svg, tip, count);
  const lineOf = (id) => lines.find((one) => String(one.run.id) === id)?.line;
  return {
    show: (id, on) => lineOf(id)?.classList.toggle("is-hidden", !on),
    mark: (id, on) => {
      svg.classList.toggle("has-mark", on);
      lineOf(id)?.classList.toggle("is-marked", on);
    },
  };
}
