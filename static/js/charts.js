// Charts of jobs and nodes: sections, one toolbar, live points. The view is in the URL.
import { Chart } from "./charts/chart.js";
import { chartsOf, labelText, matcherOf, sectionsOf } from "./charts/curves.js";
import { drawInline } from "./charts/inline.js";
import { chartTitle, sectionTitle } from "./charts/names.js";
import { urlOf, viewOf } from "./charts/view.js";
import { live } from "./live.js";
import { say } from "./words.js";

const KINDS = { training: false, system: true, items: true }; // part of the answer -> isSystem
const RELOAD = 15_000; // ms, of several running jobs
const BUDGET = 6; // ms of a frame for plots that come near the screen
const asked = new Map(); // requests under way: two sets of a page may show one source
let sets = 0;

// The element has data-sources: the id of a JSON list of {id, name, url, start, topics, isLive}.
class ChartSet {
  constructor(root) {
    this.root = root;
    this.id = `charts${++sets}`;
    this.sources = JSON.parse(document.getElementById(root.dataset.sources).textContent).map(
      (source, n) => ({ colour: n, ...source }),
    );
    this.isMany = this.sources.length > 1;
    this.hidden = new Set();
    this.zooms = {};
    this.charts = new Map();
    this.curves = new Map();
    this.sections = new Map();
    this.queue = new Set();
    this.names = root.dataset.names ? new Set(root.dataset.names.split(",")) : null;
    this.first = Number(root.dataset.first) || 0; // charts of training to show; 0: all charts
    this.bar = root.querySelector("[data-bar]");
    this.box = root.querySelector("[data-sections]");
    this.view = viewOf(this.bar ? location.search : "", root.dataset.axis);
    if (this.view.hide) this.view.hide.split(",").forEach((id) => this.hidden.add(id));
    this.task = this.bar?.querySelector("[name=task]")?.value ?? "";
    this.memory = `muster.charts:${root.dataset.key || location.pathname}`;
    this.kept = { pins: [], closed: [], ...read(this.memory) };
    this.near = new IntersectionObserver((entries) => this.#seen(entries), {
      rootMargin: "400px 0px",
    });
    this.sizes = new ResizeObserver((entries) =>
      entries.forEach((e) => e.target.parentElement?.chart?.resized()),
    );
    if (this.bar) this.#bar();
    this.#listen();
    this.load();
    document.addEventListener("themechange", () =>
      this.charts.forEach((chart) => chart.plot && chart.draw()),
    );
  }

  #bar() {
    const field = (name) => this.bar.querySelector(`[name=${name}]`);
    const smooth = field("smooth");
    const axis = field("axis");
    const log = field("log");
    const search = field("metric");
    const shown = this.bar.querySelector("output");
    smooth.value = this.view.smooth;
    axis.value = this.view.axis;
    log.checked = this.view.log;
    search.value = this.view.metric;
    const told = () => (shown.textContent = this.view.smooth ? this.view.smooth.toFixed(2) : "0");
    told();
    smooth.oninput = () => {
      this.view.smooth = Number(smooth.value);
      told();
      this.#viewed();
    };
    axis.onchange = () => {
      this.view.axis = axis.value;
      this.#viewed();
    };
    log.onchange = () => {
      this.view.log = log.checked;
      this.#viewed();
    };
    search.oninput = () => {
      this.view.metric = search.value;
      this.#remember();
      this.#filter();
    };
    const task = field("task");
    if (task)
      task.onchange = () => {
        this.task = task.value;
        const url = new URL(location);
        if (this.task) url.searchParams.set("task", this.task);
        else url.searchParams.delete("task");
        history.replaceState(null, "", url);
        this.curves.clear();
        this.load();
      };
  }

  #remember() {
    if (!this.bar) return;
    this.view.hide = [...this.hidden].join(",");
    history.replaceState(null, "", urlOf(location.href, this.view, this.root.dataset.axis));
  }

  // Redraw with the next frame: a slider sends many events.
  #viewed() {
    this.#remember();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() =>
      this.charts.forEach((chart) => {
        chart.zoomed();
        chart.changed();
      }),
    );
  }

  // The times of all curves where charts share one axis (data-aligned); null for an axis of its own.
  extent(axis) {
    if (!("aligned" in this.root.dataset) || axis === "step") return null;
    const ends = [...this.curves.values()]
      .filter((curve) => curve.times.length)
      .map(({ source, times }) => {
        const start = axis === "relative" ? (source.start ?? times[0]) : 0;
        return [times[0] - start, times.at(-1) - start];
      });
    const [low, high] = [Math.min(...ends.map(([a]) => a)), Math.max(...ends.map(([, b]) => b))];
    return low < high ? [low, high] : null;
  }

  isHidden(source) {
    return this.hidden.has(String(source.id));
  }

  // Show or hide the curves of one source.
  toggle(id, on) {
    if (on) this.hidden.delete(String(id));
    else this.hidden.add(String(id));
    this.#viewed();
  }

  zoom(axis, range) {
    if (range) this.zooms[axis] = range;
    else delete this.zooms[axis];
    for (const chart of this.charts.values()) {
      if (chart.axis !== axis) continue;
      chart.zoomed();
      if (chart.plot && range) chart.plot.setScale("x", { min: range[0], max: range[1] });
      else if (chart.plot) chart.plot.setData(chart.plot.data);
    }
  }

  pin(key) {
    const { pins } = this.kept;
    this.kept.pins = pins.includes(key) ? pins.filter((name) => name !== key) : [...pins, key];
    this.#keep();
    this.#arrange();
  }

  #keep() {
    localStorage.setItem(this.memory, JSON.stringify(this.kept));
  }

  // Draw this chart when it is near the screen.
  request(chart) {
    if (chart.isNear) this.#enqueue(chart);
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const { chart } = target;
      chart.isNear = isIntersecting;
      if (isIntersecting) this.#enqueue(chart);
      else {
        this.queue.delete(chart);
        if (!target.closest("dialog")) chart.unmount();
      }
    }
  }

  #enqueue(chart) {
    if (chart.plot) return;
    this.queue.add(chart);
    this.pump ||= requestAnimationFrame(() => this.#pump());
  }

  #pump() {
    this.pump = 0;
    const until = performance.now() + BUDGET;
    for (const chart of this.queue) {
      this.queue.delete(chart);
      if (chart.isNear && !chart.plot) chart.draw();
      if (performance.now() > until) break;
    }
    if (this.queue.size) this.pump = requestAnimationFrame(() => this.#pump());
  }

  async load() {
    const task = this.task;
    const waiting = this.root.querySelector("[data-waiting]");
    const answers = await Promise.all(
      this.sources.map(async (source) => {
        const answer = await this.#fetch(source);
        if (answer && task === this.task) this.#arrived(source, answer);
        return answer;
      }),
    );
    if (task !== this.task) return; // another task was chosen meanwhile
    if (waiting && answers.length && answers.every((answer) => answer === null)) {
      waiting.textContent = say("The charts couldn't be loaded. Reload the page to try again.");
      return;
    }
    this.#shown();
    this.root.dataset.loaded = "true";
  }

  // Of several runs, the first is drawn while the others are fetched.
  #arrived(source, answer) {
    this.#take(source, answer);
    if (this.isMany && this.curves.size) this.#shown();
  }

  #shown() {
    this.root.querySelector("[data-waiting]")?.remove();
    this.root.querySelector("[data-skeleton]")?.remove();
    this.#arrange();
  }

  async #fetch(source) {
    const url = new URL(source.url, location.href);
    if (this.task) url.searchParams.set("index", this.task);
    if (!asked.has(url.href)) {
      const answer = fetched(url);
      asked.set(url.href, answer);
      answer.then(() => asked.delete(url.href));
    }
    return asked.get(url.href);
  }

  #take(source, body) {
    for (const [kind, isSystem] of Object.entries(KINDS)) {
      const series = (body[kind] ?? []).filter((s) => !this.names || this.names.has(s.name));
      for (const s of this.isMany && isSystem ? means(series) : series) {
        const curve = this.#curve(source, isSystem, s.name, s.labels, s.unit);
        curve.times = s.times.map((t) => t / 1000);
        curve.values = s.values;
        curve.steps = s.steps;
        curve.mean = s.mean;
        curve.drawn = null;
      }
    }
  }

  #curve(source, isSystem, name, labels, unit) {
    const id = `${source.id} ${isSystem} ${name} ${labelText(labels)}`;
    if (!this.curves.has(id))
      this.curves.set(id, {
        id,
        source,
        isSystem,
        name,
        labels,
        unit,
        times: [],
        values: [],
        steps: [],
      });
    return this.curves.get(id);
  }

  #listen() {
    const isLive = this.sources.some((source) => source.isLive);
    if (!isLive) return;
    if (this.isMany) {
      setInterval(() => document.visibilityState === "visible" && this.load(), RELOAD);
      return;
    }
    const [source] = this.sources;
    for (const topic of source.topics)
      live().subscribe(topic.name, {
        event: ({ earlier = [], ...last }) =>
          [...earlier, last].forEach((data) => this.#point(source, topic, data)),
        resync: () => this.load(),
      });
  }

  #point(source, topic, data) {
    const labelled = topic.labels ?? {};
    const step = data.step ?? null;
    const grown = new Set();
    for (const [key, value] of Object.entries(data.values)) {
      const [, name, inner] = key.match(/^([^{]*)(?:\{(.*)\})?$/);
      if (this.names && !this.names.has(name)) continue;
      if (topic.gpu && parsed(inner).gpu !== topic.gpu) continue; // of another GPU of the node
      const labels = labelText({ ...parsed(inner), ...labelled });
      const { task } = { ...parsed(inner), ...labelled };
      if (this.task && task !== undefined && task !== this.task) continue;
      const curve = this.curves.get(`${source.id} ${topic.kind === "system"} ${name} ${labels}`);
      if (!curve) {
        this.#loadSoon(); // a new curve: the API knows its unit
        continue;
      }
      Chart.add(curve, data.t / 1000, curve.steps.length || step !== null ? step : null, value);
      if (curve.chart) grown.add(curve.chart);
    }
    grown.forEach((chart) => chart.grown());
  }

  #loadSoon() {
    this.soon ||= setTimeout(() => {
      this.soon = 0;
      this.load();
    }, 1000);
  }

  // Put every chart into its section. Existing cards keep their place and plots.
  #arrange() {
    let specs = chartsOf([...this.curves.values()]);
    if (this.first) {
      specs = specs.filter((spec) => !spec.isSystem).slice(0, this.first);
      const panel = this.root.closest("[data-curves]");
      panel.classList.toggle("is-empty", !specs.length);
    }
    const known = new Set(specs.map((spec) => spec.key));
    for (const [key, chart] of this.charts)
      if (!known.has(key)) {
        this.near.unobserve(chart.card);
        chart.unmount();
        chart.card.remove();
        this.charts.delete(key);
      }
    for (const spec of specs) {
      if (!this.charts.has(spec.key)) this.#add(spec.key);
      const chart = this.charts.get(spec.key);
      chart.show(spec, chartTitle(spec));
      for (const curve of spec.curves) curve.chart = chart;
    }
    const pinned = specs.filter((spec) => this.kept.pins.includes(spec.key));
    const rest = specs.filter((spec) => !this.kept.pins.includes(spec.key));
    const sections = sectionsOf(rest).map((s) => ({ ...s, title: sectionTitle(s) }));
    if (pinned.length)
      sections.unshift({
        key: "pinned",
        title: say("Pinned", { context: "heading" }),
        charts: pinned,
      });
    // Without a toolbar there are no headings either
    this.#place(this.bar ? sections : [{ key: "all", title: "", charts: specs }]);
    for (const [key, chart] of this.charts) chart.setPinned(this.kept.pins.includes(key));
    for (const empty of this.root.querySelectorAll("[data-empty]"))
      empty.hidden = specs.some((s) => s.isSystem === (empty.dataset.empty === "system"));
    if (this.bar) this.#fitBar(specs);
    this.#filter();
  }

  // Without curves of training there are no steps to choose.
  #fitBar(specs) {
    this.bar.hidden = !specs.length;
    const axis = this.bar.querySelector("[name=axis]");
    const hasSteps = specs.some((spec) => spec.curves.some((curve) => curve.steps.length));
    axis.querySelector("[value=step]").hidden = !hasSteps;
    const { axis: chosen } = this.view;
    axis.value = chosen === "step" && !hasSteps ? (this.isMany ? "relative" : "time") : chosen;
  }

  #add(key) {
    const chart = new Chart(this, key);
    this.charts.set(key, chart);
    this.near.observe(chart.card);
    this.sizes.observe(chart.plotBox);
  }

  #place(sections) {
    const wanted = new Set(sections.map((s) => s.key));
    for (const [key, section] of this.sections)
      if (!wanted.has(key)) {
        section.remove();
        this.sections.delete(key);
      }
    let before = null;
    for (const { key, title, charts } of sections) {
      if (!this.sections.has(key)) this.sections.set(key, this.#section(key));
      const section = this.sections.get(key);
      section.querySelector("h3").textContent = title;
      if (before ? before.nextElementSibling !== section : this.box.firstElementChild !== section)
        before ? before.after(section) : this.box.prepend(section);
      before = section;
      const grid = section.lastElementChild;
      const cards = charts.map((spec) => this.charts.get(spec.key).card);
      if (
        cards.some((card, n) => grid.children[n] !== card) ||
        grid.children.length !== cards.length
      )
        grid.replaceChildren(...cards.filter((card) => !card.closest("dialog")));
    }
  }

  #section(key) {
    const section = document.createElement("details");
    section.className = "chart-section";
    section.open = !this.kept.closed.includes(key);
    section.innerHTML =
      '<summary><h3></h3> <span class="count faint"></span></summary><div class="charts"></div>';
    section.ontoggle = () => {
      const { closed } = this.kept;
      this.kept.closed = section.open
        ? closed.filter((name) => name !== key)
        : [...new Set([...closed, key])];
      this.#keep();
    };
    return section;
  }

  #filter() {
    const matches = matcherOf(this.view.metric);
    let found = 0;
    for (const section of this.sections.values()) {
      let count = 0;
      for (const card of section.querySelectorAll(".chart")) {
        const { chart } = card;
        const isShown = matches(chart.title) || chart.curves.some((curve) => matches(curve.name));
        card.hidden = !isShown;
        count += Number(isShown);
      }
      section.hidden = !count;
      section.querySelector(".count").textContent = count;
      found += count;
    }
    const none = this.root.querySelector("[data-none]");
    if (none) none.hidden = found > 0 || !this.charts.size;
  }
}

