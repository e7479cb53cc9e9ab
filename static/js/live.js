// One websocket per page with many subscriptions. After a lost connection, each subscription resumes
// at its last byte or sequence number, and a thin bar shows that the page is behind.
import { say } from "./words.js";

const HEAD = 24;
const BEAT = 20000; // ms between pings; after two without an answer the socket is considered dead

export class Live {
  constructor(url) {
    this.url = url;
    this.subs = new Map();
    this.next = 1;
    this.tries = 0;
    this.socket = null;
    this.watchers = new Set();
  }

  // on: {start(), bytes(offset, atMs, Uint8Array), event(data), resync(), end(certificate), gap(start, end, why), error(message)}
  subscribe(topic, on, after = null) {
    const sub = { topic, on, after, id: this.next++ };
    this.subs.set(sub.id, sub);
    if (this.socket?.readyState === WebSocket.OPEN) this.#ask(sub.id);
    else this.#open();
    return () => {
      if (this.subs.delete(sub.id)) this.#send({ op: "unsubscribe", id: sub.id });
    };
  }

  onStatus(call) {
    this.watchers.add(call);
  }

  #open() {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = (this.socket = new WebSocket(this.url));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.tries = 0;
      this.#tell(true);
      for (const id of this.subs.keys()) this.#ask(id);
      this.heard = Date.now();
      this.beat = setInterval(() => this.#pulse(), BEAT);
    };
    socket.onmessage = (event) => {
      this.heard = Date.now();
      if (typeof event.data === "string") this.#text(JSON.parse(event.data));
      else this.#bytes(event.data);
    };
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      this.socket = null;
      clearInterval(this.beat);
      this.#tell(false, event.code);
      if (event.code === 4401) return; // signed out: do not reconnect
      const wait = Math.min(500 * 2 ** this.tries++, 15000) * (0.7 + Math.random() * 0.6);
      setTimeout(() => this.subs.size && this.#open(), wait);
    };
  }

  // A dead network closes no socket, so drop one that does not answer.
  #pulse() {
    if (Date.now() - this.heard < 2 * BEAT) {
      this.#send({ op: "ping" });
      return;
    }
    const { socket } = this;
    socket.onclose({ code: 1006 });
    socket.close();
  }

  // Resume at the last byte under a new number, so that late frames of the old one are ignored.
  #again(sub) {
    this.subs.delete(sub.id);
    this.#send({ op: "unsubscribe", id: sub.id });
    sub.id = this.next++;
    this.subs.set(sub.id, sub);
    this.#ask(sub.id);
  }

  #ask(id) {
    const { topic, after } = this.subs.get(id);
    this.#send({ op: "subscribe", id, topic, ...(after === null ? {} : { after }) });
  }

  #send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #text(message) {
    const sub = this.subs.get(message.id);
    if (!sub) return;
    if (message.op === "event") {
      sub.on.event?.(message.data);
      sub.after = message.seq;
    } else if (message.op === "end") sub.on.end?.(message.certificate);
    else if (message.op === "gap") {
      sub.after = message.end;
      sub.on.gap?.(message.start, message.end, message.why);
    } else if (message.op === "resync" && sub.on.bytes) this.#again(sub);
    else if (message.op === "resync") sub.on.resync?.();
    else if (message.op === "subscribed" && sub.asked && sub.after === null)
      sub.on.resync?.(); // rows may have changed while disconnected
    else if (message.op === "error") {
      this.subs.delete(message.id);
      sub.on.error?.(message.message);
    }
    if (message.op === "subscribed") {
      sub.asked = true;
      sub.on.start?.();
    }
  }

  #bytes(buffer) {
    const view = new DataView(buffer);
    const sub = this.subs.get(view.getUint32(0, true));
    if (!sub) return;
    const offset = Number(view.getBigUint64(8, true));
    const data = new Uint8Array(buffer, HEAD);
    if (sub.after !== null && offset > sub.after) {
      this.#again(sub);
      return;
    } // frames are missing
    sub.after = offset + data.length;
    sub.on.bytes?.(offset, Number(view.getBigUint64(16, true)), data);
  }

  #tell(up, code) {
    for (const call of this.watchers) call(up, code);
  }
}

let shared = null;
export function live() {
  if (!shared) {
    shared = new Live(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/live`,
    );
    const bar = document.getElementById("offline");
    let timer = 0;
    shared.onStatus((up, code) => {
      clearTimeout(timer);
      if (up) {
        bar.hidden = true;
        return;
      }
      bar.textContent =
        code === 4401
          ? say("You are signed out. Reload the page to sign in.")
          : say("The connection is lost; what you see may be old. Trying again …");
      timer = setTimeout(() => {
        bar.hidden = false;
      }, 1500);
    });
  }
  return shared;
}
