// Copies what the browser loads from node_modules to static/vendor, so that no page ever asks another host.
import { copyFile, mkdir } from "node:fs/promises";

const root = new URL("../", import.meta.url);
const FILES = {
  "htmx.org/dist/htmx.min.js": "htmx.js",
  "htmx.org/LICENSE": "htmx.LICENSE",
  "uplot/dist/uPlot.esm.js": "uplot.js",
  "uplot/dist/uPlot.min.css": "uplot.css",
  "uplot/LICENSE": "uplot.LICENSE",
};

await mkdir(new URL("static/vendor/", root), { recursive: true });
for (const [from, to] of Object.entries(FILES)) {
  await copyFile(new URL(`node_modules/${from}`, root), new URL(`static/vendor/${to}`, root));
}
