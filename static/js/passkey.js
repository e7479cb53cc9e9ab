// Show why the browser refused a passkey, and what to do, below the button.
const WHY = {
  NotAllowedError: "refused",
  AbortError: "refused",
  InvalidStateError: "known",
  SecurityError: "unsafe",
  NotSupportedError: "unfit",
};
const note = document.getElementById("passkey-trouble");
let pressed;

document.addEventListener(
  "click",
  ({ target }) => {
    pressed = target.closest("button") ?? pressed;
    note.hidden = true;
  },
  true,
);

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const why = globalThis.PublicKeyCredential
    ? (WHY[event.detail.exception.name] ?? "failed")
    : "unsafe";
  note.textContent = note.dataset[why];
  (pressed?.closest(".row") ?? pressed)?.after(note);
  note.hidden = false;
});
