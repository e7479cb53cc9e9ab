// Copies what the browser loads from node_modules to static/vendor, so that no page ever asks another host.
import { copyFile, cp, mkdir } from "node:fs/promises";

const root = new URL("../", import.meta.url);
const FILES = {
  "htmx.org/dist/htmx.min.js": "htmx.js",
  "htmx.org/LICENSE": "htmx.LICENSE",
  "uplot/dist/uPlot.esm.js": "uplot.js",
  "uplot/dist/uPlot.min.css": "uplot.css",
  "uplot/LICENSE": "uplot.LICENSE",
  "yaml/LICENSE": "yaml.LICENSE",
};

await mkdir(new URL("static/vendor/", root), { recursive: true });
for (const [from, to] of Object.entries(FILES)) {
  await copyFile(new URL(`node_modules/${from}`, root), new URL(`static/vendor/${to}`, root));
}
// The browser build of yaml is ES modules that import each other by relative paths.
await cp(new URL("node_modules/yaml/browser/dist/", root), new URL("static/vendor/yaml/", root), {
  recursive: true,
});
