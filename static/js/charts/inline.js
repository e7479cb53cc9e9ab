// Charts of values that the page has: <c-chart :data>, which is a figure with data-chart, the id of
// {times, unit, isStacked, isDaily, series: [{label, values, colour, kind, note}]} as JSON.
import { Chart } from "./chart.js";

const VIEW = { smooth: 0, axis: "time", log: false };
const DAY = 86_400;

export class InlineChart {
  constructor(figure) {
    this.id = "page"; // cursors of all these charts move together
    this.view = VIEW;
    this.zooms = {};
    this.isMany = false;
    this.chart = new Chart(this, figure.dataset.chart, figure);
    this.sizes = new ResizeObserver(() => this.chart.resized());
    this.sizes.observe(this.chart.plotBox);
  }

  show({ times, unit = "", isStacked = false, isDaily = false, series }) {
    const curves = series.map((one, n) => ({
      id: `${n} ${one.label}`,
      title: one.label,
      colour: one.colour,
      kind: one.kind,
      note: one.note ?? undefined,
      source: {},
      labels: {},
      steps: [],
      times,
      values: one.values,
    }));
    const spec = { unit, isStacked, isDaily, isAmount: true, width: DAY, curves };
    this.chart.show(spec, this.chart.card.getAttribute("aria-label"));
  }

  isHidden() {
    return false;
  }

  extent() {
    return null;
  }

  request(chart) {
    chart.draw();
  }

  zoom(axis, range) {
    if (range) this.zooms[axis] = range;
    else delete this.zooms[axis];
    this.chart.draw();
  }
}

document.addEventListener("themechange", () =>
  document.querySelectorAll(".chart.is-inline").forEach(({ chart }) => chart?.plot && chart.draw()),
);

// The chart of a figure, which is made once.
export function inlineChart(figure) {
  figure.inline ??= new InlineChart(figure);
  return figure.inline;
}

// Draw all of a part of the page from their JSON.
export function drawInline(root = document) {
  for (const figure of root.querySelectorAll("[data-chart]"))
    inlineChart(figure).show(JSON.parse(document.getElementById(figure.dataset.chart).textContent));
}
