// Small curves: <span class="sparkline" data-values="0.9,0.8,,0.7">, values from 0 to 1, oldest
// first. An empty value is a gap and stays one.
const WIDTH = 96;
const HEIGHT = 22;
const NS = "http://www.w3.org/2000/svg";

export function sparkline(place) {
  const values = place.dataset.values.split(",").map((text) => (text === "" ? null : Number(text)));
  const step = values.length > 1 ? (WIDTH - 2) / (values.length - 1) : 0;
  const x = (n) => (1 + n * step).toFixed(1);
  const y = (value) => (HEIGHT - 2 - Math.min(Math.max(value, 0), 1) * (HEIGHT - 4)).toFixed(1);
  const svg = node("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  for (const part of parts(values)) {
    const points = part.map(([n, value]) => `${x(n)} ${y(value)}`);
    const [first, last] = [x(part[0][0]), x(part.at(-1)[0])];
    const line = points.length > 1 ? points.join("L") : `${points[0]}h1`;
    if (points.length > 1)
      svg.append(
        node("path", {
          class: "area",
          d: `M${first} ${HEIGHT - 1}L${line}L${last} ${HEIGHT - 1}Z`,
        }),
      );
    svg.append(node("path", { class: "curve", d: `M${line}` }));
  }
  svg.prepend(node("path", { class: "base", d: `M1 ${HEIGHT - 1}H${WIDTH - 1}` }));
  place.replaceChildren(svg);
}

// Split values at gaps into lists of [index, value].
export function parts(values) {
  const found = [];
  let open = null;
  values.forEach((value, n) => {
    if (value === null) open = null;
    else if (open) open.push([n, value]);
    else found.push((open = [[n, value]]));
  });
  return found;
}

function node(name, attributes) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

if (globalThis.document) document.querySelectorAll(".sparkline[data-values]").forEach(sparkline);
