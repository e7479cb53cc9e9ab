// Run page: values and parts that change in place while the run goes on.
import { live } from "./live.js";
import { metric } from "./metric.js";
import { morph } from "./morph.js";
import { tick } from "./time.js";

const EVERY = 10_000; // ms between updates of the state and the numbers
const root = document.querySelector("[data-run]");

if (root?.dataset.live === "true") {
  live().subscribe(root.dataset.topic, { event: measured, resync: redraw });
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") redraw();
  }, EVERY);

  function measured({ values }) {
    for (const [name, value] of Object.entries(values))
      for (const cell of root.querySelectorAll(`[data-metric="${CSS.escape(name)}"]`))
        cell.textContent = metric(value);
  }

  async function redraw() {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of root.querySelectorAll("[data-part]")) {
      const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (fresh) morph(part, document.adoptNode(fresh));
    }
    tick();
    if (page.querySelector("[data-run]")?.dataset.live !== "true") clearInterval(timer);
  }
}
