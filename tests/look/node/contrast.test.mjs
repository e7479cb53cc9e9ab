import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const source = readFileSync(new URL("../../../static/css/tokens.css", import.meta.url), "utf8");
const tokens = { light: {}, dark: {} };
for (const [, name, light, dark] of source.matchAll(
  /--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g,
)) {
  tokens.light[name] = light;
  tokens.dark[name] = dark;
}
for (const [, name, both] of source.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g))
  tokens.light[name] = tokens.dark[name] = both;

function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function atLeast(ratio, inks, surfaces) {
  for (const [theme, of] of Object.entries(tokens))
    for (const ink of inks)
      for (const surface of surfaces) {
        assert.ok(of[ink] && of[surface], `${ink} and ${surface} are tokens`);
        const found = contrast(of[ink], of[surface]);
        assert.ok(
          found >= ratio,
          `${theme}: --${ink} on --${surface} has ${found.toFixed(2)}, needs ${ratio}`,
        );
      }
}

const SURFACES = ["bg", "panel", "code-bg", "hover"];

test("the ratio is WCAG's", () => {
  assert.equal(contrast("#000000", "#ffffff").toFixed(1), "21.0");
  assert.equal(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

test("text is readable on every surface in both themes", () =>
  atLeast(4.5, ["text", "text-2", "text-3", "accent-text"], SURFACES));

test("words of states are readable on every surface in both themes", () => {
  atLeast(
    4.5,
    ["queued", "starting", "running", "succeeded", "failed", "canceled", "warn"],
    SURFACES,
  );
});

test("words are readable on the tints behind notes", () => {
  for (const [ink, surface] of [
    ["failed", "failed-soft"],
    ["warn", "warn-soft"],
    ["succeeded", "ok-soft"],
    ["accent-text", "accent-soft"],
    ["text", "accent-soft"],
    ["text-2", "failed-soft"],
    ["text-2", "warn-soft"],
  ])
    atLeast(4.5, [ink], [surface]);
});

test("the current match in a log is readable", () => atLeast(4.5, ["on-hit"], ["hit-now"]));

test("the word on the primary button is readable", () => atLeast(4.5, ["on-accent"], ["accent"]));

test("curves and meters stand out from what is behind them", () =>
  atLeast(3, ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "accent"], ["bg", "panel"]));

test("borders of fields and keys, and the focus ring, stand out", () =>
  atLeast(3, ["control-line", "focus"], [...SURFACES, "rail"]));
