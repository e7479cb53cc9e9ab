// Follow the imports of a dataset while one is active.
import { morph } from "./morph.js";
import { parsed } from "./swap.js";

const list = document.querySelector("[data-imports]");

async function follow() {
  while (list.matches("[data-active]")) {
    await new Promise((resolve) => {
      setTimeout(resolve, 1000);
    });
    if (document.hidden) continue;
    try {
      const answer = await fetch(location.href);
      const fresh = (await parsed(answer)).querySelector("[data-imports]");
      if (!answer.ok || !fresh) continue;
      morph(list, fresh);
      list.toggleAttribute("data-active", fresh.hasAttribute("data-active"));
    } catch {
      /* retry in a second */
    }
  }
}

follow();
