// GPU wall: one cell per GPU on one canvas; 16,000 cells are drawn in a few milliseconds. The outline
// of a cell is its allocation, the fill its use. Pointer or arrow keys name a node, its GPU and its
// jobs; click or Enter opens the node. Filters and grouping are in the URL.
import { gpuName } from "./gpu-names.js";
import { count, locale, say } from "./words.js";

const COLOURS = ["accent", "line-strong", "warn", "failed", "text-2", "focus"];
const KINDS = ["free", "busy", "idle", "unmeasured", "drained", "down", "unhealthy"];
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
const STROKES = ["line-strong", "accent", "warn", "accent", "warn", "failed", "failed"];
const IDLE = 10; // percent of use below which an allocated GPU counts as idle
const EVERY = 30_000;
const HEAD = 18; // pixels of a group's heading
const TALL = 12_000; // pixels; a browser limits the height of a canvas

document.querySelectorAll("[data-wall]").forEach((root) => begin(root));

function begin(root) {
  const canvas = root.querySelector("canvas"),
    tip = root.querySelector(".wall-tip"),
    lost = root.parentElement.querySelector("[data-wall-lost]"),
    filters = [...root.querySelectorAll("[data-by]")];
  let wall,
    loaded,
    shown = [],
    blocks = [],
    cellSize = 20,
    across = 4,
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
  canvas.addEventListener("blur", () => name(-1));
  canvas.addEventListener("click", (event) => {
    const before = at;
    point(event);
    if (event.pointerType !== "touch" || before === at) open();
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
    const next = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (next) name(Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + next)), 0);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown")
      name(beside(event.key === "ArrowDown" ? 1 : -1), 0);
    else return;
    event.preventDefault();
  });

  async function load() {
    const answer = await fetch(root.dataset.url, { headers: { Accept: "application/json" } }).catch(
      () => null,
    );
    lost.hidden = Boolean(answer?.ok);
    if (!answer?.ok) {
      lost.textContent = loaded
        ? say("The GPUs are as of {at}: they couldn't be updated. Trying again.", {
            at: loaded.toLocaleTimeString(locale),
          })
        : say("The GPUs couldn't be loaded. Trying again.");
      return;
    }
    loaded = new Date();
    wall = await answer.json();
    const own = wall.clusters.findIndex((c) => c.name === root.dataset.cluster);
    root.hidden = !wall.nodes.some((node) => node[3] && (!root.dataset.cluster || node[1] === own));
    if (root.hidden) return;
    const asked = new URLSearchParams(location.search);
    const options = {
      cluster: words(wall.clusters.map((c) => c.name)),
      type: wall.types.map((kind) => [kind, gpuName(kind)]),
      partition: words(wall.partitions),
      state: KINDS.map((kind) => [kind, TITLES[kind]]),
      group: groupings(),
    };
    for (const filter of filters)
      fill(filter, options[filter.dataset.by], asked.get(filter.dataset.by) ?? "");
    root.querySelector("[data-inexact]").hidden = wall.clusters.every((c) => c.is_exact);
    choose();
  }

  // What the nodes can be grouped by; a grouping that separates nothing is not offered.
  function groupings() {
    return [
      wall.clusters.length > 1 && !root.dataset.cluster && ["cluster", say("by cluster")],
      wall.pools.length && ["pool", say("by pool")],
      wall.racks.length && ["rack", say("by rack")],
      wall.types.length > 1 && ["model", say("by model")],
    ].filter(Boolean);
  }

  function fill(filter, options, asked) {
    const by = filter.dataset.by,
      all = {
        cluster: say("all clusters"),
        type: say("all models"),
        partition: say("all partitions"),
        state: say("all states"),
        group: say("not grouped"),
      }[by];
    const chosen = filter.options.length ? filter.value : asked;
    filter.replaceChildren(
      new Option(all, ""),
      ...options.map(([value, title]) => new Option(title, value)),
    );
    filter.value = options.some(([value]) => value === chosen) ? chosen : "";
    filter.hidden =
      options.length < (by === "group" ? 1 : 2) ||
      (by === "cluster" && Boolean(root.dataset.cluster));
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
    const passing = wall.nodes
      .map((node, place) => ({ node, place, kinds: kindsOf(node, place) }))
      .filter(
        ({ node, kinds }) =>
          node[3] &&
          (cluster < 0 || node[1] === cluster) &&
          (type < 0 || node[5].includes(type)) &&
          (part < 0 || node[6].includes(part)) &&
          (state < 0 || kinds.includes(state)),
      );
    tell(passing);
    blocks = grouped(passing, by.group);
    shown = blocks.flatMap((block) => block.nodes);
    at = -1;
    tip.hidden = true;
    draw();
  }

  function tell(passing) {
    const counts = KINDS.map(() => 0);
    for (const { kinds } of passing) for (const kind of kinds) counts[kind]++;
    KINDS.forEach((word, i) => {
      root.querySelector(`[data-n=${word}]`).textContent = count(counts[i]);
    });
    const sum = {
      used: count(counts[1] + counts[2] + counts[3]),
      all: count(counts.reduce((a, b) => a + b, 0)),
      n: count(passing.length),
    };
    root.querySelector("[data-sum]").textContent =
      passing.length === 1
        ? say("{used} of {all} allocated, 1 node", sum)
        : say("{used} of {all} allocated, {n} nodes", sum);
    const text = KINDS.map((word, i) => `${counts[i]} ${TITLES[word]}`).join(", ");
    canvas.setAttribute(
      "aria-label",
      `${text}. ${say("Arrow keys move, Enter opens a node. The table of nodes has the same.")}`,
    );
  }

  // The nodes in the chosen groups, in the order of the groups; a node may be in several pools.
  function grouped(passing, by) {
    if (!by) return [{ title: "", nodes: passing }];
    const found =
      by === "pool" || by === "rack"
        ? (by === "pool" ? wall.pools : wall.racks).map((group) => ({
            title: group.name,
            nodes: passing.filter(({ place }) =>
              group.nodes.some(([first, last]) => first <= place && place <= last),
            ),
          }))
        : (by === "model" ? wall.types.map(gpuName) : wall.clusters.map((c) => c.name)).map(
            (title, i) => ({
              title,
              nodes: passing.filter(({ node }) =>
                by === "model" ? node[5].includes(i) : node[1] === i,
              ),
            }),
          );
    const inside = new Set(found.flatMap((group) => group.nodes));
    const others = passing.filter((one) => !inside.has(one));
    if (others.length)
      found.push({ title: by === "pool" ? say("no pool") : say("no rack"), nodes: others });
    return found.filter((group) => group.nodes.length);
  }

  // The state of each GPU; unused GPUs of a node out of service show the node's state.
  function kindsOf(node, place) {
    const isUnhealthy = (wall.health?.[place]?.[0] ?? "warning") !== "warning";
    return Array.from({ length: node[3] }, (_, gpu) => {
      if (node[2] === 2) return 5;
      if (!(gpu < 31 ? (node[4] >> gpu) & 1 : Math.floor(node[4] / 2 ** gpu) % 2))
        return isUnhealthy ? 6 : node[2] === 1 ? 4 : 0;
      const use = wall.use[place][gpu] ?? -1;
      return use < 0 ? 3 : use < IDLE ? 2 : 1;
    });
  }

  function draw() {
    if (!wall || root.hidden) return;
    const began = performance.now(),
      width = canvas.parentElement.clientWidth,
      ratio = devicePixelRatio || 1;
    const height = place(width);
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext("2d"),
      ink = inks();
    pen.scale(ratio, ratio);
    pen.font = `12px ${getComputedStyle(root).fontFamily}`;
    pen.textBaseline = "middle";
    for (const block of blocks) {
      if (block.title) heading(pen, ink, block);
      block.nodes.forEach((one, i) => {
        const [x, y] = corner(block, i);
        one.kinds.forEach((kind, gpu) =>
          cell(
            pen,
            ink,
            x + (gpu % across) * cellSize,
            y + Math.floor(gpu / across) * cellSize,
            cellSize - 1,
            kind,
            wall.use[one.place][gpu] ?? -1,
          ),
        );
        if (wall.health?.[one.place]) mark(pen, ink, x, y, wall.health[one.place][0]);
      });
    }
    if (at >= 0 && at < shown.length) outline(pen, ink);
    root.dataset.drawn = (performance.now() - began).toFixed(1);
  }

  // A corner on the first cell of an unhealthy node.
  function mark(pen, ink, x, y, state) {
    const side = Math.max(3, Math.round(cellSize / 3));
    pen.fillStyle = ink[state === "warning" ? "warn" : "failed"];
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + side, y);
    pen.lineTo(x, y + side);
    pen.fill();
  }

  function heading(pen, ink, block) {
    const gpus = block.nodes.reduce((sum, { node }) => sum + node[3], 0),
      used = block.nodes.reduce((sum, one) => sum + one.kinds.filter(isAllocated).length, 0);
    pen.fillStyle = ink["text-2"];
    pen.fillText(
      `${block.title}  ${count(used)} / ${count(gpus)}`,
      block.x,
      block.y + HEAD / 2,
      block.width - 4,
    );
  }

  function outline(pen, ink) {
    const [x, y] = cornerOf(at);
    pen.strokeStyle = ink.focus;
    pen.lineWidth = 2;
    const { wide, high } = size();
    pen.strokeRect(x - 1.5, y - 1.5, wide - gap() + 2, high - gap() + 2);
  }

  const gap = () => (cellSize > 8 ? 6 : 3);
  const down = () => Math.ceil(Math.max(1, ...shown.map(({ node }) => node[3])) / across);
  let rowsOfCells = 1;
  const size = () => ({ wide: across * cellSize + gap(), high: rowsOfCells * cellSize + gap() });

  // Choose the largest cells with which all groups fit into about half a screen, at least 4 px;
  // lay the groups on shelves and return the height.
  function place(width) {
    const most = Math.max(1, ...shown.map(({ node }) => node[3]));
    across = most > 4 ? 4 : most;
    rowsOfCells = down();
    for (cellSize = 20; ; cellSize--) {
      const height = shelves(width);
      if (cellSize <= 4 || height <= (blocks.length > 1 ? 640 : 420)) return Math.min(height, TALL);
    }
  }

  function shelves(width) {
    const { wide, high } = size(),
      fits = Math.max(1, Math.floor(width / wide));
    let x = 2,
      y = 2,
      shelf = 0;
    for (const block of blocks) {
      block.columns = Math.min(fits, Math.max(1, block.nodes.length));
      const head = block.title ? HEAD : 0;
      block.width = Math.max(block.columns * wide, block.title ? 132 : 0) + (block.title ? 12 : 0);
      block.height = head + Math.ceil(block.nodes.length / block.columns) * high + (head ? 8 : 0);
      if (x > 2 && x + block.width > width) {
        x = 2;
        y += shelf;
        shelf = 0;
      }
      [block.x, block.y, block.top] = [x, y, y + head];
      x += block.width;
      shelf = Math.max(shelf, block.height);
    }
    return y + shelf + 2;
  }

  function corner(block, i) {
    const { wide, high } = size();
    return [block.x + (i % block.columns) * wide, block.top + Math.floor(i / block.columns) * high];
  }

  function cornerOf(index) {
    let left = index;
    for (const block of blocks) {
      if (left < block.nodes.length) return corner(block, left);
      left -= block.nodes.length;
    }
    return [0, 0];
  }

  // The nearest node above (-1) or below (1) the current one.
  function beside(way) {
    if (at < 0) return 0;
    const [x, y] = cornerOf(at);
    let best = at,
      least = Infinity;
    shown.forEach((_, index) => {
      const [left, top] = cornerOf(index);
      if ((top - y) * way <= 0) return;
      const far = Math.abs(top - y) * 4 + Math.abs(left - x);
      if (far < least) [best, least] = [index, far];
    });
    return best;
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

  // A free GPU is a thin square, an allocated one has a coloured outline and is filled by its use
  // from below; tiny cells are tinted instead. Out of service has one diagonal, down two.
  function cell(pen, ink, x, y, side, kind, use) {
    pen.lineWidth = 1;
    pen.fillStyle = pen.strokeStyle = ink[STROKES[kind]];
    if (kind === 1) {
      if (side < 6) {
        pen.globalAlpha = 0.3 + use / 140;
        pen.fillRect(x, y, side, side);
        pen.globalAlpha = 1;
        return;
      }
      const high = Math.max(1, Math.round(((side - 2) * use) / 100));
      pen.fillRect(x + 1, y + side - 1 - high, side - 2, high);
    }
    pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    if (kind === 3) {
      const dot = Math.max(1, Math.round(side / 4));
      pen.fillRect(x + (side - dot) / 2, y + (side - dot) / 2, dot, dot);
    }
    if (kind < 4) return;
    pen.beginPath();
    pen.moveTo(x, y + side);
    pen.lineTo(x + side, y);
    if (kind === 5) {
      pen.moveTo(x, y);
      pen.lineTo(x + side, y + side);
    }
    pen.stroke();
  }

  function point(event) {
    if (!wall) return;
    const box = canvas.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top,
      { wide, high } = size();
    let before = 0;
    for (const block of blocks) {
      const column = Math.floor((x - block.x) / wide),
        row = Math.floor((y - block.top) / high),
        index = row * block.columns + column;
      if (column >= 0 && column < block.columns && row >= 0 && index < block.nodes.length) {
        const gpu =
          Math.floor((y - block.top - row * high) / cellSize) * across +
          Math.min(across - 1, Math.floor((x - block.x - column * wide) / cellSize));
        name(before + index, gpu);
        return;
      }
      before += block.nodes.length;
    }
    name(-1);
  }

  function name(found, gpu = 0) {
    const isMoved = found !== at;
    at = found;
    tip.hidden = found < 0;
    if (isMoved) draw();
    if (found < 0) return;
    const { node, place: index, kinds } = shown[found],
      number = Math.min(gpu, node[3] - 1),
      use = wall.use[index][number] ?? -1;
    const head = document.createElement("b");
    head.textContent = `${node[0]} · GPU ${number}: ${TITLES[KINDS[kinds[number]]]}`;
    tip.replaceChildren(
      head,
      ...[
        use >= 0 && say("{n}% used (5 min)", { n: use }),
        wall.health?.[index] && `${HEALTH[wall.health[index][0]]}: ${wall.health[index][1]}`,
        `${wall.clusters[node[1]].name} · ${node[5].map((t) => gpuName(wall.types[t])).join(", ")} · ${say("{n} of {all} allocated", { n: kinds.filter(isAllocated).length, all: node[3] })}`,
        ...jobsOn(index, number),
      ]
        .filter(Boolean)
        .flatMap((text, i) => (i ? [document.createElement("br"), text] : [text])),
    );
    const [x, y] = cornerOf(found);
    tip.style.left = `${Math.max(0, Math.min(x, canvas.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${y + size().high + 4}px`;
  }

  // The job of the GPU; where the scheduler does not tell which it has, the jobs of the node.
  function jobsOn(index, gpu) {
    const jobs = wall.jobs[index] ?? [],
      own = jobs.filter(([, , gpus]) => gpus?.includes(gpu));
    return (own.length ? own : jobs.filter(([, , gpus]) => !gpus))
      .slice(0, 4)
      .map(([number, title, , org]) => `#${number} ${title}${root.dataset.all ? ` · ${org}` : ""}`);
  }

  function open() {
    if (at < 0) return;
    const { node } = shown[at],
      cluster = encodeURIComponent(wall.clusters[node[1]].name);
    location.href = `${root.dataset.base}/nodes/${encodeURIComponent(node[0])}?cluster=${cluster}`;
  }
}

const words = (list) => list.map((word) => [word, word]);
const isAllocated = (kind) => kind > 0 && kind < 4;
