// Where values are on an axis of numbers or texts, 0 to 1, and its ticks. Pure functions.
import { formatOf } from "./format.js";

// axis: {values, unit}. A logarithmic axis leaves out what is not positive.
export function placesOf(axis, isLog = false) {
  const texts = axis.values.filter((v) => typeof v === "string");
  if (texts.length) {
    const names = [...new Set(axis.values.filter((v) => v != null).map(String))].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }),
    );
    const at = (n) => (names.length < 2 ? 0.5 : n / (names.length - 1));
    return {
      isText: true,
      at: (v) => (v == null ? null : at(names.indexOf(String(v)))),
      ticks: names.map((name, n) => ({ at: at(n), text: name })),
      low: names[0],
      high: names.at(-1),
    };
  }
  const usable = (v) => v != null && Number.isFinite(v) && (!isLog || v > 0);
  const known = axis.values.filter(usable);
  if (!known.length) return { at: () => null, ticks: [], low: null, high: null };
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  const place = isLog ? Math.log10 : (v) => v;
  const span = place(high) - place(low);
  const at = (v) => (usable(v) ? (span ? (place(v) - place(low)) / span : 0.5) : null);
  const format = formatOf(axis.unit ?? "");
  const marks = isLog ? decades(low, high) : steps(low, high);
  return { at, low, high, ticks: marks.map((v) => ({ at: at(v), text: format(v) })) };
}

function steps(low, high) {
  if (low === high) return [low];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step)
    found.push(Number(v.toPrecision(12)));
  return found;
}

function decades(low, high) {
  const found = [];
  for (let n = Math.ceil(Math.log10(low) - 1e-9); 10 ** n <= high * 1.000001; n++)
    found.push(10 ** n);
  return found.length ? found : [low, high];
}
