// Current measurements, in place: data-now is the key of a series, data-unit its unit. Elements with
// data-now-live appear when the first measurement arrives.
import { formatOf } from "./charts/format.js";
import { live } from "./live.js";

for (const box of document.querySelectorAll("[data-now-topic]"))
  live().subscribe(box.dataset.nowTopic, {
    event({ earlier = [], ...last }) {
      const values = Object.assign({}, ...[...earlier, last].map((one) => one.values));
      for (const cell of box.querySelectorAll("[data-now]")) {
        const value = values[cell.dataset.now];
        if (value !== undefined) cell.textContent = formatOf(cell.dataset.unit)(value);
      }
      for (const mark of box.querySelectorAll("[data-now-live]")) mark.hidden = false;
    },
  });
