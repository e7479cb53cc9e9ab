// One chart: title, last value, menu, plot, and a legend with last values. Every chart of the product is
// one: curves of jobs and machines (charts.js), and values that the page has (charts/inline.js).
import uPlot from "../../vendor/uplot.js";
import { say } from "../words.js";
import { around, clock, dayOf, moment } from "./axis.js";
import { colourOf, dashOf, token } from "./colours.js";
import {
  byStep,
  csvOf,
  GAP,
  inOrder,
  labelText,
  labelTitle,
  smoothed,
  stacked,
  summaryOf,
} from "./curves.js";
import { save, sheetOf } from "./picture.js";
import { duration, formatOf, plain, rangeOf, stepsOf, ticksFormatOf } from "./format.js";

const MOST = 4000; // points of a live curve
const KEYS = 16; // entries of a legend
const MANY = 8; // runs that a legend names
const LINES = 2; // of a legend on a phone
const PHONE = matchMedia("(max-width: 760px)");
const MIN = 5; // characters of a value
const NEAR = 60; // points to search for a value beside the cursor
const LIMIT_UP_TO = 5; // times the highest value
const DAYS = [1, 2, 7, 14, 30].map((n) => n * 86_400); // steps of the axis below bars

const node = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

export class Chart {
  // `set` is what charts share: view, sources, zoom of each axis, and what happens on actions.
  // A chart without a head is drawn into the figure of the page, whose panel has the title.
  constructor(set, key, figure) {
    this.set = set;
    this.key = key;
    this.curves = [];
    this.off = new Set(); // curves switched off in the legend
    this.hasHead = !figure;
    this.card = figure ?? node("figure", "chart");
    this.card.chart = this;
    this.plotBox = figure?.querySelector(".chart-plot") ?? node("div", "chart-plot");
    this.keys = figure?.querySelector(".chart-keys") ?? node("div", "chart-keys");
    this.tip = node("div", "chart-tip");
    this.tip.hidden = true;
    this.summary = node("p", "visually-hidden");
    if (this.hasHead) this.card.append(this.#head(), this.plotBox, this.keys);
    this.card.append(this.summary);
  }

  #head() {
    const head = node("figcaption");
    this.heading = node("button", "chart-title");
    this.heading.type = "button";
    this.heading.title = say("Full screen", { context: "tooltip" });
    this.heading.onclick = () => this.expand();
    this.last = node("span", "chart-last num");
    this.reset = node("button", "btn plain small", say("Reset zoom", { context: "button" }));
    this.reset.type = "button";
    this.reset.hidden = true;
    this.reset.onclick = () => this.set.zoom(this.axis, null);
    head.append(this.heading, this.last, node("span", "spacer"), this.reset, this.#menu());
    return head;
  }

  #menu() {
    const menu = node("details", "menu chart-menu");
    const summary = node("summary", "btn plain small", "⋯");
    const sheet = node("div", "sheet");
    const item = (text, act) => {
      const button = node("button", "", text);
      button.type = "button";
      button.onclick = () => {
        menu.open = false;
        act();
      };
      sheet.append(button);
      return button;
    };
    this.menuName = summary;
    item(say("Full screen", { context: "button" }), () => this.expand());
    this.pin = item(say("Pin", { context: "button" }), () => this.set.pin(this.key));
    item(say("Download CSV", { context: "button" }), () => this.saveCsv());
    item(say("Download PNG", { context: "button" }), () => this.savePng());
    menu.append(summary, sheet);
    return menu;
  }

  // spec: an entry of chartsOf(). The curves keep their points between calls.
  show(spec, title) {
    this.spec = spec;
    this.title = title;
    this.curves = spec.curves;
    this.groups = [...new Set(this.curves.map((c) => labelText(c.labels)))];
    // Train and validation of several tasks: one colour a task, validation dashed.
    this.isPaired = this.groups.length > 1 && this.curves.some((c) => c.split);
    if (this.hasHead) {
      this.heading.textContent = title;
      this.menuName.setAttribute(
        "aria-label",
        say("Options of {name}", { context: "spoken label", name: title }),
      );
    }
    this.card.setAttribute("aria-label", title);
    this.#legend();
    this.changed();
    this.#fold();
  }

