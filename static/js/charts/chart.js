// One chart: a card with title, last value, menu and legend; the plot exists only near the screen.
import uPlot from "../../vendor/uplot.js";
import { say } from "../words.js";
import { around, clock, moment } from "./axis.js";
import { colourOf, dashOf, token } from "./colours.js";
import {
  byStep,
  csvOf,
  GAP,
  inOrder,
  labelText,
  labelTitle,
  smoothed,
  summaryOf,
} from "./curves.js";
import { duration, formatOf, plain, rangeOf, stepsOf } from "./format.js";

const MOST = 4000; // points of a live curve
const KEYS = 16; // entries of a legend
const NEAR = 60; // points to search for a value beside the cursor

const node = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

export class Chart {
  // `set` is what charts share: view, sources, zoom of each axis, and what happens on actions.
  constructor(set, key) {
    this.set = set;
    this.key = key;
    this.curves = [];
    this.off = new Set(); // curves switched off in the legend
    this.#build();
  }

  #build() {
    this.card = node("figure", "chart");
    this.card.chart = this;
    const head = node("figcaption");
    this.heading = node("button", "chart-title");
    this.heading.type = "button";
    this.heading.title = say("Full screen");
    this.heading.onclick = () => this.expand();
    this.last = node("span", "chart-last num");
    this.reset = node("button", "btn plain small", say("Reset zoom"));
    this.reset.type = "button";
    this.reset.hidden = true;
    this.reset.onclick = () => this.set.zoom(this.axis, null);
    head.append(this.heading, this.last, node("span", "spacer"), this.reset, this.#menu());
    this.plotBox = node("div", "chart-plot");
    this.tip = node("div", "chart-tip");
    this.tip.hidden = true;
    this.keys = node("div", "chart-keys");
    this.summary = node("p", "visually-hidden");
    this.card.append(head, this.plotBox, this.keys, this.summary);
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
    item(say("Full screen"), () => this.expand());
    this.pin = item(say("Pin"), () => this.set.pin(this.key));
    item(say("Download CSV"), () => this.saveCsv());
    item(say("Download PNG"), () => this.savePng());
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
    this.heading.textContent = title;
    this.menuName.setAttribute("aria-label", say("Options of {name}", { name: title }));
    this.card.setAttribute("aria-label", title);
    this.legend();
    this.changed();
  }

  setPinned(on) {
    this.pin.textContent = on ? say("Unpin") : say("Pin");
  }

  get axis() {
    if (this.curves.every((c) => c.steps.length) && this.set.view.axis === "step") return "step";
    if (this.set.view.axis === "time") return "time";
    return this.set.view.axis === "relative" || this.set.isMany ? "relative" : "time";
  }

  isVisible(curve) {
    return !this.off.has(curve.id) && !this.set.isHidden(curve.source);
  }

  colour(curve) {
    if (this.set.isMany) return curve.source.colour;
    return this.isPaired
      ? this.groups.indexOf(labelText(curve.labels))
      : this.curves.indexOf(curve);
  }

  dash(curve) {
    if (this.set.isMany || this.isPaired)
      return curve.split && curve.split !== "train" ? [6, 4] : [];
    return dashOf(this.curves.indexOf(curve));
  }

