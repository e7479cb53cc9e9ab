// GPU wall: one block of cells per node and one cell per GPU, on one canvas; draws 16,000 cells in a
// few milliseconds. Pointer or arrow keys show a node, its GPU and its jobs; click or Enter opens the
// node. Filters are in the URL.
import { count, say } from "./words.js";

const COLOURS = ["accent", "line-strong", "warn", "failed", "panel", "focus"];
const KINDS = ["free", "used", "drained", "down"];
const TITLES = { free: say("free"), used: say("used"), drained: say("drained"), down: say("down") };
const EVERY = 30_000;

document.querySelectorAll("[data-wall]").forEach((root) => begin(root));

function begin(root) {
  const canvas = root.querySelector("canvas"),
    tip = root.querySelector(".wall-tip"),
    filters = [...root.querySelectorAll("[data-by]")];
  let wall,
    shown = [],
    layout,
    at = -1;

  load();
  setInterval(() => document.hidden || load(), EVERY);
  new ResizeObserver(draw).observe(root);
  new MutationObserver(draw).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  filters.forEach((filter) =>
    filter.addEventListener("change", () => {
      remember(filter);
      choose();
    }),
  );
  canvas.addEventListener("pointermove", (event) => point(event));
  canvas.addEventListener("pointerleave", () => name(-1));
  canvas.addEventListener("click", (event) => {
    const before = at;
    point(event);
    if (event.pointerType !== "touch" || before === at) open();
  });
  canvas.addEventListener("keydown", (event) => {
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -layout.columns,
      ArrowDown: layout.columns,
    }[event.key];
    if (event.key === "Enter") open();
    if (step === undefined) return;
    event.preventDefault();
    name(Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + step)), 0);
  });

  async function load() {
    const answer = await fetch(root.dataset.url, { headers: { Accept: "application/json" } }).catch(
      () => null,
    );
    if (!answer?.ok) return;
    wall = await answer.json();
    const own = wall.clusters.findIndex((c) => c.name === root.dataset.cluster);
    root.hidden = !wall.nodes.some((node) => node[3] && (!root.dataset.cluster || node[1] === own));
    if (root.hidden) return;
    const words = {
      cluster: wall.clusters.map((c) => c.name),
      type: wall.types,
      partition: wall.partitions,
      state: KINDS,
    };
    const asked = new URLSearchParams(location.search);
    for (const filter of filters)
      fill(filter, words[filter.dataset.by], asked.get(filter.dataset.by) ?? "");
    root.querySelector("[data-inexact]").hidden = wall.clusters.every((c) => c.is_exact);
    choose();
  }

  function fill(filter, words, asked) {
    const all = {
      cluster: say("all clusters"),
      type: say("all types"),
      partition: say("all partitions"),
      state: say("all states"),
    }[filter.dataset.by];
    const chosen = filter.options.length ? filter.value : asked;
    filter.replaceChildren(
      new Option(all, ""),
      ...words.map((word) => new Option(filter.dataset.by === "state" ? TITLES[word] : word, word)),
    );
    filter.value = words.includes(chosen) ? chosen : "";
    filter.hidden =
      words.length < 2 || (filter.dataset.by === "cluster" && Boolean(root.dataset.cluster));
  }

  function remember(filter) {
    const url = new URL(location.href);
    filter.value
      ? url.searchParams.set(filter.dataset.by, filter.value)
      : url.searchParams.delete(filter.dataset.by);
    history.replaceState(null, "", url);
  }

  function choose() {
    const by = Object.fromEntries(filters.map((filter) => [filter.dataset.by, filter.value]));
    const cluster = wall.clusters.findIndex((c) => c.name === (root.dataset.cluster || by.cluster));
    const type = wall.types.indexOf(by.type),
      part = wall.partitions.indexOf(by.partition),
      state = KINDS.indexOf(by.state);
    shown = wall.nodes
      .map((node, place) => ({ node, place }))
      .filter(
        ({ node }) =>
          node[3] &&
          (cluster < 0 || node[1] === cluster) &&
          (type < 0 || node[5].includes(type)) &&
          (part < 0 || node[6].includes(part)) &&
          (state < 0 || [...Array(node[3]).keys()].some((gpu) => kind(node, gpu) === state)),
      );
    const counts = [0, 0, 0, 0];
    for (const { node } of shown) for (let gpu = 0; gpu < node[3]; gpu++) counts[kind(node, gpu)]++;
    KINDS.forEach((word, i) => {
      root.querySelector(`[data-n=${word}]`).textContent = count(counts[i]);
    });
    const total = counts.reduce((a, b) => a + b, 0);
    root.querySelector("[data-sum]").textContent = say("{used} of {all} used, {n} nodes", {
      used: count(counts[1]),
      all: count(total),
      n: count(shown.length),
    });
    canvas.setAttribute(
      "aria-label",
      KINDS.map((word, i) => `${counts[i]} ${TITLES[word]}`).join(", "),
    );
    at = -1;
    tip.hidden = true;
    draw();
  }

  // State of each GPU; unused GPUs of a down or drained node show the node's state.
  function kind(node, gpu) {
    if (node[2] === 2) return 3;
    if (gpu < 31 ? (node[4] >> gpu) & 1 : Math.floor(node[4] / 2 ** gpu) % 2) return 1;
    return node[2] === 1 ? 2 : 0;
  }

  function draw() {
    if (!wall || root.hidden) return;
    const width = canvas.parentElement.clientWidth,
      most = Math.max(1, ...shown.map(({ node }) => node[3]));
    layout = fit(width, shown.length, most);
    const ratio = devicePixelRatio || 1,
      height = layout.rows * layout.high;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext("2d"),
      ink = inks();
    pen.scale(ratio, ratio);
    shown.forEach(({ node }, i) => {
      const x = (i % layout.columns) * layout.wide,
        y = Math.floor(i / layout.columns) * layout.high;
      for (let gpu = 0; gpu < node[3]; gpu++)
        cell(
          pen,
          ink,
          x + (gpu % layout.across) * layout.cell,
          y + Math.floor(gpu / layout.across) * layout.cell,
          layout.cell - 1,
          kind(node, gpu),
        );
    });
    if (at >= 0 && at < shown.length) {
      pen.strokeStyle = ink.focus;
      pen.lineWidth = 2;
      pen.strokeRect(
        (at % layout.columns) * layout.wide - 1,
        Math.floor(at / layout.columns) * layout.high - 1,
        layout.wide - 1,
        layout.high - 1,
      );
    }
  }

  // Largest cell size with which all fit into about half a screen, at least 4 px.
  function fit(width, count, most) {
    const across = most > 4 ? 4 : most,
      down = Math.ceil(most / across);
    for (let cell = 14; ; cell--) {
      const gap = cell > 8 ? 5 : 3,
        wide = across * cell + gap,
        high = down * cell + gap;
      const columns = Math.max(1, Math.floor(width / wide)),
        rows = Math.ceil(count / columns);
      if (cell <= 4 || rows * high <= 420) return { cell, wide, high, columns, rows, across };
    }
  }

  function inks() {
    const style = getComputedStyle(root),
      probe = document.createElement("i");
    root.append(probe);
    const found = Object.fromEntries(
      COLOURS.map((word) => {
        probe.style.color = style.getPropertyValue(`--${word}`);
        return [word, getComputedStyle(probe).color];
      }),
    );
    probe.remove();
    return found;
  }

  function cell(pen, ink, x, y, size, which) {
    pen.lineWidth = 1;
    pen.fillStyle = pen.strokeStyle = [ink["line-strong"], ink.accent, ink.warn, ink.failed][which];
    if (which === 1) {
      pen.fillRect(x, y, size, size);
      return;
    }
    pen.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
    if (which < 2) return;
    pen.beginPath();
    pen.moveTo(x, y + size);
    pen.lineTo(x + size, y);
    if (which === 3) {
      pen.moveTo(x, y);
      pen.lineTo(x + size, y + size);
    }
    pen.stroke();
  }

  function point(event) {
    const box = canvas.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    const column = Math.floor(x / layout.wide),
      row = Math.floor(y / layout.high),
      found = row * layout.columns + column;
    if (column >= layout.columns || found >= shown.length) {
      name(-1);
      return;
    }
    name(
      found,
      Math.floor((y - row * layout.high) / layout.cell) * layout.across +
        Math.floor((x - column * layout.wide) / layout.cell),
    );
  }

  function name(found, gpu = 0) {
    const is_moved = found !== at;
    at = found;
    tip.hidden = found < 0;
    if (is_moved) draw();
    if (found < 0) return;
    const { node, place } = shown[found],
      number = Math.min(gpu, node[3] - 1),
      jobs = wall.jobs[place] ?? [];
    const head = document.createElement("b");
    head.textContent = `${node[0]} · GPU ${number}: ${TITLES[KINDS[kind(node, number)]]}`;
    const used = [...Array(node[3]).keys()].filter((n) => kind(node, n) === 1).length;
    tip.replaceChildren(
      head,
      `${wall.clusters[node[1]].name} · ${node[5].map((t) => wall.types[t]).join(", ")} · ${say("{n} of {all} used", { n: used, all: node[3] })} · ${say(wall.states[node[2]])}`,
      ...jobs.slice(0, 4).flatMap(([n, title]) => [document.createElement("br"), `#${n} ${title}`]),
    );
    const x = (found % layout.columns) * layout.wide,
      y = Math.floor(found / layout.columns) * layout.high;
    tip.style.left = `${Math.max(0, Math.min(x, canvas.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${y + layout.high + 4}px`;
  }

  function open() {
    if (at >= 0)
      location.href = `/${root.dataset.org}/nodes/${encodeURIComponent(shown[at].node[0])}?cluster=${wall.clusters[shown[at].node[1]].name}`;
  }
}
