// Draws the lineage as a layered graph from left to right. The list below it says the same without scripts.
import { Graph, layout } from "../vendor/dagre.js";
import { say } from "./words.js";

const WIDTH = 208;
const HEIGHT = 48;
const FAST = 300; // nodes beyond which the quick ranking is used
const LONGEST = { title: 26, detail: 30 }; // characters that fit

const make = (name, attributes = {}, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
};
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Return the graph with the place of each node and the points of each link.
export function placed({ nodes, links }) {
  const graph = new Graph().setDefaultEdgeLabel(() => ({}));
  graph.setGraph({
    rankdir: "LR",
    nodesep: 14,
    ranksep: 56,
    marginx: 8,
    marginy: 8,
    ranker: nodes.length > FAST ? "longest-path" : "network-simplex",
  });
  for (const node of nodes) graph.setNode(node.id, { width: WIDTH, height: HEIGHT });
  for (const { source, target, label } of links) graph.setEdge(source, target, { text: label });
  layout(graph);
  return graph;
}

export function draw(data) {
  const graph = placed(data);
  const { width, height } = graph.graph();
  const svg = make("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": say("Lineage", { context: "spoken label" }),
  });
  const defs = make("defs");
  const marker = make("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    orient: "auto",
  });
  marker.append(make("path", { d: "M0 0 8 4 0 8z" }));
  defs.append(marker);
  svg.append(defs);
  const paths = new Map();
  for (const edge of graph.edges()) {
    const { points, text } = graph.edge(edge);
    const [first, ...rest] = points;
    const path = make("path", {
      class: "link",
      d: `M${first.x} ${first.y}${rest.map(({ x, y }) => `L${x} ${y}`).join("")}`,
      "marker-end": "url(#arrow)",
    });
    if (text) path.append(make("title", {}, text));
    svg.append(path);
    for (const id of [edge.v, edge.w]) paths.set(id, [...(paths.get(id) ?? []), path]);
  }
  for (const node of data.nodes) svg.append(box(node, graph.node(node.id), data.of, paths));
  return svg;
}

function box(node, { x, y }, of, paths) {
  const isLink = Boolean(node.page) && node.id !== of;
  const below = node.state_text || node.detail;
  const shown = [
    cut(node.title, LONGEST.title),
    cut(below ? `${node.kind_text} · ${below}` : node.kind_text, LONGEST.detail),
  ];
  const group = make(isLink ? "a" : "g", {
    class: `node ${node.kind.replace("_", "-")}${node.id === of ? " is-current" : ""}${node.is_deleted ? " is-deleted" : ""}`,
    transform: `translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`,
    tabindex: "0",
    "data-node": node.id,
  });
  if (isLink) group.setAttribute("href", node.page);
  else {
    group.setAttribute("role", "img");
    group.setAttribute("aria-label", shown.join(" ")); // a link is named by its texts
  }
  if (node.id === of) group.setAttribute("aria-current", "true");
  group.append(
    make("title", {}, `${node.kind_text}: ${node.title}${below ? `\n${below}` : ""}`),
    make("rect", { class: "frame", width: WIDTH, height: HEIGHT, rx: 6 }),
    make("rect", { class: "kind-bar", width: 4, height: HEIGHT - 12, x: 5, y: 6, rx: 2 }),
    make("text", { class: "title", x: 17, y: 20 }, shown[0]),
    make("text", { class: "detail", x: 17, y: 37 }, shown[1]),
  );
  const light = (on) => paths.get(node.id)?.forEach((path) => path.classList.toggle("is-lit", on));
  for (const [event, on] of Object.entries({
    mouseenter: true,
    mouseleave: false,
    focus: true,
    blur: false,
  }))
    group.addEventListener(event, () => light(on));
  return group;
}

// Arrow keys move to the nearest node on that side; Tab goes from node to node in the order of the list.
function move(event, svg) {
  const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[
    event.key
  ];
  const from = event.target.closest?.("[data-node]");
  if (!step || !from) return;
  event.preventDefault();
  const middle = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [x0, y0] = middle(from);
  let best = null;
  let least = Infinity;
  for (const node of svg.querySelectorAll("[data-node]")) {
    const [x, y] = middle(node);
    const along = (x - x0) * step[0] + (y - y0) * step[1];
    const across = Math.abs((x - x0) * step[1]) + Math.abs((y - y0) * step[0]);
    if (along > 4 && along + 2 * across < least) [best, least] = [node, along + 2 * across];
  }
  best?.focus();
  best?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const root = globalThis.document?.querySelector("[data-graph]");
if (root) {
  const data = JSON.parse(document.getElementById("lineage-graph").textContent);
  const svg = draw(data);
  root.append(svg);
  root.hidden = false;
  svg.addEventListener("keydown", (event) => move(event, svg));
  const current = svg.querySelector(".is-current").getBoundingClientRect();
  const frame = root.getBoundingClientRect();
  root.scrollLeft = current.x + current.width / 2 - frame.x - frame.width / 2;
  root.scrollTop = current.y + current.height / 2 - frame.y - frame.height / 2;
}
