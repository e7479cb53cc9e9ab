// Pure functions over curves: names, charts and sections, smoothing, summaries, CSV.

export const GAP = 30; // seconds without a point that make a gap, as in portal.series

const SPLITS = { train: "train", training: "train", val: "val", valid: "val", validation: "val" };
const SPLIT = /^(train|training|val|valid|validation|eval|test)([/_.])(.+)$/;

// "val/loss" and "val_loss" measure the same as "train/loss" or "loss", on other data.
export function splitOf(name) {
  const found = name.match(SPLIT);
  if (!found) return { split: "", metric: name, section: prefixOf(name) };
  const split = SPLITS[found[1]] ?? found[1];
  return { split, metric: found[3], section: found[2] === "_" ? "" : split };
}

// "images/s" is a rate, not a metric of the section "images".
function prefixOf(name) {
  const at = name.replace(/\/s(ec(ond)?)?$/, "").lastIndexOf("/");
  return at > 0 ? name.slice(0, at) : "";
}

// What the sensors of machines measure, by the beginning of the name.
const SENSORS = [
  [/^gpu\.(ecc|rows|xid|recovery|throttle|nvlink\.errors)/, "GPU health"],
  [/^gpu\./, "GPU"],
  [/^(cpu|memory|processes)\b/, "CPU and memory"],
  [/^(disk|io|net)\b/, "Disk and network"],
];
const sensorSection = (name) => SENSORS.find(([shape]) => shape.test(name))?.[1] ?? "System";
const SENSOR_ORDER = ["GPU", "CPU and memory", "Disk and network", "System", "GPU health"];

const isLoss = (metric) => /(^|[/_.])loss($|[/_.])/i.test(metric);

// Which charts show these curves, in order: [{key, title, section, isSystem, unit, curves}].
// Train and validation of a metric share a chart; each curve gets its `split`.
export function chartsOf(curves) {
  const charts = new Map();
  const splits = new Map(); // metric -> sections that have it
  for (const curve of curves)
    if (!curve.isSystem) {
      const { split, metric, section } = splitOf(curve.name);
      if (split || !section)
        splits.set(metric, [...(splits.get(metric) ?? []), { split, section }]);
    }
  for (const curve of curves) {
    const { split, metric, section } = curve.isSystem
      ? { split: "", metric: curve.name, section: sensorSection(curve.name) }
      : splitOf(curve.name);
    const siblings = curve.isSystem ? [] : (splits.get(metric) ?? []);
    const isShared = (split || !section) && new Set(siblings.map((s) => s.split)).size > 1;
    const home = isShared
      ? siblings.some((s) => s.section === "train")
        ? "train"
        : siblings.some((s) => !s.split)
          ? ""
          : siblings[0].section
      : section;
    const key = curve.isSystem ? curve.name : isShared ? `${home}:${metric}` : curve.name;
    if (!charts.has(key))
      charts.set(key, {
        key,
        title: curve.isSystem || isShared ? metric : tail(curve.name, section),
        section: home,
        isSystem: Boolean(curve.isSystem),
        unit: curve.unit,
        curves: [],
      });
    const chart = charts.get(key);
    chart.unit ||= curve.unit;
    curve.split = isShared ? split || "train" : "";
    chart.curves.push(curve);
  }
  for (const chart of charts.values())
    chart.curves.sort((a, b) =>
      labelText(a.labels).localeCompare(labelText(b.labels), "en", { numeric: true }),
    );
  return [...charts.values()].sort(byTitle);
}

const tail = (name, section) =>
  section && name.startsWith(`${section}/`) ? name.slice(section.length + 1) : name;

const FIRST = [
  "gpu.utilization",
  "gpu.sm.active",
  "gpu.tensor.active",
  "gpu.memory.used",
  "gpu.power",
  "gpu.temperature",
  "cpu.utilization",
  "cpu.used",
  "memory.used",
];
const placeOf = (chart) => (FIRST.indexOf(chart.title) + FIRST.length + 1) % (FIRST.length + 1);

function byTitle(a, b) {
  if (a.isSystem && b.isSystem && placeOf(a) !== placeOf(b)) return placeOf(a) - placeOf(b);
  return Number(isLoss(b.title)) - Number(isLoss(a.title)) || a.title.localeCompare(b.title, "en");
}

