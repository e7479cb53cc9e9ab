// Clusters: "test connection" with the answer in place, and the one dialog that asks why a node is drained.
document.addEventListener("click", (event) => {
  const on = (what) => event.target.closest(what);
  if (on("button[data-test]")) { event.preventDefault(); test(on("button[data-test]")); }
  else if (on("[data-drain]")) ask(on("[data-drain]").dataset.drain);
  else if (on("dialog [data-close]")) on("dialog").close();
});

async function test(button) {
  const answer = document.querySelector("[data-answer]"), form = button.form;
  button.disabled = true;
  say(answer, "", "Asking …");
  try {
    const got = await fetch(button.dataset.test, {
      method: "POST", body: JSON.stringify({}),
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
    });
    const told = await got.json();
    if (got.ok) say(answer, told.is_ok ? "good" : "bad", told.version && !told.message.includes(told.version) ? `${told.message} (${told.version})` : told.message);
    else say(answer, "bad", told.detail || told.title);
  } catch {
    say(answer, "bad", "The portal did not answer. Try again.");
  }
  button.disabled = false;
}

function say(place, kind, text) {
  place.className = `note ${kind}`;
  place.textContent = text;
  place.hidden = false;
}

function ask(node) {
  const dialog = document.querySelector("[data-drain-dialog]"), form = dialog.querySelector("form");
  form.action = form.dataset.base + encodeURIComponent(node);
  dialog.querySelector("[data-name]").textContent = node;
  dialog.showModal();
  form.elements.reason.focus();
}
