// What somebody can take if the job is refused or would wait: a button each. One that changes the spec
// changes the document, so that form and YAML show it; another is a link.

export function createOffers(list, take) {
  return function show(offers) {
    list.hidden = !offers.length;
    list.replaceChildren(...offers.map((offer, n) => row(offer, n)));
  };

  function row({ label, text, changes, page }, n) {
    const item = document.createElement("li");
    const control = document.createElement(page ? "a" : "button");
    control.className = `btn small${n ? "" : " primary"}`;
    control.textContent = label;
    if (page) control.href = page;
    else {
      control.type = "button";
      control.addEventListener("click", () => take(changes));
    }
    item.append(control);
    if (text) {
      const reason = document.createElement("span");
      reason.className = "small muted";
      reason.textContent = text;
      item.append(reason);
    }
    return item;
  }
}