  setPinned(on) {
    this.pin.textContent = on
      ? say("Unpin", { context: "text, charts" })
      : say("Pin", { context: "text, charts" });
  }

  get axis() {
    if (this.curves.every((c) => c.steps.length) && this.set.view.axis === "step") return "step";
    if (this.set.view.axis === "time") return "time";
    return this.set.view.axis === "relative" || this.set.isMany ? "relative" : "time";
  }

  isVisible(curve) {
    return !this.off.has(curve.id) && !this.set.isHidden(curve.source);
  }

  // The name of the design token.
  colour(curve) {
    if (curve.colour) return curve.colour;
    if (this.set.isMany) return colourOf(curve.source.colour);
    return colourOf(
      this.isPaired ? this.groups.indexOf(labelText(curve.labels)) : this.curves.indexOf(curve),
    );
  }

  dash(curve) {
    if (curve.kind) return curve.kind === "limit" || curve.kind === "forecast" ? [4, 4] : [];
    if (this.set.isMany || this.isPaired)
      return curve.split && curve.split !== "train" ? [6, 4] : [];
    return dashOf(this.curves.indexOf(curve));
  }

  nameOf(curve) {
    if (curve.title) return curve.title;
    const parts = [
      this.set.isMany ? curve.source.name : "",
      curve.split,
      labelTitle(curve.labels),
      curve.mean > 1 ? say("mean of {n}", { context: "text, charts", n: curve.mean }) : "",
    ];
    return parts.filter(Boolean).join(" · ") || this.title;
  }

  // What is drawn: [{curve, xs, raw, ys}], in the order of the legend.
  lines() {
    const { axis } = this;
    const { smooth, log } = this.set.view;
    const made = [];
    for (const curve of this.curves) {
      if (!this.isVisible(curve)) continue;
      const how = `${axis} ${smooth} ${log}`;
      if (curve.drawn?.how !== how) {
        const [xs, raw] = pointsOf(curve, axis);
        const safe = log ? raw.map((y) => (y > 0 ? y : null)) : raw;
        curve.drawn = { how, xs, raw: safe, ys: smoothed(safe, smooth) };
      }
      if (curve.drawn.xs.length) made.push({ curve, ...curve.drawn });
    }
    return this.spec.isStacked ? stacked(made) : made;
  }

  // Curves, view or colours changed.
  changed() {
    this.#tellLast();
    if (this.plot) this.draw();
    else this.set.request(this);
  }

