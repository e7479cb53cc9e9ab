// Follow a MIG plan while it is being applied.
import { morph } from "./morph.js";
import { parsed } from "./swap.js";

const plan = document.querySelector("[data-mig-plan]");

async function follow() {
  while (plan.matches("[data-active]")) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2000);
    });
    if (document.hidden) continue;
    try {
      const answer = await fetch(location.href);
      const fresh = (await parsed(answer)).querySelector("[data-mig-plan]");
      if (!answer.ok || !fresh) continue;
      morph(plan, fresh);
      plan.toggleAttribute("data-active", fresh.hasAttribute("data-active"));
    } catch {
      /* retry in two seconds */
    }
  }
}

follow();
