// GPU wall: one cell per GPU on one canvas; 16,000 cells are drawn in a few milliseconds. The outline
// of a cell is its allocation, the fill its use; or its colour is a value (heat.js). Pointer or arrow keys
// name a node, its GPU and its jobs. A click keeps the cell, whose links are below; Enter or a second click
// opens the node. Filters, grouping and colours are in the URL.
import { gpuName } from "./gpu-names.js";
import {
  grouped,
  isAllocated,
  jobsOn,
  passing,
  poolsOf,
  readGrid,
  STATES,
} from "./gpu-grid/gpus.js";
import { HEATS, scaleOf } from "./gpu-grid/heat.js";
import { Layout } from "./gpu-grid/layout.js";
import { paint } from "./gpu-grid/painter.js";
import { count, locale, say } from "./words.js";

const TITLES = {
  free: say("free", { context: "state of a GPU, not in use" }),
  reserved: say("reserved", { context: "state of a GPU" }),
  busy: say("in use", { context: "state of a GPU" }),
  idle: say("under 10% used", { context: "state of a GPU" }),
  unmeasured: say("allocated, not measured"),
  drained: say("drained", { context: "state of a node" }),
  down: say("down", { context: "state of a node" }),
  unhealthy: say("out of service for its health"),
};
const HEALTH = {
  warning: say("health: warning", { context: "state of a GPU" }),
  draining: say("health: draining", { context: "state of a GPU" }),
  quarantined: say("health: quarantined", { context: "state of a GPU" }),
};
const ALL = {
  cluster: say("all clusters", { context: "state of a GPU" }),
  type: say("all models", { context: "state of a GPU" }),
  partition: say("all partitions", { context: "state of a GPU" }),
  state: say("all states", { context: "state of a GPU" }),
  group: say("not grouped", { context: "state of a GPU" }),
  heat: say("colored by allocation"),
};
const HEAT_TITLES = {
  utilization: say("by utilization", { context: "state of a GPU" }),
  temperature: say("by temperature", { context: "state of a GPU" }),
  power: say("by power", { context: "state of a GPU" }),
  health: say("by health", { context: "state of a GPU" }),
};
const UNGROUPED = "none"; // else by rack or pool, if there are some
const EVERY = 30_000;

