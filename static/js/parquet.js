// Shows a Parquet file as a table: schema and first rows, which a worker reads by ranges.
import { count, say } from "./words.js";

const SECONDS = 20; // after which a file counts as one that cannot be read here

const make = (name, text = "", className = "") => {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = className;
  return element;
};

function facts(found) {
  const parts = [
    say("{n} rows", { context: "text, parquet", n: count(found.numberOfRows) }),
    say("{n} columns", { context: "text, parquet", n: count(found.numberOfColumns) }),
    say("{n} row groups", { context: "text, parquet", n: count(found.groups) }),
    found.codec.toLowerCase(),
    found.by,
  ];
  return parts.filter(Boolean).join(" · ");
}

function table(found) {
  const whole = make("table", "", "list");
  const head = whole.createTHead().insertRow();
  const number = make("th", "#", "num");
  number.scope = "col";
  head.append(number);
  for (const { name, type } of found.columns) {
    const cell = make("th");
    cell.scope = "col";
    cell.append(make("span", name), make("small", type, "faint mono"));
    head.append(cell);
  }
  const body = whole.createTBody();
  for (let n = 0; n < found.rows; n += 1) {
    const row = body.insertRow();
    row.append(make("td", String(n + 1), "num faint"));
    for (const { cells, error } of found.columns) {
      const text = error ? "—" : (cells[n] ?? "");
      const cell = make("td", text, "mono clip");
      if (!error) cell.title = text;
      row.append(cell);
    }
  }
  return whole;
}

function show(root, found) {
  const wrap = make("div", "", "table-wrap data");
  wrap.tabIndex = 0;
  wrap.append(table(found));
  const bad = found.columns.filter(({ error }) => error).map(({ name }) => name);
  const notes = [];
  if (bad.length)
    notes.push(
      say("These columns can't be shown: {names}. They are too large or damaged.", {
        names: bad.slice(0, 10).join(", "),
      }),
    );
  if (found.numberOfRows > found.rows || found.numberOfColumns > found.columns.length)
    notes.push(
      say("This is the beginning: the first {rows} rows and {columns} columns.", {
        rows: count(found.rows),
        columns: count(found.columns.length),
      }),
    );
  root.replaceChildren(
    make("p", facts(found), "body muted small"),
    wrap,
    ...notes.map((text) => make("p", text, "body muted small")),
  );
}

function refuse(root, text) {
  root.replaceChildren(make("p", text, "body muted"));
}

const root = document.querySelector("[data-parquet]");
if (root) {
  const { url, size, worker: script } = root.dataset;
  const worker = new Worker(script, { type: "module" });
  const end = setTimeout(() => {
    worker.terminate();
    refuse(root, say("The file took too long to read here. Download it to open it."));
  }, SECONDS * 1000);
  const finish = (act) => {
    clearTimeout(end);
    worker.terminate();
    act();
  };
  worker.addEventListener("message", ({ data }) =>
    finish(() => {
      if (data.done) show(root, data.done);
      else if (data.error === "large")
        refuse(root, say("The description of this file is too large to show. Download it."));
      else refuse(root, say("This is not a valid Parquet file, or it is damaged."));
    }),
  );
  worker.addEventListener("error", () =>
    finish(() => refuse(root, say("The file can't be read here. Download it to open it."))),
  );
  worker.postMessage({ url: new URL(url, location.href).href, size: Number(size) });
}
