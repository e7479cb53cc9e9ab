// Bundles the libraries that pages import, one ES module per file of scripts/vendor, into static/vendor. No page asks another host.
import { readFileSync, readdirSync } from "node:fs";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
await rm("static/vendor", { recursive: true, force: true });
await mkdir("static/vendor", { recursive: true });

const { metafile } = await build({
  entryPoints: ["scripts/vendor/*.js"],
  outdir: "static/vendor",
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  metafile: true,
});
await copyFile("node_modules/uplot/dist/uPlot.min.css", "static/vendor/uplot.css");
await copyFile("node_modules/@xterm/xterm/css/xterm.css", "static/vendor/xterm.css");

// The licenses ask to go along with the code.
const packages = new Set();
for (const file of Object.keys(metafile.inputs)) {
  const name = file.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
  if (name) packages.add(name);
}
const licenses = [...packages].sort().map((name) => {
  const file = readdirSync(`node_modules/${name}`).find((one) => /^licen[cs]e/i.test(one));
  return `== ${name} ==\n\n${readFileSync(`node_modules/${name}/${file}`, "utf8").trim()}\n`;
});
await writeFile("static/vendor/LICENSES.txt", licenses.join("\n"));
