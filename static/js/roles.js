// A role chosen in a list is confirmed in words. The questions by role are in the JSON script that
// data-questions names; data-person is whose role it is.
import { confirmed } from "./ask.js";
import "./swap.js";
import { say } from "./words.js";

// A role in a team is asked for when a team is chosen.
for (const team of document.querySelectorAll("select[data-team]")) {
  const role = team.form.elements.team_role.closest(".field");
  const show = () => {
    role.hidden = !team.value;
  };
  team.addEventListener("change", show);
  show();
}

document.addEventListener("change", async ({ target: select }) => {
  if (!select.matches("select[data-questions]")) return;
  const questions = JSON.parse(document.getElementById(select.dataset.questions).textContent);
  const question = (questions[select.value] ?? "").replaceAll("{name}", select.dataset.person);
  if (await confirmed(question, say("Change role", { context: "button" })))
    select.form.requestSubmit();
  else select.value = select.querySelector("option[selected]").value;
});
