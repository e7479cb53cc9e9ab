// Requests of an upload: answers are objects, refusals are errors with the portal's text and code.
import { say } from "../words.js";

export class Requests {
  constructor(csrf) {
    this.csrf = csrf;
  }

  send(method, url, body) {
    return this.#request(method, url, "application/json", JSON.stringify(body));
  }

  // A line each, because a commit may have a million files
  sendLines(url, rows) {
    const body = rows.map((row) => JSON.stringify(row)).join("\n");
    return this.#request("POST", url, "application/x-ndjson", body);
  }

  async #request(method, url, type, body) {
    const headers = { "Content-Type": type, "X-CSRFToken": this.csrf };
    const answer = await fetch(url, { method, body, headers }).catch(() => null);
    if (!answer) throw new Error(say("The connection was lost. Try again; what was sent is kept."));
    const data = parsed(await answer.text());
    if (answer.ok) return data;
    const faults = (data.errors ?? []).map(({ message }) => message).join(" ");
    const problem = new Error(faults || data.detail || say("The upload failed. Try again."));
    problem.code = data.code;
    throw problem;
  }
}

export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
