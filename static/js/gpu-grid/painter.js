// Draw the cells of a layout. A free GPU is a thin square; an allocated one has a coloured outline
// and is filled by its use from below; tiny cells are tinted instead. A reserved one has
// a square inside. Out of service has one diagonal, down two.
import { count } from "../words.js";
import { isAllocated } from "./gpus.js";
import { colours, meanOf, placeOf } from "./heat.js";

const COLOURS = ["accent", "line-strong", "warn", "failed", "text-2", "focus", "succeeded"];
const STROKES = {
  free: "line-strong",
  reserved: "text-2",
  busy: "accent",
  idle: "warn",
  unmeasured: "accent",
  drained: "warn",
  down: "failed",
  unhealthy: "failed",
};
const CROSSED = new Set(["drained", "down", "unhealthy"]);

// `at` is the node that is outlined, -1 for none; `scale` colours cells by a value, null by allocation.
export function paint(root, canvas, layout, at, scale) {
  const { clientWidth: width, clientHeight: room } = canvas.parentElement,
    height = layout.place(width, room),
    ratio = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const pen = canvas.getContext("2d"),
    ink = inks(root),
    heat = scale && { scale, ramp: colours(root) };
  pen.scale(ratio, ratio);
  pen.font = `12px ${getComputedStyle(root).fontFamily}`;
  pen.textBaseline = "middle";
  for (const block of layout.blocks) {
    if (block.title) heading(pen, ink, block, scale);
    block.nodes.forEach((node, i) =>
      drawNode(pen, ink, layout, node, layout.corner(block, i), heat),
    );
  }
  if (at >= 0 && at < layout.nodes.length) outline(pen, ink, layout, layout.cornerOf(at));
}

function drawNode(pen, ink, { cell: side, across }, node, { x, y }, heat) {
  node.gpus.forEach((gpu, n) => {
    const left = x + (n % across) * side,
      top = y + Math.floor(n / across) * side;
    if (heat) drawHeat(pen, ink, left, top, side - 1, placeOf(heat.scale, node, gpu), heat.ramp);
    else drawCell(pen, ink, left, top, side - 1, gpu);
  });
  if (node.health) mark(pen, ink, x, y, side, node.health.state);
}

// A corner on the first cell of an unhealthy node.
function mark(pen, ink, x, y, cell, state) {
  const side = Math.max(3, Math.round(cell / 3));
  pen.fillStyle = ink[state === "warning" ? "warn" : "failed"];
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + side, y);
  pen.lineTo(x, y + side);
  pen.fill();
}

function heading(pen, ink, { title, nodes, x, heading: y, width }, scale) {
  const gpus = nodes.flatMap((node) => node.gpus),
    used = gpus.filter(({ state }) => isAllocated(state));
  pen.fillStyle = ink["text-2"];
  const mean = scale ? meanOf(scale, nodes) : "";
  const text = mean || `${count(used.length)} / ${count(gpus.length)}`;
  pen.fillText(`${title}  ${text}`, x, y, width - 4);
}

// A value that is not known is an empty cell.
function drawHeat(pen, ink, x, y, side, place, ramp) {
  pen.lineWidth = 1;
  if (place === null) {
    pen.strokeStyle = ink["line-strong"];
    pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    return;
  }
  pen.fillStyle = typeof place === "number" ? ramp[place] : ink[place];
  pen.fillRect(x, y, side, side);
}

function outline(pen, ink, { wide, high, gap }, { x, y }) {
  pen.strokeStyle = ink.focus;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1.5, y - 1.5, wide - gap + 2, high - gap + 2);
}

function drawCell(pen, ink, x, y, side, { state, use }) {
  pen.lineWidth = 1;
  pen.fillStyle = pen.strokeStyle = ink[STROKES[state]];
  if (state === "busy") {
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
  if (state === "reserved") {
    const room = Math.max(1, Math.round(side / 4));
    pen.strokeRect(x + room + 0.5, y + room + 0.5, side - 2 * room - 1, side - 2 * room - 1);
  }
  if (state === "unmeasured") {
    const dot = Math.max(1, Math.round(side / 4));
    pen.fillRect(x + (side - dot) / 2, y + (side - dot) / 2, dot, dot);
  }
  if (!CROSSED.has(state)) return;
  pen.beginPath();
  pen.moveTo(x, y + side);
  pen.lineTo(x + side, y);
  if (state === "down") {
    pen.moveTo(x, y);
    pen.lineTo(x + side, y + side);
  }
  pen.stroke();
}

function inks(root) {
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