class GpuGrid {
  #grid = null;
  #loaded = null;
  #layout = new Layout([]);
  #at = -1; // the place of the named node in the layout
  #gpu = 0; // its GPU
  #isKept = false; // a click has chosen it: pointing does not name another
  #scale = null; // of the colours; null: by allocation

  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.tip = root.querySelector(".gpu-grid-tip");
    this.links = root.querySelector("[data-chosen]");
    this.lost = root.parentElement.querySelector("[data-gpu-grid-lost]");
    this.filters = [...root.querySelectorAll("[data-by]")];
    this.listen();
    this.load();
    setInterval(() => document.hidden || this.load(), EVERY);
  }

  listen() {
    const draw = () => this.draw();
    new ResizeObserver(draw).observe(this.root);
    new MutationObserver(draw).observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-theme"],
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    for (const filter of this.filters)
      filter.addEventListener("change", () => {
        remember(filter);
        if (filter.dataset.by === "heat" && HEATS[filter.value]?.isRead) this.load();
        else this.choose();
      });
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.#isKept || this.point(event));
    canvas.addEventListener("pointerleave", () => this.#isKept || this.name(-1));
    canvas.addEventListener("blur", () => this.#isKept || this.name(-1));
    canvas.addEventListener("click", (event) => {
      const before = [this.#isKept, this.#at, this.#gpu];
      this.point(event);
      if (this.#at >= 0 && before.join() === [true, this.#at, this.#gpu].join()) this.open();
      this.#isKept = this.#at >= 0;
    });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  async load() {
    const url = new URL(this.root.dataset.url, location.href);
    const heat = this.#heat();
    if (HEATS[heat]?.isRead) url.searchParams.set("heat", heat);
    const answer = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
    this.lost.hidden = Boolean(answer?.ok);
    if (!answer?.ok) {
      this.lost.textContent = this.#loaded
        ? say("The GPUs are as of {at}: they couldn't be updated. Trying again.", {
            at: this.#loaded.toLocaleTimeString(locale),
          })
        : say("The GPUs couldn't be loaded. Trying again.");
      return;
    }
    this.#loaded = new Date();
    this.#grid = readGrid(await answer.json());
    this.offerFilters();
    this.choose();
  }

  // -- filters
  #heat() {
    const { value, options } = this.filters.find(({ dataset }) => dataset.by === "heat");
    const asked = options.length ? value : new URLSearchParams(location.search).get("heat");
    return asked in HEATS ? asked : "";
  }

  offerFilters() {
    const { clusters, types, partitions } = this.#grid;
    const asked = new URLSearchParams(location.search);
    const options = {
      cluster: clusters.map(({ name }) => [name, name]),
      type: types.map((type) => [type, gpuName(type)]),
      partition: partitions.map((name) => [name, name]),
      state: STATES.map((state) => [state, TITLES[state]]),
      group: this.groupings(),
      heat: Object.keys(HEATS).map((kind) => [kind, HEAT_TITLES[kind]]),
    };
    for (const filter of this.filters) {
      const { by } = filter.dataset;
      fill(filter, options[by], asked.get(by) ?? (by === "group" ? this.usualGroup() : ""));
    }
    this.root.querySelector("[data-inexact]").hidden = clusters.every((c) => c.is_exact);
  }

  usualGroup() {
    const { pools, racks } = this.#grid;
    return racks.length ? "rack" : pools.length ? "pool" : UNGROUPED;
  }

  // What the nodes can be grouped by; a grouping that separates nothing is not offered.
  groupings() {
    const { clusters, pools, racks, types } = this.#grid;
    return [
      clusters.length > 1 && ["cluster", say("by cluster", { context: "state of a GPU" })],
      pools.length && ["pool", say("by pool", { context: "state of a GPU" })],
      racks.length && ["rack", say("by rack", { context: "state of a GPU" })],
      types.length > 1 && ["model", say("by model", { context: "state of a GPU" })],
    ].filter(Boolean);
  }

  choose() {
    const by = Object.fromEntries(this.filters.map(({ dataset, value }) => [dataset.by, value]));
    const nodes = passing(this.#grid, by);
    this.tell(nodes);
    this.#scale = by.heat ? scaleOf(by.heat, nodes) : null;
    this.showScale();
    const kept = this.#isKept ? this.#layout.nodes[this.#at] : null;
    this.#layout = new Layout(grouped(this.#grid, nodes, by.group));
    this.#at = kept ? this.#layout.nodes.findIndex(({ index }) => index === kept.index) : -1;
    this.#isKept = this.#at >= 0;
    if (!this.#isKept) this.name(-1);
    this.draw();
  }

  // Below the wall: what colours mean.
  showScale() {
    const scale = this.root.querySelector("[data-scale]");
    this.root.querySelector(".gpu-grid-legend").hidden = Boolean(this.#scale);
    scale.hidden = !this.#scale;
    if (!this.#scale) return;
    const { kind, low, high, write } = this.#scale;
    const isHealth = kind === "health";
    for (const one of scale.querySelectorAll("[data-health]")) one.hidden = !isHealth;
    for (const one of scale.querySelectorAll("[data-ramp]")) one.hidden = isHealth;
    if (isHealth) return;
    scale.querySelector("[data-low]").textContent = write(low);
    scale.querySelector("[data-high]").textContent = write(high);
  }

  tell(nodes) {
    const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
    for (const { gpus } of nodes) for (const { state } of gpus) counts[state]++;
    for (const state of STATES)
      this.root.querySelector(`[data-n=${state}]`).textContent = count(counts[state]);
    const sum = {
      used: count(counts.busy + counts.idle + counts.unmeasured),
      all: count(Object.values(counts).reduce((a, b) => a + b, 0)),
      n: count(nodes.length),
    };
    this.root.querySelector("[data-sum]").textContent =
      nodes.length === 1
        ? say("{used} of {all} allocated, 1 node", sum)
        : say("{used} of {all} allocated, {n} nodes", sum);
    const text = STATES.map((state) => `${counts[state]} ${TITLES[state]}`).join(", ");
    this.canvas.setAttribute(
      "aria-label",
      `${text}. ${say("Arrow keys move, Enter opens a node. The list of nodes has the same.")}`,
    );
  }

  draw() {
    if (!this.#grid) return;
    const began = performance.now();
    paint(this.root, this.canvas, this.#layout, this.#at, this.#scale);
    this.root.dataset.drawn = (performance.now() - began).toFixed(1);
  }

  // -- the named node
  press(event) {
    const at = this.#at,
      last = this.#layout.nodes.length - 1;
    if (event.key === "Enter") this.open();
    if (event.key === "Escape") {
      this.#isKept = false;
      this.name(-1);
    }
    const next = { ArrowLeft: -1, ArrowRight: 1 }[event.key],
      way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (next) this.step(next, last);
    else if (way) this.name(at < 0 ? 0 : this.#layout.beside(at, way), this.#gpu);
    else return;
    this.#isKept = true;
    event.preventDefault();
  }

  // To the next GPU of the node, or to that of the node beside it.
  step(way, last) {
    const at = this.#at;
    if (at < 0) return this.name(0);
    const gpu = this.#gpu + way;
    const { gpus } = this.#layout.nodes[at];
    if (gpu >= 0 && gpu < gpus.length) return this.name(at, gpu);
    const next = Math.max(0, Math.min(last, at + way));
    const end = way < 0 && next !== at ? this.#layout.nodes[next].gpus.length - 1 : 0;
    return next === at ? undefined : this.name(next, end);
  }

  point(event) {
    if (!this.#grid) return;
    const box = this.canvas.getBoundingClientRect();
    const found = this.#layout.find(event.clientX - box.left, event.clientY - box.top);
    this.name(found ? found.index : -1, found?.gpu);
  }

  name(index, gpu = 0) {
    const isMoved = index !== this.#at;
    this.#at = index;
    this.#gpu = gpu;
    this.tip.hidden = index < 0;
    if (isMoved) this.draw();
    if (index < 0) return;
    const node = this.#layout.nodes[index];
    this.#gpu = Math.min(gpu, node.gpus.length - 1);
    this.link(node, this.#gpu);
    const [head, ...lines] = this.describe(node, this.#gpu);
    const title = Object.assign(document.createElement("b"), { textContent: head });
    this.tip.replaceChildren(
      title,
      ...lines.flatMap((text, i) => (i ? [document.createElement("br"), text] : [text])),
    );
    const { x, y } = this.#layout.cornerOf(index);
    const most = this.canvas.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(x, most))}px`;
    const place = this.canvas.parentElement;
    const below = y + this.#layout.high + 4;
    const above = y - this.tip.offsetHeight - 4;
    const isLow = below + this.tip.offsetHeight > place.scrollTop + place.clientHeight;
    this.tip.style.top = `${isLow && above >= place.scrollTop ? above : below}px`;
  }

  // The lines about a GPU of a node.
  describe(node, number) {
    const { use, heat, state } = node.gpus[number],
      n = node.gpus.filter((gpu) => isAllocated(gpu.state)).length;
    const isAll = "all" in this.root.dataset;
    return [
      `${node.name} · GPU ${number}: ${TITLES[state]}`,
      use >= 0 && say("{n}% used (5 min)", { context: "state of a GPU", n: use }),
      heat !== null && this.#scale?.write(heat),
      node.health && `${HEALTH[node.health.state]}: ${node.health.why}`,
      [
        node.cluster.name,
        node.types.map(gpuName).join(", "),
        say("{n} of {all} allocated", { context: "state of a GPU", n, all: node.gpus.length }),
      ].join(" · "),
      ...jobsOn(node, number)
        .slice(0, 4)
        .map((job) => `#${job.number} ${job.title}${isAll ? ` · ${job.org}` : ""}`),
    ].filter(Boolean);
  }

  // The node, the GPU, its jobs and pools as links; they stay when the pointer leaves the wall.
  link(node, gpu) {
    const { org } = this.root.dataset;
    const link = (text, href) =>
      Object.assign(document.createElement("a"), { textContent: text, href });
    const at = `${encodeURIComponent(node.name)}:${gpu}?cluster=${encodeURIComponent(node.cluster.name)}`;
    this.links.replaceChildren(
      link(node.name, this.addressOf(node)),
      org ? link(`GPU ${gpu}`, `${org}/gpus/${at}`) : `GPU ${gpu}`,
      ...jobsOn(node, gpu)
        .slice(0, 4)
        .map((job) => link(`#${job.number} ${job.title}`, `/${job.org}/jobs/${job.number}`)),
      ...poolsOf(this.#grid, node).map((name) =>
        org ? link(name, `${org}/pools/${encodeURIComponent(name)}`) : name,
      ),
    );
  }

  addressOf(node) {
    const cluster = encodeURIComponent(node.cluster.name);
    return `${this.root.dataset.base}/nodes/${encodeURIComponent(node.name)}?cluster=${cluster}`;
  }

  open() {
    const node = this.#layout.nodes[this.#at];
    if (node) location.href = this.addressOf(node);
  }
}

function fill(filter, options, asked) {
  const by = filter.dataset.by,
    chosen = filter.options.length ? filter.value : asked;
  filter.replaceChildren(
    new Option(ALL[by], by === "group" ? UNGROUPED : ""),
    ...options.map(([value, title]) => new Option(title, value)),
  );
  filter.value = options.some(([value]) => value === chosen) ? chosen : filter.options[0].value;
  filter.disabled = options.length < (by === "group" ? 1 : 2); // hidden by the style
}

function remember(filter) {
  const url = new URL(location.href);
  if (filter.value) url.searchParams.set(filter.dataset.by, filter.value);
  else url.searchParams.delete(filter.dataset.by);
  history.replaceState(null, "", url);
}

for (const root of document.querySelectorAll("[data-gpu-grid]")) new GpuGrid(root);