async function fetched(url) {
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

// Several machines or GPUs of one run as one curve: the mean at each time.
function means(series) {
  const groups = Map.groupBy ? Map.groupBy(series, (s) => s.name) : grouped(series);
  return [...groups.values()].map((group) => {
    if (group.length === 1) return { ...group[0], labels: {} };
    const sums = new Map();
    for (const s of group)
      s.times.forEach((t, n) => {
        const sum = sums.get(t) ?? [0, 0];
        const isPoint = s.values[n] != null;
        sums.set(t, [sum[0] + (isPoint ? s.values[n] : 0), sum[1] + isPoint]);
      });
    const times = [...sums.keys()].sort((a, b) => a - b);
    return {
      ...group[0],
      labels: {},
      steps: [],
      mean: group.length,
      times,
      values: times.map((t) => (sums.get(t)[1] ? sums.get(t)[0] / sums.get(t)[1] : null)),
    };
  });
}

function grouped(series) {
  const groups = new Map();
  for (const s of series) groups.set(s.name, [...(groups.get(s.name) ?? []), s]);
  return groups;
}

const parsed = (inner) =>
  Object.fromEntries(
    (inner ? inner.split(",") : []).map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
  );

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

for (const root of document.querySelectorAll("[data-charts]")) root.charts = new ChartSet(root);
drawInline();
