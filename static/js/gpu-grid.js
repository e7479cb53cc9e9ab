// GPU wall: one cell per GPU on one canvas; 16,000 cells are drawn in a few milliseconds. The outline
// of a cell is its allocation, the fill its use. Pointer or arrow keys name a node, its GPU and its
// jobs; click or Enter opens the node. Filters and grouping are in the URL.
import { gpuName } from "./gpu-names.js";
import { grouped, isAllocated, jobsOn, passing, readGrid, STATES } from "./gpu-grid/gpus.js";
import { Layout } from "./gpu-grid/layout.js";
import { paint } from "./gpu-grid/painter.js";
import { count, locale, say } from "./words.js";

const TITLES = {
  free: say("free"),
  busy: say("in use"),
  idle: say("allocated, idle"),
  unmeasured: say("allocated, not measured"),
  drained: say("drained"),
  down: say("down"),
  unhealthy: say("out of service for its health"),
};
const HEALTH = {
  warning: say("health: warning"),
  draining: say("health: draining"),
  quarantined: say("health: quarantined"),
};
const ALL = {
  cluster: say("all clusters"),
  type: say("all models"),
  partition: say("all partitions"),
  state: say("all states"),
  group: say("not grouped"),
};
const EVERY = 30_000;

class GpuGrid {
  #grid = null;
  #loaded = null;
  #layout = new Layout([]);
  #at = -1; // the place of the named node in the layout

  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.tip = root.querySelector(".gpu-grid-tip");
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
        this.choose();
      });
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => this.name(-1));
    canvas.addEventListener("blur", () => this.name(-1));
    canvas.addEventListener("click", (event) => {
      const before = this.#at;
      this.point(event);
      if (event.pointerType !== "touch" || before === this.#at) this.open();
    });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  async load() {
    const answer = await fetch(this.root.dataset.url, {
      headers: { Accept: "application/json" },
    }).catch(() => null);
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
    const only = this.root.dataset.cluster;
    this.root.hidden = !this.#grid.nodes.some(
      ({ gpus, cluster }) => gpus.length && (!only || cluster.name === only),
    );
    if (this.root.hidden) return;
    this.offerFilters();
    this.choose();
  }

  // -- filters
  offerFilters() {
    const { clusters, types, partitions } = this.#grid;
    const asked = new URLSearchParams(location.search);
    const options = {
      cluster: clusters.map(({ name }) => [name, name]),
      type: types.map((type) => [type, gpuName(type)]),
      partition: partitions.map((name) => [name, name]),
      state: STATES.map((state) => [state, TITLES[state]]),
      group: this.groupings(),
    };
    for (const filter of this.filters) {
      const by = filter.dataset.by,
        isFixed = by === "cluster" && Boolean(this.root.dataset.cluster);
      fill(filter, options[by], asked.get(by) ?? "", isFixed);
    }
    this.root.querySelector("[data-inexact]").hidden = clusters.every((c) => c.is_exact);
  }

  // What the nodes can be grouped by; a grouping that separates nothing is not offered.
  groupings() {
    const { clusters, pools, racks, types } = this.#grid;
    return [
      clusters.length > 1 && !this.root.dataset.cluster && ["cluster", say("by cluster")],
      pools.length && ["pool", say("by pool")],
      racks.length && ["rack", say("by rack")],
      types.length > 1 && ["model", say("by model")],
    ].filter(Boolean);
  }

  choose() {
    const by = Object.fromEntries(this.filters.map(({ dataset, value }) => [dataset.by, value]));
    by.cluster = this.root.dataset.cluster || by.cluster;
    const nodes = passing(this.#grid, by);
    this.tell(nodes);
    this.#layout = new Layout(grouped(this.#grid, nodes, by.group));
    this.#at = -1;
    this.tip.hidden = true;
    this.draw();
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
      `${text}. ${say("Arrow keys move, Enter opens a node. The table of nodes has the same.")}`,
    );
  }

  draw() {
    if (!this.#grid || this.root.hidden) return;
    const began = performance.now();
    paint(this.root, this.canvas, this.#layout, this.#at);
    this.root.dataset.drawn = (performance.now() - began).toFixed(1);
  }

  // -- the named node
  press(event) {
    const at = this.#at,
      last = this.#layout.nodes.length - 1;
    if (event.key === "Enter") this.open();
    const next = { ArrowLeft: -1, ArrowRight: 1 }[event.key],
      way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (next) this.name(Math.max(0, Math.min(last, at < 0 ? 0 : at + next)));
    else if (way) this.name(at < 0 ? 0 : this.#layout.beside(at, way));
    else return;
    event.preventDefault();
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
    this.tip.hidden = index < 0;
    if (isMoved) this.draw();
    if (index < 0) return;
    const node = this.#layout.nodes[index];
    const [head, ...lines] = this.describe(node, Math.min(gpu, node.gpus.length - 1));
    const title = Object.assign(document.createElement("b"), { textContent: head });
    this.tip.replaceChildren(
      title,
      ...lines.flatMap((text, i) => (i ? [document.createElement("br"), text] : [text])),
    );
    const { x, y } = this.#layout.cornerOf(index);
    const most = this.canvas.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(x, most))}px`;
    this.tip.style.top = `${y + this.#layout.high + 4}px`;
  }

  // The lines about a GPU of a node.
  describe(node, number) {
    const { use, state } = node.gpus[number],
      n = node.gpus.filter((gpu) => isAllocated(gpu.state)).length;
    const isAll = "all" in this.root.dataset;
    return [
      `${node.name} · GPU ${number}: ${TITLES[state]}`,
      use >= 0 && say("{n}% used (5 min)", { n: use }),
      node.health && `${HEALTH[node.health.state]}: ${node.health.why}`,
      [
        node.cluster.name,
        node.types.map(gpuName).join(", "),
        say("{n} of {all} allocated", { n, all: node.gpus.length }),
      ].join(" · "),
      ...jobsOn(node, number)
        .slice(0, 4)
        .map((job) => `#${job.number} ${job.title}${isAll ? ` · ${job.org}` : ""}`),
    ].filter(Boolean);
  }

  open() {
    const node = this.#layout.nodes[this.#at];
    if (!node) return;
    const cluster = encodeURIComponent(node.cluster.name);
    location.href = `${this.root.dataset.base}/nodes/${encodeURIComponent(node.name)}?cluster=${cluster}`;
  }
}

function fill(filter, options, asked, isFixed) {
  const by = filter.dataset.by,
    chosen = filter.options.length ? filter.value : asked;
  filter.replaceChildren(
    new Option(ALL[by], ""),
    ...options.map(([value, title]) => new Option(title, value)),
  );
  filter.value = options.some(([value]) => value === chosen) ? chosen : "";
  filter.hidden = options.length < (by === "group" ? 1 : 2) || isFixed;
}

function remember(filter) {
  const url = new URL(location.href);
  if (filter.value) url.searchParams.set(filter.dataset.by, filter.value);
  else url.searchParams.delete(filter.dataset.by);
  history.replaceState(null, "", url);
}

for (const root of document.querySelectorAll("[data-gpu-grid]")) new GpuGrid(root);
