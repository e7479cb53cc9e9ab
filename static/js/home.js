// The chart of the home page: GPUs allocated by team, used and in total over a day or a week.
import { colourOf } from "./charts/colours.js";
import { inlineChart } from "./charts/inline.js";
import { say } from "./words.js";

const MOST = 7; // teams with a colour of their own
const figure = document.getElementById("gpu-chart");
const table = document.getElementById("gpu-teams");
const team = document.getElementById("gpu-team");
const loaded = { 24: JSON.parse(document.getElementById("gpu-time").textContent) };
let hours = 24;

// What is known of all of them at each time; null where nothing is.
function sum(teams, name, times) {
  return times.map((_, n) => {
    const values = teams.map((one) => one[name][n]);
    const known = values.filter((value) => value !== null);
    return values.length && !known.length ? null : known.reduce((a, b) => a + b, 0);
  });
}

function draw() {
  const { times, total, teams } = loaded[hours];
  const colours = new Map(teams.map((one, n) => [one, n < MOST ? colourOf(n) : "--text-3"]));
  const shown = teams.filter((one) => !team?.value || one.slug === team.value);
  const some = shown.length > MOST ? shown.slice(0, MOST) : shown;
  const area = (label, values, colour) => ({ label, values, colour, kind: "area" });
  const series = some.map((one) => area(one.name, one.allocated, colours.get(one)));
  if (some.length < shown.length)
    series.push(
      area(
        say("Others", { context: "text, home" }),
        sum(shown.slice(MOST), "allocated", times),
        "--text-3",
      ),
    );
  series.push({
    label: say("Used", { context: "curve of a chart, in use" }),
    values: sum(shown, "used", times),
    colour: "--text",
    kind: "line",
  });
  if (total.some((n) => n !== null))
    series.push({
      label: say("Total", { context: "curve of a chart" }),
      values: total,
      colour: "--text-3",
      kind: "limit",
    });
  inlineChart(figure).show({ times, unit: "GPUs", isStacked: true, series });
}

function list() {
  const row = (one) => {
    const used = one.measured_hours
      ? `${Math.round((100 * one.used_hours) / one.measured_hours)}%`
      : "–";
    const cells = [one.name, `${Math.round(one.allocated_hours).toLocaleString()} GPU-h`, used];
    const made = document.createElement("tr");
    cells.forEach((text, n) => {
      const cell = made.insertCell();
      cell.className = n ? "num nowrap" : "clip";
      cell.textContent = text;
    });
    return made;
  };
  const teams = loaded[hours].teams;
  if (teams.length) table.replaceChildren(...teams.map(row));
}

async function choose(button) {
  const wanted = Number(button.dataset.hours);
  if (!loaded[wanted]) {
    const answer = await fetch(`${figure.dataset.url}?hours=${wanted}`);
    if (!answer.ok) return;
    loaded[wanted] = await answer.json();
  }
  hours = wanted;
  for (const one of document.querySelectorAll("[data-hours]"))
    one.setAttribute("aria-pressed", String(one === button));
  list();
  draw();
}

for (const button of document.querySelectorAll("[data-hours]"))
  button.addEventListener("click", () => choose(button));
team?.addEventListener("change", draw);
draw();
