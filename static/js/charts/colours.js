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

// `share` is the opacity in percent.
export function token(name, share = 100) {
  const key = `${name} ${share}`;
  if (!known.has(key)) {
    probe.style.color =
      share === 100 ? `var(${name})` : `color-mix(in srgb, var(${name}) ${share}%, transparent)`;
    known.set(key, getComputedStyle(probe).color);
  }
  return known.get(key);
}

// Eight colours; further curves are dashed.
export const colourOf = (n) => `--c${(n % 8) + 1}`;
export const dashOf = (n) => [[], [6, 4], [2, 3], [8, 3, 2, 3]][Math.floor(n / 8) % 4];
