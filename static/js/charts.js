// Live charts: training metrics by step, system metrics by time, with a synced cursor per axis.
// Gaps stay gaps.
import uPlot from "../vendor/uplot.js";
import { around, clock, moment } from "./charts/axis.js";
import { live } from "./live.js";
import { say } from "./words.js";

const MOST = 4000;
const GAP = 30; // seconds without a point that make a gap, as in portal.series

// Resolve a colour token for the canvas, which does not support light-dark().
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
function css(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const UNITS = {
  ratio: (v) => `${(v * 100).toFixed(v < 0.1 ? 1 : 0)} %`,
  bytes: (v) => bytes(v),
  "bytes/s": (v) => `${bytes(v)}/s`,
  W: (v) => `${v.toFixed(0)} W`,
  degC: (v) => `${v.toFixed(0)} °C`,
  Hz: (v) => `${(v / 1e6).toFixed(0)} MHz`,
  cores: (v) => say("{n} cores", { n: v.toFixed(2) }),
};

function bytes(v) {
  for (const [name, unit] of [
    ["TiB", 2 ** 40],
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ])
    if (Math.abs(v) >= unit) return `${(v / unit).toFixed(1)} ${name}`;
  return `${v.toFixed(0)} B`;
}
const shown = (unit) =>
  UNITS[unit] ??
  ((v) =>
    Math.abs(v) >= 1e4 || (v && Math.abs(v) < 1e-3)
      ? v.toExponential(2)
      : Number(v.toPrecision(4)).toString());
const title = (name) =>
  ({
    "cpu.used": "CPU",
    "memory.used": say("Memory"),
    "cpu.utilization": "CPU",
    "gpu.utilization": say("GPU use"),
    "gpu.memory.used": say("GPU memory"),
    "gpu.power": say("GPU power"),
    "gpu.temperature": say("GPU temperature"),
    processes: say("Processes"),
    "io.read": say("Disk reads"),
    "io.write": say("Disk writes"),
    "net.rx": say("Network in"),
    "net.tx": say("Network out"),
    "disk.used": say("Disk used"),
    "cpu.load1": say("Load (1 min)"),
    "cpu.mode": say("CPU by mode"),
    "disk.read": say("Disk reads"),
    "disk.write": say("Disk writes"),
    "disk.total": say("Disk size"),
    "memory.available": say("Memory available"),
    "memory.total": say("Memory in all"),
  })[name] ?? name;

class Chart {
  constructor(box, group, name, unit, byStep) {
    this.name = name;
    this.byStep = byStep;
    this.unit = unit;
    this.series = new Map(); // label text -> {xs, ys}
    this.group = group;
    this.holder = document.createElement("div");
    this.holder.className = "chart";
    this.holder.innerHTML = "<h3></h3><div></div>";
    this.holder.firstChild.textContent = title(name);
    box.append(this.holder);
    new ResizeObserver(() =>
      this.plot?.setSize({ width: this.holder.clientWidth, height: 170 }),
    ).observe(this.holder);
  }

  set(label, xs, ys) {
    this.series.set(label, { xs, ys });
    this.draw(true);
  }

  add(label, x, y) {
    const found = this.series.get(label) ?? { xs: [], ys: [] };
    const isNew = !this.series.has(label);
    if (found.xs.length && x <= found.xs.at(-1)) return;
    if (!this.byStep && found.xs.length && x - found.xs.at(-1) > GAP) {
      found.xs.push(found.xs.at(-1) + 1);
      found.ys.push(null);
    }
    found.xs.push(x);
    found.ys.push(y);
    if (found.xs.length > MOST) {
      found.xs.shift();
      found.ys.shift();
    }
    this.series.set(label, found);
    if (isNew) this.draw(true);
    else if (!this.due) {
      this.due = true;
      requestAnimationFrame(() => {
        this.due = false;
        this.draw(false);
      });
    }
  }

  // Amounts start at zero; a flat line is padded on both sides.
  range(low, high) {
    const fromZero = ["ratio", "bytes", "bytes/s", "cores"].includes(this.unit);
    if (low === high)
      return fromZero
        ? [0, high * 1.2 || 1]
        : [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
    return [fromZero ? Math.min(low, 0) : low, high + (high - low) * 0.06];
  }

  draw(anew) {
    const entries = [...this.series.entries()];
    const data =
      entries.length === 1
        ? [entries[0][1].xs, entries[0][1].ys]
        : uPlot.join(entries.map(([, s]) => [s.xs, s.ys]));
    if (this.plot && !anew) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    const format = shown(this.unit);
    const axis = {
      stroke: css("--text-3"),
      grid: { stroke: css("--line"), width: 1 },
      ticks: { stroke: css("--line"), size: 4 },
      font: "11px system-ui",
    };
    this.plot = new uPlot(
      {
        width: this.holder.clientWidth || 400,
        height: 170,
        cursor: { sync: { key: this.group }, points: { size: 5 } },
        scales: {
          x: {
            time: !this.byStep,
            range: (u, low, high) => around(low, high, this.byStep, u.data?.[0]?.length),
          },
          y: { range: (_, low, high) => this.range(low, high) },
        },
        axes: [
          {
            ...axis,
            size: this.byStep ? 28 : 40,
            ...(this.byStep ? {} : { values: (_, ticks, __, ___, step) => clock(ticks, step) }),
          },
          { ...axis, size: 76, values: (_, ticks) => ticks.map(format) },
        ],
        series: [
          this.byStep
            ? { label: say("step") }
            : { label: say("time"), value: (_, v) => (v == null ? "–" : moment(v)) },
          ...entries.map(([label], i) => ({
            label: label || title(this.name),
            stroke: css(`--c${(i % 8) + 1}`),
            width: 1.5,
            spanGaps: false,
            points: { show: entries[i][1].xs.length < 3 },
            value: (_, v) => (v == null ? "–" : format(v)),
          })),
        ],
      },
      data,
      this.holder.lastChild,
    );
  }
}

class Charts {
  constructor(root) {
    this.root = root;
    this.charts = new Map();
    root.querySelectorAll("[data-series]").forEach((box) => this.#section(box));
    this.#load();
    document.addEventListener("themechange", () =>
      this.charts.forEach((c) => c.series.size && c.draw(true)),
    );
  }

  #section(box) {
    if (!box.dataset.topic || this.root.dataset.live !== "true") return;
    live().subscribe(box.dataset.topic, {
      event: (data) => this.#point(box, data),
      resync: () => this.#load(),
    });
  }

  async #load() {
    const answer = await fetch(this.root.dataset.url, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const body = await answer.json();
    for (const box of this.root.querySelectorAll("[data-series]")) {
      for (const s of body[box.dataset.series] ?? body.items ?? []) {
        const byStep = s.steps.length > 0;
        const xs = byStep ? s.steps : s.times.map((t) => t / 1000);
        const clean = byStep ? unique(xs, s.values) : [xs, s.values];
        this.#chart(box, s.name, s.unit, byStep).set(labelOf(s.labels), ...clean);
      }
      this.#empty(box);
    }
  }

  #point(box, data) {
    for (const [key, value] of Object.entries(data.values)) {
      const [, name, inner] = key.match(/^([^{]*)(?:\{(.*)\})?$/);
      const byStep = data.step !== undefined && data.step !== null;
      const chart = this.#chart(box, name, UNIT_OF[name] ?? "", byStep);
      chart.add(inner ?? "", byStep ? data.step : data.t / 1000, value);
    }
    this.#empty(box);
  }

  #chart(box, name, unit, byStep) {
    const key = `${box.dataset.series} ${name}`;
    if (!this.charts.has(key))
      this.charts.set(key, new Chart(box, byStep ? "step" : "time", name, unit, byStep));
    return this.charts.get(key);
  }

  #empty(box) {
    const empty = box.parentElement.querySelector("[data-empty]");
    if (empty) empty.hidden = box.children.length > 0;
  }
}

const UNIT_OF = {
  "cpu.used": "cores",
  "memory.used": "bytes",
  "memory.available": "bytes",
  "memory.total": "bytes",
  "cpu.utilization": "ratio",
  "gpu.utilization": "ratio",
  "gpu.memory.used": "bytes",
  "gpu.power": "W",
  "gpu.temperature": "degC",
  "io.read": "bytes/s",
  "io.write": "bytes/s",
  "net.rx": "bytes/s",
  "net.tx": "bytes/s",
  "disk.read": "bytes/s",
  "disk.write": "bytes/s",
  "disk.used": "bytes",
  "disk.total": "bytes",
};
const labelOf = (labels) =>
  Object.entries(labels)
    .sort()
    .map(([k, v]) => `${k}=${v}`)
    .join(",");

function unique(xs, ys) {
  // one value per step: the latest
  const last = new Map();
  xs.forEach((x, i) => last.set(x, ys[i]));
  const steps = [...last.keys()].sort((a, b) => a - b);
  return [steps, steps.map((s) => last.get(s))];
}

for (const root of document.querySelectorAll("[data-charts]")) root.charts = new Charts(root);
