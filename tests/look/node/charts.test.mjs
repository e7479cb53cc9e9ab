import assert from "node:assert/strict";
import { test } from "node:test";
import {
  byStep,
  chartsOf,
  csvOf,
  labelTitle,
  matcherOf,
  sectionsOf,
  smoothed,
  splitOf,
  summaryOf,
} from "../../../static/js/charts/curves.js";
import { bytes, duration, formatOf, rangeOf, stepsOf } from "../../../static/js/charts/format.js";
import { urlOf, viewOf } from "../../../static/js/charts/view.js";

test("bytes have powers of two, rates and counts SI prefixes, and no 5.00e+4", () => {
  assert.equal(bytes(64 * 2 ** 30), "64 GiB");
  assert.equal(bytes(0), "0 B");
  assert.equal(formatOf("bytes/s")(1.5 * 2 ** 20), "1.5 MiB/s");
  assert.equal(formatOf("/s")(50_000), "50 k/s");
  assert.equal(formatOf("/s")(920), "920/s");
  assert.equal(formatOf("")(50_000), "50 k");
  assert.equal(formatOf("count")(5), "5");
  assert.equal(formatOf("")(1_234_567), "1.23 M");
  assert.equal(formatOf("")(9_999), "9,999");
  assert.equal(formatOf("W")(71.84), "71.8 W");
  assert.equal(formatOf("W")(612), "612 W");
  assert.equal(formatOf("W")(999.7), "1 kW");
  assert.equal(formatOf("W")(1191), "1.19 kW");
  assert.equal(formatOf("W")(24_900), "24.9 kW");
  assert.equal(formatOf("")(0.42131), "0.4213");
  assert.equal(formatOf("")(3e-4), "3e-4");
  assert.equal(formatOf("ratio")(0.871), "87%");
  assert.equal(formatOf("Hz")(1.98e9), "1.98 GHz");
  assert.deepEqual(
    ["bytes", "/s"].map((unit) => stepsOf(unit)?.includes(2 ** 36) ?? null),
    [true, null],
  );
});

test("durations name their units", () => {
  assert.deepEqual([5, 90, 600, 7_440, 200_000, -90].map(duration), [
    "5 s",
    "1m 30s",
    "10m",
    "2h 04m",
    "2d 7h",
    "-1m 30s",
  ]);
});

test("amounts start at zero and flat curves have room", () => {
  assert.deepEqual(rangeOf("bytes", 50, 100), [0, 103]);
  assert.deepEqual(rangeOf("", 2, 2), [1.8, 2.2]);
  assert.deepEqual(rangeOf("ratio", 0, 0), [0, 1]);
  assert.deepEqual(rangeOf("count", -5, -5), [-6, 0]);
  assert.deepEqual(rangeOf("", null, null), [0, 1]);
});

const curve = (name, isSystem = false, labels = {}) => ({
  name,
  isSystem,
  labels,
  unit: "",
  times: [],
  steps: [],
  values: [],
});

test("train and validation of a metric share a chart, and the loss comes first", () => {
  const names = ["train/accuracy", "val/loss", "train/loss", "lr", "eval/bleu", "optim/grad/norm"];
  const system = [curve("gpu.power", true), curve("cpu.used", true), curve("net.rx", true)];
  const sections = sectionsOf(chartsOf([...system, ...names.map((name) => curve(name))]));
  assert.deepEqual(
    sections.map((s) => [s.title, s.charts.map((c) => `${c.title}:${c.curves.length}`)]),
    [
      ["train", ["loss:2", "accuracy:1"]],
      ["", ["lr:1"]],
      ["eval", ["bleu:1"]],
      ["optim/grad", ["norm:1"]],
      ["GPU", ["gpu.power:1"]],
      ["CPU and memory", ["cpu.used:1"]],
      ["Disk and network", ["net.rx:1"]],
    ],
  );
  const [loss] = chartsOf([curve("loss"), curve("val_loss")]);
  assert.deepEqual([loss.section, loss.curves.map((c) => c.split)], ["", ["train", "val"]]);
  assert.equal(chartsOf([curve("val_loss")])[0].title, "val_loss");
  assert.deepEqual(splitOf("validation/f1"), { split: "val", metric: "f1", section: "val" });
});

test("curves of GPUs and tasks stay apart in one chart", () => {
  const [chart] = chartsOf([0, 1].map((n) => curve("gpu.power", true, { gpu: String(n) })));
  assert.deepEqual(
    chart.curves.map((c) => labelTitle(c.labels)),
    ["GPU 0", "GPU 1"],
  );
  assert.equal(labelTitle({ task: "3", gpu: "0" }), "GPU 0, task 3");
});

test("smoothing has no bias at the start and leaves gaps", () => {
  assert.deepEqual(
    smoothed([4, 4, null, 4], 0.9).map((y) => y && Math.round(y * 1e9) / 1e9),
    [4, 4, null, 4],
  );
  const [, second] = smoothed([0, 1], 0.5);
  assert.ok(Math.abs(second - 2 / 3) < 1e-12);
  const raw = [1, 2];
  assert.equal(smoothed(raw, 0), raw);
});

test("steps that come twice keep the latest value, in order", () => {
  assert.deepEqual(byStep([1, 2, 3, 2], [9, 8, 7, 6]), [
    [1, 2, 3],
    [9, 6, 7],
  ]);
});

test("the filter takes text, a star and a regular expression", () => {
  const found = (text) => ["train/loss", "val/acc", "lr"].filter(matcherOf(text));
  assert.deepEqual(found("LOSS"), ["train/loss"]);
  assert.deepEqual(found("/loss|acc/"), ["train/loss", "val/acc"]);
  assert.deepEqual(found("val/*"), ["val/acc"]);
  assert.deepEqual(found("^l"), ["lr"]);
  assert.deepEqual(found("/(/"), [], "an unfinished expression matches as text");
  assert.equal(found("").length, 3);
});

test("a summary ignores gaps", () => {
  assert.deepEqual(summaryOf([3, null, 1, NaN, 2]), { min: 1, max: 3, last: 2 });
  assert.deepEqual(summaryOf([]), { min: null, max: null, last: null });
});

test("a downloaded file has one row a point and no formula", () => {
  assert.equal(
    csvOf([{ title: '=a,"b"', xs: [1, 2], ys: [0.5, null] }], false),
    'series,x,value\r\n"\'=a,""b""",1,0.5\r\n',
  );
});

test("the view is in the URL, without its defaults", () => {
  const view = { ...viewOf("?tab=metrics"), smooth: 0.6, log: true, metric: "loss" };
  const url = urlOf("http://a/jobs/1?tab=metrics&log=0", view);
  assert.equal(url.search, "?tab=metrics&log=1&smooth=0.6&metric=loss");
  assert.deepEqual(viewOf(url.search), view);
  assert.equal(urlOf(url.href, viewOf("")).search, "?tab=metrics");
  assert.equal(viewOf("?smooth=7&axis=x").smooth, 0);
});