// Charts by section: the one with the loss first, training before machines.
export function sectionsOf(charts) {
  const sections = new Map();
  for (const chart of charts) {
    const key = `${chart.isSystem ? "system" : "training"}:${chart.section}`;
    if (!sections.has(key))
      sections.set(key, { key, title: chart.section, isSystem: chart.isSystem, charts: [] });
    sections.get(key).charts.push(chart);
  }
  const rank = (section) =>
    section.isSystem
      ? 100 + SENSOR_ORDER.indexOf(section.title)
      : 10 -
        (section.charts.some((c) => isLoss(c.title)) ? 2 : 0) -
        (section.title === "train" || section.title === "" ? 1 : 0);
  return [...sections.values()].sort(
    (a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title, "en"),
  );
}

// Whether a name has the text, or matches the regular expression between slashes. A "*" stands
// for any text. An unfinished expression matches as text.
export function matcherOf(text) {
  const wanted = text.trim();
  if (!wanted) return () => true;
  const slashed = wanted.match(/^\/(.+)\/$/);
  const shape = slashed
    ? slashed[1]
    : /[*|^$]/.test(wanted)
      ? wanted.replace(/(?<!\.)\*/g, ".*")
      : null;
  if (shape)
    try {
      const found = new RegExp(shape, "i");
      return (name) => found.test(name);
    } catch {
      // fall through
    }
  const low = wanted.toLowerCase();
  return (name) => name.toLowerCase().includes(low);
}

// Exponential moving average without bias at the start, as in TensorBoard. Gaps stay gaps.
export function smoothed(ys, weight) {
  if (!weight) return ys;
  let last = 0;
  let debias = 1;
  return ys.map((y) => {
    if (y == null) return y;
    last = last * weight + (1 - weight) * y;
    debias *= weight;
    return last / (1 - debias);
  });
}

// One value per step: the latest, in order of step.
export function byStep(steps, values) {
  let isOrdered = true;
  for (let n = 1; n < steps.length && isOrdered; n++) isOrdered = steps[n] > steps[n - 1];
  if (isOrdered) return [steps, values];
  const last = new Map();
  steps.forEach((step, n) => last.set(step, values[n]));
  const xs = [...last.keys()].sort((a, b) => a - b);
  return [xs, xs.map((x) => last.get(x))];
}

// Increasing times for the chart library, in order; ties keep the latest value.
export function inOrder(xs, ys) {
  let isOrdered = true;
  for (let n = 1; n < xs.length && isOrdered; n++) isOrdered = xs[n] > xs[n - 1];
  if (isOrdered) return [xs, ys];
  const order = xs.map((_, n) => n).sort((a, b) => xs[a] - xs[b]);
  return byStep(
    order.map((n) => xs[n]),
    order.map((n) => ys[n]),
  );
}

// Areas and bars on top of each other, the uppermost first, then what is no part (lines and limits):
// `ys` are sums, `raw` remains the value. Where one has no value it counts as 0, and its bar is not
// drawn; where none has one, there is a gap.
export function stacked(lines) {
  const isPart = ({ curve }) => !["line", "limit"].includes(curve.kind);
  const parts = lines.filter(isPart);
  let below = [];
  const sums = parts.map((line) => {
    const ys = line.raw.map((y, n) =>
      parts.some(({ raw }) => raw[n] != null) ? (below[n] ?? 0) + (y ?? 0) : null,
    );
    below = ys;
    const isArea = line.curve.kind === "area";
    return { ...line, ys: isArea ? ys : ys.map((y, n) => line.raw[n] && y), isStacked: true };
  });
  return [...sums.reverse(), ...lines.filter((line) => !isPart(line))];
}

export function summaryOf(ys) {
  const summary = { min: null, max: null, last: null };
  for (const y of ys) {
    if (y == null || !Number.isFinite(y)) continue;
    if (summary.min === null || y < summary.min) summary.min = y;
    if (summary.max === null || y > summary.max) summary.max = y;
    summary.last = y;
  }
  return summary;
}

// Labels of a curve, as the live topics write them: "gpu=0,task=3".
export const labelText = (labels) =>
  Object.entries(labels ?? {})
    .sort()
    .map(([k, v]) => `${k}=${v}`)
    .join(",");

// The same for people: "GPU 0", "rank 3, task 2".
export const labelTitle = (labels) =>
  Object.entries(labels ?? {})
    .sort()
    .map(([k, v]) => (k === "gpu" ? `GPU ${v}` : /^\d+$/.test(v) ? `${k} ${v}` : v))
    .join(", ");

const cell = (value) => {
  const text = value == null ? "" : String(value);
  const safe = /^[=+@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

// Rows: series, x, value. Times in ISO 8601.
export function csvOf(lines, isTime) {
  const rows = [["series", isTime ? "time" : "x", "value"]];
  for (const { title, xs, ys } of lines)
    xs.forEach((x, n) => {
      if (ys[n] != null) rows.push([title, isTime ? new Date(x * 1000).toISOString() : x, ys[n]]);
    });
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
