// Design tokens for a canvas, which does not support light-dark().
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
const known = new Map();
document.addEventListener("themechange", () => known.clear());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  known.clear();
  document.dispatchEvent(new Event("themechange"));
});

export function token(name) {
  if (!known.has(name)) {
    probe.style.color = `var(${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  return known.get(name);
}

// Eight colours; further curves are dashed.
export const colourOf = (n) => `--c${(n % 8) + 1}`;
export const dashOf = (n) => [[], [6, 4], [2, 3], [8, 3, 2, 3]][Math.floor(n / 8) % 4];
