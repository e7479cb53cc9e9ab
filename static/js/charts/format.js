// How numbers of charts are written: powers of two for bytes, SI prefixes for rates and counts.
import { say } from "../words.js";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const SI = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

// Digits of a plain number: at most four significant ones, and no exponent but for tiny values.
export function plain(v) {
  const size = Math.abs(v);
  if (size && size < 1e-3) {
    const [mantissa, exponent] = v.toExponential(2).split("e");
    return `${Number(mantissa)}e${Number(exponent)}`;
  }
  return size >= 1e3 ? Math.round(v).toLocaleString("en") : String(Number(v.toPrecision(4)));
}

// `kilo` is the least amount that is written with a prefix.
function scaled(v, kilo = 1e4) {
  const size = Math.abs(v);
  for (const [factor, prefix] of SI)
    if (size >= (factor === 1e3 ? kilo : factor))
      return [Number((v / factor).toPrecision(3)), prefix];
  return [plain(v), ""];
}

// A power: 71.8 W, 1.19 kW.
function watts(v) {
  const [number, prefix] = scaled(Number(v.toPrecision(3)), 1e3);
  return `${number} ${prefix}W`;
}

// A count: 9,999 is written in full, 50,000 is "50 k".
export function count(v) {
  const [number, prefix] = scaled(v);
  return prefix ? `${number} ${prefix}` : String(number);
}

// A quantity of a unit: "50 k/s", "1.2 MHz".
export function quantity(v, unit) {
  const [number, prefix] = scaled(v);
  return `${number}${prefix || !unit.startsWith("/") ? " " : ""}${prefix}${unit}`;
}

export function bytes(v) {
  const size = Math.abs(v);
  const power = size < 1 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), BINARY.length - 1);
  return `${Number((v / 2 ** (10 * power)).toPrecision(power ? 4 : 3))} ${BINARY[power]}`;
}

export function duration(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return `${Number(seconds.toPrecision(3))} s`;
  const sign = seconds < 0 ? "-" : "";
  const minutes = Math.round(size / 60);
  if (minutes < 60) {
    const rest = Math.round(size % 60);
    return size < 600 && rest && rest < 60
      ? `${sign}${Math.floor(size / 60)}m ${String(rest).padStart(2, "0")}s`
      : `${sign}${minutes}m`;
  }
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${sign}${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${sign}${Math.floor(hours / 24)}d ${hours % 24}h`;
}

const FORMATS = {
  count,
  ratio: (v) => `${Number((v * 100).toFixed(Math.abs(v) < 0.1 ? 1 : 0))}%`,
  bytes,
  "bytes/s": (v) => `${bytes(v)}/s`,
  W: watts,
  degC: (v) => `${v.toFixed(0)} °C`,
  Hz: (v) => quantity(v, "Hz"),
  s: duration,
  "/s": (v) => quantity(v, "/s"),
  cores: (v) => say("{n} cores", { context: "unit", n: Number(v.toFixed(2)) }),
  GPUs: (v) => say("{n} GPUs", { context: "unit", n: count(Number(v.toFixed(1))) }),
  jobs: (v) => say("{n} jobs", { context: "unit", n: count(Number(v.toFixed(1))) }),
};
const COUNTED = new Set(["GPUs", "jobs"]);

// The function that writes a value of a unit, as the API names it.
export function formatOf(unit) {
  return FORMATS[unit] ?? (unit ? (v) => quantity(v, unit) : count);
}

// The function that writes a value on an axis, whose title or legend has the word.
export const ticksFormatOf = (unit) => (COUNTED.has(unit) ? count : formatOf(unit));

const POWERS_OF_TWO = Array.from({ length: 60 }, (_, n) => 2 ** n);

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
const DURATIONS = [
  ...[0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 7, 14, 30, 60, 90, 180, 365].map((n) => n * DAY),
];

// Steps between ticks: 64 GiB and 128 GiB, never 381.5 MiB; 2h and 4h, never 1h 23m. Undefined leaves
// it to the library.
export function stepsOf(unit) {
  if (unit === "s") return DURATIONS;
  return unit?.startsWith("bytes") ? POWERS_OF_TWO : undefined;
}

// Amounts start at zero.
export const isAmount = (unit) => ["count", "ratio", "bytes", "bytes/s", "cores"].includes(unit);

// The range of a value axis; a flat curve is padded on both sides.
export function rangeOf(unit, low, high) {
  if (low == null || high == null) return [0, 1];
  if (low === high)
    return isAmount(unit)
      ? [Math.min(low * 1.2, 0), Math.max(high * 1.2, 0) || Number(!low)]
      : [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  const room = (high - low) * 0.06;
  return [isAmount(unit) ? Math.min(low, 0) : low - room, high + room];
}