  // Points were added: redraw with the next frame, if visible.
  grown() {
    this.#tellLast();
    if (!this.plot || this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      if (!this.plot) return;
      const lines = this.lines();
      if (this.shape !== shapeOf(lines)) this.draw();
      else this.plot.setData(tableOf(lines, this.set.view.smooth));
    });
  }

  static add(curve, x, step, y) {
    const { times, steps, values } = curve;
    const isStep = step !== null;
    if (isStep ? steps.length && step <= steps.at(-1) : times.length && x <= times.at(-1)) return;
    if (!isStep && times.length && x - times.at(-1) > GAP) {
      times.push(times.at(-1) + 0.001);
      values.push(null);
    }
    times.push(x);
    values.push(y);
    if (isStep) steps.push(step);
    if (times.length > MOST) for (const list of [times, values, steps]) list.shift();
    curve.drawn = null;
  }

  #tellLast() {
    const format = formatOf(this.spec.unit);
    const sums = this.curves
      .filter((c) => this.isVisible(c))
      .map((c) => [c, summaryOf(c.values)])
      .filter(([, s]) => s.last !== null);
    if (this.hasHead) {
      const lasts = sums.map(([, s]) => s.last);
      const ends = [...new Set([Math.min(...lasts), Math.max(...lasts)].map(format))];
      this.last.textContent = !lasts.length
        ? "–"
        : this.spec.curves[0].split && !this.set.isMany
          ? format(lasts[0])
          : ends.join(" – ");
    }
    this.#showLast();
    this.summary.textContent = sums
      .slice(0, KEYS)
      .map(([c, s]) =>
        say("{name}: last {last}, minimum {min}, maximum {max}.", {
          name: this.nameOf(c),
          last: c.note ?? format(s.last),
          min: format(s.min),
          max: format(s.max),
        }),
      )
      .join(" ");
  }

  // The legend names each curve with its last value, or with that at the cursor. A chart of its own
  // with a single curve has both in its head; of many runs, their list is the legend.
  #legend() {
    this.values = new Map();
    this.keys.classList.toggle("is-many", this.set.isMany);
    const { length } = this.curves;
    if (this.hasHead && (length < 2 || (this.set.isMany && length > MANY))) {
      this.keys.replaceChildren(...this.#splits());
      return;
    }
    this.keys.replaceChildren(...this.curves.slice(0, KEYS).map((curve) => this.#key(curve)));
    if (length > KEYS)
      this.keys.append(
        node(
          "span",
          "faint small",
          say("and {n} more", { context: "text, charts", n: length - KEYS }),
        ),
      );
  }

  // On a phone a legend has two lines, and a button for the rest.
  #fold() {
    const keys = [...this.keys.children].filter((key) => key !== this.more);
    for (const key of keys) key.hidden = false;
    this.more?.remove();
    const tops = [...new Set(keys.map((key) => key.offsetTop))].sort((a, b) => a - b);
    if (!PHONE.matches || tops.length <= LINES || this.keys.classList.contains("is-open")) return;
    this.more = node("button", "chart-key chart-more");
    this.more.type = "button";
    this.more.onclick = () => {
      this.keys.classList.add("is-open");
      this.#fold();
    };
    this.keys.append(this.more);
    let hidden = 0;
    for (const key of keys.reverse()) {
      if (hidden && this.more.offsetTop < tops[LINES]) break;
      key.hidden = true;
      this.more.textContent = say("+ {n} more", { context: "button, charts", n: ++hidden });
    }
  }

  #splits() {
    const splits = [...new Set(this.curves.map((c) => c.split).filter(Boolean))];
    if (!this.set.isMany || splits.length < 2) return [];
    return splits.map((split) => {
      const key = node("span", "chart-key", split);
      key.prepend(node("i", split === "train" ? "" : "dashed"));
      return key;
    });
  }

  #key(curve) {
    const key = node("button", "chart-key");
    key.type = "button";
    key.setAttribute("aria-pressed", String(!this.off.has(curve.id)));
    const mark = node("i", curve.kind ?? (this.dash(curve).length ? "dashed" : ""));
    if (this.spec.isStacked && !curve.kind) mark.className = "area";
    mark.style.color = `var(${this.colour(curve)})`;
    const name = node("span", "", this.nameOf(curve));
    const value = node("b", "num");
    this.values.set(curve, value);
    key.append(mark, name, value);
    key.onclick = () => {
      const isOff = this.off.has(curve.id);
      if (isOff) this.off.delete(curve.id);
      else this.off.add(curve.id);
      key.setAttribute("aria-pressed", String(isOff));
      this.changed();
    };
    return key;
  }

  #showLast() {
    const format = formatOf(this.spec.unit);
    for (const [curve, place] of this.values) {
      const { last } = summaryOf(curve.values);
      put(place, curve.note ?? (last === null ? "–" : format(last)));
    }
  }

  unmount() {
    this.plot?.destroy();
    this.plot = null;
    this.plotBox.replaceChildren();
  }

  draw() {
    this.plot?.destroy();
    this.plot = null;
    const lines = this.lines();
    this.shape = shapeOf(lines);
    const { axis } = this;
    const { smooth } = this.set.view;
    const isLog = this.set.view.log && lines.some((l) => l.raw.some((y) => y > 0));
    const write = ticksFormatOf(this.spec.unit);
    const look = {
      stroke: token("--text-3"),
      grid: { stroke: token("--line"), width: 1 },
      ticks: { stroke: token("--line"), size: 4 },
      font: "11px system-ui",
    };
    const series = [{}];
    for (const line of lines) {
      const common = this.#series(line);
      if (smooth) series.push({ ...common, width: 1, alpha: 0.25, points: { show: false } });
      series.push(common);
    }
    if (!lines.length) series.push({});
    const hasBars = lines.some((line) => isBar(line.curve));
    const { width, height } = this.size();
    this.plot = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        ...(this.spec.isDaily
          ? { tzDate: (t) => uPlot.tzDate(new Date(t * 1000), "Etc/UTC") }
          : {}),
        cursor: {
          sync: {
            key: `${this.set.id}-${axis}`,
            filters: { pub: (type) => /move|leave/.test(type) },
          },
          points: { size: 6, show: (_, n) => !smooth || n % 2 === 0 },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => this.set.zoom(axis, null) },
          dataIdx: (u, n, at) => nearest(u.data[n], at),
        },
        scales: {
          x: {
            time: axis === "time",
            range: (u, low, high) =>
              this.set.zooms[axis] ??
              this.set.extent(axis) ??
              (hasBars
                ? [low - this.spec.width / 2, high + this.spec.width / 2]
                : around(low, high, axis === "step", u.data?.[0])),
          },
          y: isLog
            ? { distr: 3 }
            : {
                range: (_, low, high) =>
                  this.spec.isAmount
                    ? [0, topOf(lines) * 1.06]
                    : rangeOf(this.spec.unit, low, high),
              },
        },
        axes: [
          {
            ...look,
            size: axis === "time" ? 40 : 28,
            space: 60,
            ...(hasBars ? { incrs: DAYS } : axis === "relative" ? { incrs: stepsOf("s") } : {}),
            values: this.spec.isDaily ? (_, ticks) => ticks.map(dayOf) : ticksOf[axis],
          },
          {
            ...look,
            size: 68,
            ...(stepsOf(this.spec.unit) && !isLog ? { incrs: stepsOf(this.spec.unit) } : {}),
            values: (_, ticks) => ticks.map((v) => (v == null ? "" : write(v))),
          },
        ],
        series,
        ...(this.spec.isStacked ? { bands: bandsOf(lines) } : {}),
        hooks: { setSelect: [(u) => this.#select(u)], setCursor: [(u) => this.#point(u)] },
      },
      tableOf(lines, smooth),
      this.plotBox,
    );
    this.plot.over.append(this.tip);
    this.plot.over.onmouseenter = () => (this.set.hovered = this);
    this.plot.over.onmouseleave = () => {
      this.set.hovered = null;
      this.tip.hidden = true;
    };
    this.drawn = lines;
    this.zoomed();
  }

  #series({ curve, xs, isStacked }) {
    const name = this.colour(curve);
    const stroke = token(name);
    const common = {
      stroke,
      width: curve.kind === "limit" ? 1 : 1.5,
      spanGaps: false,
      dash: this.dash(curve),
      points: { show: xs.length < 3 },
    };
    if (isBar(curve))
      return {
        ...common,
        width: curve.kind === "forecast" ? 1 : 0,
        fill: token(name, curve.kind === "forecast" ? 25 : 100),
        points: { show: false },
        paths: uPlot.paths.bars({ size: [0.7, 48] }),
      };
    if (curve.kind === "area" || isStacked)
      return { ...common, fill: token(name, isStacked ? 55 : 15) };
    return common;
  }

  size() {
    return {
      width: this.plotBox.clientWidth || 400,
      height: this.plotBox.clientHeight || 180,
    };
  }

  resized() {
    const { width, height } = this.size();
    if (this.width !== width) this.#fold();
    this.width = width;
    if (this.plot && (this.plot.width !== width || this.plot.height !== height))
      this.plot.setSize({ width, height });
  }

  // The zoom of this chart's axis changed.
  zoomed() {
    const zoom = this.set.zooms[this.axis];
    if (this.hasHead) this.reset.hidden = !zoom;
    this.card.dataset.zoom = zoom ? "on" : "";
  }

  #select(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [low, high] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.set.zoom(this.axis, [low, high]);
  }

  #point(u) {
    const { left, top } = u.cursor;
    const isOut = left == null || left < 0;
    const found = isOut ? [] : this.#at(u);
    if (isOut) this.#showLast();
    else {
      const format = formatOf(this.spec.unit);
      const values = new Map(found.map(({ line, y }) => [line.curve, y]));
      for (const [curve, place] of this.values)
        put(place, values.has(curve) ? format(values.get(curve)) : "–");
    }
    if (this.set.hovered !== this || isOut) {
      this.tip.hidden = true;
      return;
    }
    this.#tell(u, found);
    this.tip.hidden = !found.length;
    const isRight = left > u.over.clientWidth / 2;
    this.tip.style.left = isRight ? "auto" : `${left + 12}px`;
    this.tip.style.right = isRight ? `${u.over.clientWidth - left + 12}px` : "auto";
    this.tip.style.top = `${Math.min(top, Math.max(u.over.clientHeight - this.tip.offsetHeight, 0))}px`;
  }

  // The values at the cursor: [{line, y, raw}]; `raw` is that before smoothing.
  #at(u) {
    const { smooth } = this.set.view;
    const found = [];
    this.drawn.forEach((line, n) => {
      const column = smooth ? 2 * n + 2 : n + 1;
      const at = u.cursor.idxs?.[column];
      const y = at == null ? null : line.isStacked ? line.raw[at] : u.data[column][at];
      if (y != null) found.push({ line, y, raw: smooth ? u.data[column - 1][at] : null });
    });
    return found;
  }

  #tell(u, found) {
    const format = formatOf(this.spec.unit);
    const rows = [...found];
    if (!this.spec.isAmount)
      rows.sort((a, b) => b.y - a.y); // else in the order of the legend
    else if (this.spec.isStacked) rows.reverse();
    const { idx, left } = u.cursor;
    const where = this.spec.isAmount ? u.data[0][idx] : u.posToVal(left, "x");
    const list = [node("b", "", this.spec.isDaily ? dayOf(where) : whereText[this.axis](where))];
    for (const { line, y, raw } of rows.slice(0, 12)) {
      const row = node("span", "", "");
      const mark = node("i");
      mark.style.color = `var(${this.colour(line.curve)})`;
      row.append(mark, node("span", "clip", this.nameOf(line.curve)), node("b", "num", format(y)));
      if (raw != null) row.append(node("span", "faint num", format(raw)));
      list.push(row);
    }
    if (rows.length > 12)
      list.push(
        node(
          "span",
          "faint",
          say("and {n} more", { context: "text, charts", n: rows.length - 12 }),
        ),
      );
    this.tip.replaceChildren(...list);
  }

  // Show the card in a dialog as large as the window; it returns to its place.
  expand() {
    if (this.card.closest("dialog")) return;
    const dialog = node("dialog", "chart-full");
    const close = node("button", "btn small", say("Close", { context: "button" }));
    close.type = "button";
    close.onclick = () => dialog.close();
    const place = document.createComment("");
    this.card.before(place);
    dialog.append(close, this.card);
    dialog.setAttribute("aria-label", this.title);
    dialog.onclose = () => {
      place.replaceWith(this.card);
      dialog.remove();
      this.resized();
      this.heading.focus();
    };
    document.body.append(dialog);
    dialog.showModal();
    if (this.plot) this.resized();
    else this.draw();
  }

  saveCsv() {
    const isTime = this.axis === "time";
    const lines = this.lines().map((l) => ({ title: this.nameOf(l.curve), xs: l.xs, ys: l.raw }));
    const blob = new Blob([csvOf(lines, isTime)], { type: "text/csv" });
    save(URL.createObjectURL(blob), `${this.key}.csv`);
  }

  savePng() {
    if (!this.plot) this.draw();
    const from = this.plot.ctx.canvas;
    const ratio = devicePixelRatio || 1;
    const head = 28 * ratio;
    const canvas = node("canvas");
    const title = [this.title, this.last?.textContent].filter(Boolean).join("  ");
    sheetOf(canvas, from.width, from.height + head, ratio, title).drawImage(from, 0, head);
    save(canvas.toDataURL("image/png"), `${this.key}.png`);
  }
}

