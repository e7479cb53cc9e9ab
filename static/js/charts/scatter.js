// A scatter plot in SVG: one point a run. Hover or the arrow keys name a run; Enter or a click opens it.
import { say } from "../words.js";
import { formatOf } from "./format.js";
import { placesOf } from "./places.js";
import { rampOf } from "./ramp.js";

const HEIGHT = 300;
const ROOM = { left: 64, right: 12, top: 12, bottom: 40 };
const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const shown = (axis, value) =>
  value == null ? "–" : typeof value === "string" ? value : formatOf(axis.unit ?? "")(value);

// by: {x, y, color: axes of points_of(), xlog, ylog, byRun: colour of the nth run without `color`,
// isShown: of each run}
export function drawScatter(box, runs, by) {
  const { x, y } = by;
  if (!x || !y) {
    box.replaceChildren();
    return;
  }
  const width = Math.max(box.clientWidth, 280);
  const [xs, ys] = [placesOf(x, by.xlog), placesOf(y, by.ylog)];
  const ramp = by.color ? rampOf(by.color) : null;
  const xOf = (part) => ROOM.left + 8 + part * (width - ROOM.left - ROOM.right - 16);
  const yOf = (part) => HEIGHT - ROOM.bottom - 8 - part * (HEIGHT - ROOM.top - ROOM.bottom - 16);
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    tabindex: 0,
  });
  svg.setAttribute(
    "aria-label",
    say("{y} by {x}", { context: "spoken label", x: x.title, y: y.title }),
  );
  for (const tick of fitted(xs.ticks, width - ROOM.left, 64)) {
    const at = xOf(tick.at);
    svg.append(
      make("line", { x1: at, x2: at, y1: ROOM.top, y2: HEIGHT - ROOM.bottom, class: "grid" }),
    );
    svg.append(
      make("text", { x: at, y: HEIGHT - ROOM.bottom + 14, class: "middle" }, cut(tick.text, 14)),
    );
  }
  for (const tick of fitted(ys.ticks, HEIGHT - ROOM.top, 18)) {
    const at = yOf(tick.at);
    svg.append(
      make("line", { x1: ROOM.left, x2: width - ROOM.right, y1: at, y2: at, class: "grid" }),
    );
    svg.append(make("text", { x: ROOM.left - 6, y: at + 4, class: "end" }, cut(tick.text, 9)));
  }
  svg.append(
    make("text", { x: (ROOM.left + width) / 2, y: HEIGHT - 6, class: "middle name" }, x.title),
  );
  svg.append(
    make(
      "text",
      { x: -(HEIGHT - ROOM.bottom) / 2, y: 11, class: "middle name", transform: "rotate(-90)" },
      y.title,
    ),
  );
  const points = runs
    .map((run, n) => ({ run, n, x: xs.at(x.values[n]), y: ys.at(y.values[n]) }))
    .filter((point) => by.isShown[point.n] && point.x != null && point.y != null)
    .sort((a, b) => a.x - b.x || a.y - b.y);
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  for (const point of points) {
    point.dot = make("circle", { cx: xOf(point.x), cy: yOf(point.y), r: 4, class: "dot" });
    point.dot.style.fill = ramp
      ? ramp(by.color.values[point.n])
      : (by.byRun?.(point.n) ?? "var(--c1)");
    svg.append(point.dot);
  }
  let current = -1;

  function show(at) {
    points[current]?.dot.classList.remove("is-current");
    current = at;
    const point = points[at];
    tip.hidden = !point;
    if (!point) return;
    point.dot.classList.add("is-current");
    svg.append(point.dot); // above the others
    const rows = [x, y, by.color].filter(Boolean).map((axis) => {
      const row = document.createElement("span");
      const value = Object.assign(document.createElement("b"), {
        className: "num",
        textContent: shown(axis, axis.values[point.n]),
      });
      row.append(axis.title, value);
      return row;
    });
    const name = Object.assign(document.createElement("b"), { textContent: point.run.name });
    tip.replaceChildren(name, ...rows);
    const [left, top] = [xOf(point.x), yOf(point.y)];
    const isRight = left > width / 2;
    tip.style.left = isRight ? "auto" : `${left + 10}px`;
    tip.style.right = isRight ? `${width - left + 10}px` : "auto";
    tip.style.top = `${Math.min(top, HEIGHT - 90)}px`;
  }

  const open = () => points[current] && location.assign(points[current].run.url);
  svg.addEventListener("mousemove", (event) => {
    const at = svg.getBoundingClientRect();
    const [left, top] = [event.clientX - at.left, event.clientY - at.top];
    let [near, best] = [-1, 20];
    points.forEach((point, n) => {
      const away = Math.hypot(xOf(point.x) - left, yOf(point.y) - top);
      if (away < best) [near, best] = [n, away];
    });
    if (near !== current) show(near);
    svg.style.cursor = near < 0 ? "" : "pointer";
  });
  svg.addEventListener("mouseleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("click", open);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step && points.length) show((current + step + points.length) % points.length);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  });
  box.replaceChildren(svg, tip);
  if (!points.length) {
    const none = document.createElement("p");
    none.className = "muted small";
    none.textContent = say("No run has both values.");
    box.replaceChildren(none);
  }
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// As many ticks as have room.
function fitted(ticks, space, each) {
  const every = Math.ceil(ticks.length / Math.max(Math.floor(space / each), 1));
  return ticks.filter((_, n) => n % every === 0);
}
