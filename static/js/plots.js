// Scatter plot and parallel coordinates of runs, or the latter alone. What they show is in the URL.
// `root.plots` hides and marks single runs.
import { colourOf } from "./charts/colours.js";
import { drawParallel, fitting } from "./charts/parallel.js";
import { drawScatter } from "./charts/scatter.js";
import { say } from "./words.js";

const MOST_AXES = 8; // chosen at first, if they fit

for (const root of document.querySelectorAll("[data-plots]")) start(root);

function start(root) {
  const data = JSON.parse(document.getElementById(root.dataset.plots).textContent);
  const query = new URLSearchParams(location.search);
  const metrics = data.axes.filter((axis) => axis.name.startsWith("metrics."));
  const others = data.axes.filter((axis) => axis.name.startsWith("params."));
  const main = metrics.find((axis) => axis.name === root.dataset.metric) ?? metrics[0];
  const room = fitting(root.querySelector("[data-parallel]"));
  const most = Math.max(2, Math.min(MOST_AXES, room));
  const known = (name) => data.axes.find((axis) => axis.name === name);
  let view = {
    x: known(query.get("x"))?.name ?? (others.find(isNumeric) ?? metrics[1] ?? data.axes[0])?.name,
    y: known(query.get("y"))?.name ?? (main ?? data.axes[0])?.name,
    color: known(query.get("color"))?.name ?? "",
    xlog: query.get("xlog") === "1",
    ylog: query.get("ylog") === "1",
    axes:
      query
        .get("axes")
        ?.split(",")
        .filter((name) => known(name)) ??
      [...others.slice(0, most - 1), main].filter(Boolean).map((axis) => axis.name),
  };
  if (!query.has("x") && isWide(known(view.x))) view = { ...view, xlog: true };
  const field = (name) => root.querySelector(`[name=${name}]`);
  const scatter = root.querySelector("[data-scatter]");
  for (const name of scatter ? ["x", "y", "color"] : []) {
    const select = field(name);
    if (name === "color") select.append(new Option(say("None", { context: "choice" }), ""));
    for (const [prefix, label] of [
      ["metrics.", say("Metrics", { context: "text, plots" })],
      ["params.", say("Parameters", { context: "text, plots" })],
      ["", say("Other", { context: "text, plots" })],
    ]) {
      const axes = data.axes.filter((axis) =>
        prefix ? axis.name.startsWith(prefix) : !/^(metrics|params)\./.test(axis.name),
      );
      if (!axes.length) continue;
      const group = document.createElement("optgroup");
      group.label = label;
      group.append(...axes.map((axis) => new Option(axis.title, axis.name)));
      select.append(group);
    }
    select.value = view[name];
    select.onchange = () => changed(name, select.value);
  }
  for (const name of scatter ? ["xlog", "ylog"] : []) {
    field(name).checked = view[name];
    field(name).onchange = () => changed(name, field(name).checked);
  }
  const sheet = root.querySelector("[data-axes]");
  for (const axis of data.axes) {
    const label = document.createElement("label");
    label.className = "check";
    const box = Object.assign(document.createElement("input"), {
      type: "checkbox",
      checked: view.axes.includes(axis.name),
    });
    box.onchange = () =>
      changed(
        "axes",
        box.checked ? [...view.axes, axis.name] : view.axes.filter((name) => name !== axis.name),
      );
    label.append(box, axis.title);
    sheet.append(label);
  }

  function changed(name, value) {
    view = { ...view, [name]: value };
    const url = new URL(location.href);
    const text = value === true ? "1" : value === false ? "0" : String(value);
    url.searchParams.set(name, text);
    history.replaceState(null, "", url);
    draw();
  }

  const hidden = new Set();
  let parallel;
  const byRun = root.dataset.colours === "runs" ? (n) => `var(${colourOf(n)})` : null;

  function draw() {
    const color = known(view.color);
    const isShown = data.runs.map((run) => !hidden.has(String(run.id)));
    if (scatter)
      drawScatter(scatter, data.runs, {
        x: known(view.x),
        y: known(view.y),
        color,
        byRun,
        isShown,
        xlog: view.xlog,
        ylog: view.ylog,
      });
    parallel = drawParallel(
      root.querySelector("[data-parallel]"),
      data.runs,
      view.axes.map(known).filter(Boolean),
      color ?? (byRun ? null : main),
      byRun,
    );
    for (const id of hidden) parallel.show(id, false);
  }

  root.plots = {
    show(id, on) {
      if (on) hidden.delete(id);
      else hidden.add(id);
      draw();
    },
    mark: (id, on) => parallel.mark(id, on),
  };
  draw();
  document.addEventListener("themechange", draw);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(root.clientWidth - width) < 8) return;
    width = root.clientWidth;
    draw();
  }).observe(root);
}

function isNumeric(axis) {
  return axis.values.some((value) => typeof value === "number");
}

function isWide(axis) {
  const values = (axis?.values ?? []).filter((v) => typeof v === "number");
  const low = Math.min(...values);
  return values.length > 1 && low > 0 && Math.max(...values) / low >= 50;
}
