// Parallel coordinates in SVG: one axis for each numeric setting and the metric, one line a run.
import { colourOf } from "./colours.js";
import { formatOf, plain } from "./format.js";

const WIDTH = 560;
const HEIGHT = 230;
const TOP = 34;
const BOTTOM = 24;
const MOST = 7; // axes beside the metric
const SVG = "http://www.w3.org/2000/svg";

// Where each value is on an axis, 0 (bottom) to 1. Wide positive ranges are logarithmic.
export function scaleOf(values) {
  const known = values.filter((v) => v != null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const isLog = low > 0 && high / low >= 50;
  const place = isLog ? Math.log : (v) => v;
  const span = place(high) - place(low);
  return {
    low,
    high,
    isLog,
    at: (v) => (v == null ? null : span ? (place(v) - place(low)) / span : 0.5),
  };
}

// body: {axes, metric, runs: [{id, name, config, metrics}]}
export function axesOf(body) {
  const settings = body.axes.slice(0, MOST).map((key) => ({
    title: key.split(".").at(-1),
    name: key,
    format: plain,
    values: body.runs.map((run) => (run.config[key] == null ? null : Number(run.config[key]))),
  }));
  const unit = body.runs.map((run) => run.metrics[body.metric]?.unit).find(Boolean) ?? "";
  return [
    ...settings,
    {
      title: body.metric,
      name: body.metric,
      format: formatOf(unit),
      values: body.runs.map((run) => run.metrics[body.metric]?.best ?? null),
    },
  ].map((axis) => ({ ...axis, scale: scaleOf(axis.values) }));
}

export function draw(box, body) {
  const axes = axesOf(body);
  const make = (tag, attributes, text) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  svg.setAttribute("aria-label", axes.map((axis) => axis.name).join(", "));
  const xOf = (n) => 48 + (n * (WIDTH - 96)) / Math.max(axes.length - 1, 1);
  const yOf = (part) => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
  axes.forEach((axis, n) => {
    const x = xOf(n);
    svg.append(make("line", { x1: x, x2: x, y1: yOf(0), y2: yOf(1), class: "axis" }));
    const head = make("text", { x, y: 12, class: "name" }, axis.title);
    head.append(make("title", {}, axis.name));
    svg.append(head);
    svg.append(make("text", { x, y: yOf(1) - 6 }, axis.format(axis.scale.high)));
    svg.append(make("text", { x, y: HEIGHT - 8 }, axis.format(axis.scale.low)));
  });
  const lines = new Map();
  body.runs.forEach((run, at) => {
    const points = axes
      .map((axis, n) => [xOf(n), axis.scale.at(axis.values[at])])
      .filter(([, part]) => part != null)
      .map(([x, part]) => `${x},${yOf(part)}`);
    const line = make("polyline", { points: points.join(" "), class: "run" });
    line.style.stroke = `var(${colourOf(at)})`;
    line.append(make("title", {}, run.name));
    lines.set(String(run.id), line);
    svg.append(line);
  });
  box.replaceChildren(svg);
  return {
    show: (id, on) => lines.get(id)?.classList.toggle("is-off", !on),
    mark: (id, on) => {
      svg.classList.toggle("has-mark", on);
      lines.get(id)?.classList.toggle("is-marked", on);
    },
  };
}