  nameOf(curve) {
    const parts = [
      this.set.isMany ? curve.source.name : "",
      curve.split,
      labelTitle(curve.labels),
      curve.mean > 1 ? say("mean of {n}", { n: curve.mean }) : "",
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
    return made;
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
    const shown = this.curves.filter((c) => this.isVisible(c));
    const format = formatOf(this.spec.unit);
    const sums = shown.map((c) => [c, summaryOf(c.values)]).filter(([, s]) => s.last !== null);
    const lasts = sums.map(([, s]) => s.last);
    const ends = [...new Set([Math.min(...lasts), Math.max(...lasts)].map(format))];
    this.last.textContent = !lasts.length
      ? "–"
      : this.spec.curves[0].split && !this.set.isMany
        ? format(lasts[0])
        : ends.join(" – ");
    this.summary.textContent = sums
      .slice(0, KEYS)
      .map(([c, s]) =>
        say("{name}: last {last}, minimum {min}, maximum {max}.", {
          name: this.nameOf(c),
          last: format(s.last),
          min: format(s.min),
          max: format(s.max),
        }),
      )
      .join(" ");
  }

  legend() {
    this.keys.replaceChildren();
    if (this.set.isMany) {
      const splits = [...new Set(this.curves.map((c) => c.split).filter(Boolean))];
      if (splits.length > 1)
        for (const split of splits) {
          const key = node("span", "chart-key", split);
          const mark = node("i", split === "train" ? "" : "dashed");
          key.prepend(mark);
          this.keys.append(key);
        }
      return;
    }
    if (this.curves.length < 2) return;
    for (const curve of this.curves.slice(0, KEYS)) {
      const key = node("button", "chart-key", this.nameOf(curve));
      key.type = "button";
      key.setAttribute("aria-pressed", String(!this.off.has(curve.id)));
      const mark = node("i", this.dash(curve).length ? "dashed" : "");
      mark.style.color = `var(${colourOf(this.colour(curve))})`;
      key.prepend(mark);
      key.onclick = () => {
        const isOff = this.off.has(curve.id);
        if (isOff) this.off.delete(curve.id);
        else this.off.add(curve.id);
        key.setAttribute("aria-pressed", String(isOff));
        this.changed();
      };
      this.keys.append(key);
    }
    if (this.curves.length > KEYS)
      this.keys.append(
        node("span", "faint small", say("and {n} more", { n: this.curves.length - KEYS })),
      );
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
    const format = formatOf(this.spec.unit);
    const look = {
      stroke: token("--text-3"),
      grid: { stroke: token("--line"), width: 1 },
      ticks: { stroke: token("--line"), size: 4 },
      font: "11px system-ui",
    };
    const series = [{}];
    for (const { curve, xs } of lines) {
      const stroke = token(colourOf(this.colour(curve)));
      const common = { stroke, width: 1.5, spanGaps: false, dash: this.dash(curve) };
      if (smooth) series.push({ ...common, width: 1, alpha: 0.25, points: { show: false } });
      series.push({ ...common, points: { show: xs.length < 3 } });
    }
    if (!lines.length) series.push({});
    const { width, height } = this.size();
    this.plot = new uPlot(
      {
        width,
        height,
        legend: { show: false },
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
              around(low, high, axis === "step", u.data?.[0]),
          },
          y: isLog ? { distr: 3 } : { range: (_, low, high) => rangeOf(this.spec.unit, low, high) },
        },
        axes: [
          { ...look, size: axis === "time" ? 40 : 28, space: 60, values: ticksOf[axis] },
          {
            ...look,
            size: 68,
            ...(stepsOf(this.spec.unit) && !isLog ? { incrs: stepsOf(this.spec.unit) } : {}),
            values: (_, ticks) => ticks.map((v) => (v == null ? "" : format(v))),
          },
        ],
        series,
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

  size() {
    return {
      width: this.plotBox.clientWidth || 400,
      height: this.plotBox.clientHeight || 180,
    };
  }

  resized() {
    const { width, height } = this.size();
    if (this.plot && (this.plot.width !== width || this.plot.height !== height))
      this.plot.setSize({ width, height });
  }

  // The zoom of this chart's axis changed.
  zoomed() {
    const zoom = this.set.zooms[this.axis];
    this.reset.hidden = !zoom;
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
    if (this.set.hovered !== this || left == null || left < 0) {
      this.tip.hidden = true;
      return;
    }
    const { smooth } = this.set.view;
    const format = formatOf(this.spec.unit);
    const rows = [];
    this.drawn.forEach((line, n) => {
      const column = smooth ? 2 * n + 2 : n + 1;
      const at = u.cursor.idxs?.[column];
      const y = at == null ? null : u.data[column][at];
      if (y != null) rows.push({ line, y, raw: smooth ? u.data[column - 1][at] : null });
    });
    if (!rows.length) {
      this.tip.hidden = true;
      return;
    }
    rows.sort((a, b) => b.y - a.y);
    const where = u.posToVal(left, "x");
    const list = [node("b", "", whereText[this.axis](where))];
    for (const { line, y, raw } of rows.slice(0, 12)) {
      const row = node("span", "", "");
      const mark = node("i");
      mark.style.color = `var(${colourOf(this.colour(line.curve))})`;
      row.append(mark, node("span", "clip", this.nameOf(line.curve)), node("b", "num", format(y)));
      if (raw != null) row.append(node("span", "faint num", format(raw)));
      list.push(row);
    }
    if (rows.length > 12)
      list.push(node("span", "faint", say("and {n} more", { n: rows.length - 12 })));
    this.tip.replaceChildren(...list);
    this.tip.hidden = false;
    const isRight = left > u.over.clientWidth / 2;
    this.tip.style.left = isRight ? "auto" : `${left + 12}px`;
    this.tip.style.right = isRight ? `${u.over.clientWidth - left + 12}px` : "auto";
    this.tip.style.top = `${Math.min(top, Math.max(u.over.clientHeight - this.tip.offsetHeight, 0))}px`;
  }

  // Show the card in a dialog as large as the window; it returns to its place.
  expand() {
    if (this.card.closest("dialog")) return;
    const dialog = node("dialog", "chart-full");
    const close = node("button", "btn small", say("Close"));
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
    canvas.width = from.width;
    canvas.height = from.height + head;
    const draw = canvas.getContext("2d");
    draw.fillStyle = token("--panel");
    draw.fillRect(0, 0, canvas.width, canvas.height);
    draw.fillStyle = token("--text");
    draw.font = `${13 * ratio}px system-ui`;
    draw.fillText(`${this.title}  ${this.last.textContent}`, 12 * ratio, 19 * ratio);
    draw.drawImage(from, 0, head);
    save(canvas.toDataURL("image/png"), `${this.key}.png`);
  }
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

// Curves have points at different places: the nearest one with a value.
function nearest(ys, at) {
  if (!ys || ys[at] != null) return at;
  for (let away = 1; away <= NEAR; away++) {
    if (ys[at - away] != null) return at - away;
    if (ys[at + away] != null) return at + away;
  }
  return at;
}

const ticksOf = {
  step: (_, ticks) => ticks.map((v) => (Number.isInteger(v) ? formatOf("")(v) : "")),
  relative: (_, ticks) => ticks.map(duration),
  time: (_, ticks, __, ___, step) => clock(ticks, step),
};
const whereText = {
  step: (x) => say("Step {n}", { n: plain(Math.round(x)) }),
  relative: duration,
  time: moment,
};

function save(url, name) {
  const link = node("a");
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 1000);
}
