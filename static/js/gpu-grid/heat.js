// What the colour of a cell can say besides its allocation: a value of its GPU, or the health of its node.
import { formatOf } from "../charts/format.js";

const STEPS = 24; // colours of the scale
const HEALTH = { warning: "warn", draining: "failed", quarantined: "failed" };

// `read` values come with the answer (`heat`), the others with every answer.
export const HEATS = {
  utilization: { unit: "ratio", low: 0, high: 1, of: ({ use }) => (use < 0 ? null : use / 100) },
  temperature: { unit: "degC", low: 25, high: 90, isRead: true, of: ({ heat }) => heat },
  power: { unit: "W", low: 0, high: 100, isRead: true, of: ({ heat }) => heat },
  health: { unit: "" },
};

// The scale of a kind of heat over these nodes: from the usual lowest to the highest value.
export function scaleOf(kind, nodes) {
  const { unit, low, of } = HEATS[kind];
  let { high } = HEATS[kind];
  if (of)
    for (const node of nodes) for (const gpu of node.gpus) high = Math.max(high, of(gpu) ?? 0);
  return { kind, unit, low, high, write: formatOf(unit) };
}

// The step of a GPU on the scale, the name of an ink for its health, or null where it is unknown.
export function placeOf({ kind, low, high }, node, gpu) {
  if (kind === "health") {
    if (node.state === "down") return "failed";
    return HEALTH[node.health?.state] ?? (node.state === "drained" ? "warn" : "succeeded");
  }
  const value = HEATS[kind].of(gpu);
  if (value === null || value === undefined) return null;
  return Math.round(Math.min(Math.max((value - low) / (high - low), 0), 1) * STEPS);
}

// The mean of the known values of a group as text; "" if there are none.
export function meanOf({ kind, write }, nodes) {
  const { of } = HEATS[kind];
  if (!of) return "";
  const known = nodes.flatMap((node) => node.gpus.map(of)).filter((value) => value != null);
  return known.length ? write(known.reduce((a, b) => a + b, 0) / known.length) : "";
}

// The colours of the scale, as a canvas takes them.
export function colours(root) {
  const probe = document.createElement("i");
  root.append(probe);
  const found = Array.from({ length: STEPS + 1 }, (_, n) => {
    probe.style.color = `color-mix(in oklab, var(--heat-high) ${Math.round((100 * n) / STEPS)}%, var(--heat-low))`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}
