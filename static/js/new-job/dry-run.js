// Dry run, in its own sheet. `ask` returns the answer of the portal.
import { say } from "../words.js";

export function createDryRun(button, sheet, ask) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      show(await ask());
    } catch {
      show({ detail: say("No answer. Check your connection and try again.") });
    } finally {
      button.disabled = false;
    }
  });

  function show(body) {
    const checks = body.checks ?? [{ ok: false, name: "spec", text: body.detail }];
    sheet.querySelector("[data-checks]").replaceChildren(
      ...checks.map((c) => {
        const item = document.createElement("li");
        item.textContent = `${c.ok ? "✓" : c.ok === null ? "–" : "✗"} ${c.name}: ${c.text}`;
        item.className = c.ok === false && c.name !== "start" ? "form-error" : "";
        return item;
      }),
    );
    sheet.querySelector("[data-launch]").textContent = body.launch ?? "";
    sheet.querySelector("[data-launch-part]").hidden = !body.launch;
    sheet.showModal();
  }
}