// Write a value of a legend; it keeps the widest space that it needed, so that nothing moves.
function put(place, text) {
  place.textContent = text;
  const width = Math.max(Number(place.dataset.width) || MIN, text.length);
  if (Number(place.dataset.width) === width) return;
  place.dataset.width = width;
  place.style.minWidth = `${width}ch`;
}

function pointsOf(curve, axis) {
  if (axis === "step") {
    const values =
      curve.values.length === curve.steps.length
        ? curve.values
        : curve.values.filter((y) => y != null);
    return byStep(curve.steps, values);
  }
  const start = axis === "relative" ? (curve.source.start ?? curve.times[0] ?? 0) : 0;
  return inOrder(
    curve.times.map((t) => t - start),
    curve.values,
  );
}

function tableOf(lines, smooth) {
  if (!lines.length) return [[], []];
  const tables = lines.map((l) => (smooth ? [l.xs, l.raw, l.ys] : [l.xs, l.ys]));
  return tables.length === 1 ? tables[0] : uPlot.join(tables);
}

const shapeOf = (lines) => lines.map((l) => l.curve.id).join("\n");

// Curves have points at different places (undefined): the nearest one of this curve. A gap (null)
// stays one.
function nearest(ys, at) {
  if (!ys || ys[at] !== undefined) return at;
  for (let away = 1; away <= NEAR; away++) {
    if (ys[at - away] !== undefined) return at - away;
    if (ys[at + away] !== undefined) return at + away;
  }
  return at;
}

