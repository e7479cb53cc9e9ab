// Bundles and minifies static/js and static/css into build/bundles, under their own names; `collectstatic` prefers those files.
// Pages share modules, such as the connection of live.js, so esbuild splits them into chunks.
import { readFile, readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
await rm("build/bundles", { recursive: true, force: true });

// The scripts and workers that templates name; everything else is imported by one of them. The page of a
// terminal is in a job, and names its script on this portal.
const modules = new Set(["static/js/terminal.js"]);
const classics = new Set();
for (const name of await readdir("templates", { recursive: true })) {
  if (!name.endsWith(".html")) continue;
  const text = await readFile(`templates/${name}`, "utf8");
  for (const [, attributes, path] of text.matchAll(
    /<script([^>]*)\ssrc="\{% static "(js\/[^"]+)"/g,
  )) {
    (attributes.includes('"module"') ? modules : classics).add(`static/${path}`);
  }
  for (const [, path] of text.matchAll(/data-worker="\{% static "(js\/[^"]+)"/g))
    modules.add(`static/${path}`);
}

const options = {
  outdir: "build/bundles",
  outbase: "static",
  bundle: true,
  minify: true,
  legalComments: "none",
  logLevel: "warning",
};
await Promise.all([
  build({
    ...options,
    entryPoints: [...modules],
    format: "esm",
    target: "es2022",
    splitting: true,
    chunkNames: "js/chunk-[hash]",
  }),
  build({ ...options, entryPoints: [...classics], format: "iife", target: "es2022" }),
  build({ ...options, entryPoints: ["static/css/*.css"], external: ["*.svg"] }),
]);
