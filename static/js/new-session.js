// The form of a new session: what a template needs and has by default, and what a start would answer.
import { createVerdict } from "./new-job/verdict.js";
import { atClock } from "./time.js";
import { say } from "./words.js";

const PAUSE = 400; // ms after the last change
const form = document.querySelector("[data-new-session]");

if (form) {
  const { tell } = createVerdict(form.querySelector("[data-verdict]"), (field) => field);
  const images = document.getElementById("images");
  let timer = 0;
  let asked = 0;

  function show() {
    const about = JSON.parse(form.querySelector("[name=template]:checked").dataset.about);
    for (const [name, value] of Object.entries({
      name: form.querySelector("[name=template]:checked").closest("label").innerText.split("\n")[0],
      cpus: about.cpus,
      memory: about.memory,
      time_limit: about.time_limit,
    }))
      form.elements[name].placeholder = String(value).trim();
    images.replaceChildren(...about.images.map((image) => new Option(image, image)));
  }

  async function check() {
    const turn = ++asked;
    const start = form.querySelector("button[type=submit]");
    const body = Object.fromEntries(
      [...new FormData(form)].filter(([name, value]) => value && name !== "csrfmiddlewaretoken"),
    );
    if (body.template === "app" && !body.command) {
      tell("idle", say("Enter the command that starts the app."));
      start.disabled = true;
      return;
    }
    const answer = await fetch(form.dataset.check, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": form.elements.csrfmiddlewaretoken.value,
      },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (turn !== asked || !answer) return;
    const found = await answer.json();
    start.disabled = answer.ok ? !found.ok : answer.status < 500;
    if (!answer.ok) tell("failed", found.detail ?? "", say("Can't start."));
    else if (!found.ok) tell("failed", found.text, say("Can't start."));
    else if (found.starts_now) tell("succeeded", found.text);
    else tell("queued", `${found.text} ${expectedText(found.expected)}`, say("Would wait."));
  }

  const expectedText = (expected) =>
    expected?.at ? atClock(expected.text, new Date(expected.at)) : (expected?.text ?? "");

  form.addEventListener("input", () => {
    show();
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  });
  show();
  check();
}