const isBar = (curve) => curve.kind === "bars" || curve.kind === "forecast";

// Stacked areas are filled down to the one below, which is drawn after them.
const bandsOf = (lines) => {
  const stack = lines.flatMap((line, n) => (line.isStacked && !isBar(line.curve) ? [n + 1] : []));
  return stack.slice(1).map((column, n) => ({ series: [stack[n], column] }));
};

// The highest value; a limit far above all curves would flatten them, so it is left out.
function topOf(lines) {
  const most = (isLimit) =>
    lines
      .filter(({ curve }) => (curve.kind === "limit") === isLimit)
      .reduce((top, { ys }) => Math.max(top, summaryOf(ys).max ?? 0), 0);
  const [top, limit] = [most(false), most(true)];
  return (limit <= top * LIMIT_UP_TO || !top ? Math.max(top, limit) : top) || 1;
}

const ticksOf = {
  step: (_, ticks) => ticks.map((v) => (Number.isInteger(v) ? formatOf("")(v) : "")),
  relative: (_, ticks) => ticks.map(duration),
  time: (_, ticks, __, ___, step) => clock(ticks, step),
};
const whereText = {
  step: (x) => say("Step {n}", { context: "text, charts", n: plain(Math.round(x)) }),
  relative: duration,
  time: moment,
};
