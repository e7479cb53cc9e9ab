import assert from "node:assert/strict";
import test, { beforeEach, mock } from "node:test";

import { Live } from "../../../static/js/live.js";

// A double of the browser's WebSocket: it keeps what was sent and says what the test tells it to.
class Socket {
  static OPEN = 1;
  static all = [];
  constructor() {
    this.readyState = 0;
    this.sent = [];
    Socket.all.push(this);
  }
  static get last() {
    return Socket.all.at(-1);
  }
  open() {
    this.readyState = 1;
    this.onopen();
    this.say({ op: "hello", server_time: 0 });
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
  close() {
    this.lose(1006);
  }
  lose(code) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose({ code });
  }
  get asked() {
    return this.sent.filter((m) => m.op === "subscribe");
  }
}

function frame(id, offset, text, at = 7) {
  const data = new TextEncoder().encode(text),
    buffer = new ArrayBuffer(24 + data.length),
    view = new DataView(buffer);
  view.setUint32(0, id, true);
  view.setBigUint64(8, BigInt(offset), true);
  view.setBigUint64(16, BigInt(at), true);
  new Uint8Array(buffer, 24).set(data);
  return { data: buffer };
}

// A subscription to a log that keeps what it got.
function log(live, after = 0) {
  const got = { text: "", end: after, holes: [], ended: null, error: "" };
  got.stop = live.subscribe(
    "log:aa",
    {
      bytes: (offset, at, data) => {
        if (offset > got.end) got.holes.push([got.end, offset]);
        got.text += new TextDecoder().decode(data.subarray(Math.max(got.end - offset, 0)));
        got.end = Math.max(got.end, offset + data.length);
      },
      gap: (start, end) => {
        got.end = end;
      },
      end: (certificate) => {
        got.ended = certificate;
      },
      error: (message) => {
        got.error = message;
      },
    },
    after,
  );
  return got;
}

beforeEach(() => {
  globalThis.WebSocket = Socket;
  Socket.all = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
});

test("one socket carries many subscriptions", () => {
  const live = new Live("ws://x");
  log(live);
  live.subscribe("job:bb", { event: () => {} });
  Socket.last.open();
  assert.equal(Socket.all.length, 1);
  assert.deepEqual(
    Socket.last.asked.map((m) => [m.topic, m.after]),
    [
      ["log:aa", 0],
      ["job:bb", undefined],
    ],
  );
});

test("after a loss a log goes on from the next byte", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  Socket.last.onmessage(frame(Socket.last.asked[0].id, 0, "hello "));
  Socket.last.lose(1006);
  mock.timers.tick(1000);
  assert.equal(Socket.all.length, 2);
  Socket.last.open();
  assert.equal(Socket.last.asked[0].after, 6);
  Socket.last.onmessage(frame(Socket.last.asked[0].id, 6, "world"));
  assert.equal(got.text, "hello world");
});

test("each try waits longer, up to a bound, and a success begins anew", () => {
  const live = new Live("ws://x");
  log(live);
  for (let i = 0; i < 8; i++) {
    Socket.last.lose(1006);
    mock.timers.tick(25_000);
  }
  assert.equal(Socket.all.length, 9);
  Socket.last.open();
  Socket.last.lose(1006);
  mock.timers.tick(1000);
  assert.equal(Socket.all.length, 10);
});

test("who is signed out is told so and not tried again", () => {
  const live = new Live("ws://x"),
    told = [];
  live.onStatus((up, code) => told.push([up, code]));
  log(live);
  Socket.last.open();
  Socket.last.lose(4401);
  mock.timers.tick(60_000);
  assert.equal(Socket.all.length, 1);
  assert.deepEqual(told.at(-1), [false, 4401]);
});

test("bytes that are missing between two frames are asked for, never passed over", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  Socket.last.onmessage(frame(Socket.last.asked.at(-1).id, 0, "one "));
  Socket.last.onmessage(frame(Socket.last.asked.at(-1).id, 100, "later"));
  assert.deepEqual(got.holes, []);
  assert.equal(Socket.last.asked.length, 2);
  assert.equal(Socket.last.asked.at(-1).after, 4);
  Socket.last.onmessage(frame(Socket.last.asked.at(-1).id, 4, "two"));
  assert.equal(got.text, "one two");
});

test("a gap that the server tells is no reason to ask again", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  const { id } = Socket.last.asked[0];
  Socket.last.onmessage(frame(id, 0, "one "));
  Socket.last.say({ op: "gap", id, start: 4, end: 100, why: "disk full" });
  Socket.last.onmessage(frame(id, 100, "later"));
  assert.equal(Socket.last.asked.length, 1);
  assert.equal(got.text, "one later");
});

test("a resync of a log asks from the last byte seen", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  Socket.last.onmessage(frame(Socket.last.asked[0].id, 0, "one "));
  Socket.last.say({ op: "resync", id: Socket.last.asked[0].id, seq: 0, why: "access changed" });
  assert.equal(Socket.last.asked.length, 2);
  assert.equal(Socket.last.asked.at(-1).after, 4);
  Socket.last.onmessage(frame(Socket.last.asked.at(-1).id, 4, "two"));
  assert.equal(got.text, "one two");
});

test("rows are read again after a resync and after a reconnection, not at the first connection", () => {
  const live = new Live("ws://x");
  let count = 0;
  live.subscribe("jobs:cc", {
    event: () => {},
    resync: () => {
      count++;
    },
  });
  Socket.last.open();
  Socket.last.say({ op: "subscribed", id: Socket.last.asked[0].id, seq: 0 });
  assert.equal(count, 0);
  Socket.last.say({ op: "resync", id: Socket.last.asked[0].id, seq: 3, why: "overflow" });
  assert.equal(count, 1);
  Socket.last.lose(1006);
  mock.timers.tick(1000);
  Socket.last.open();
  Socket.last.say({ op: "subscribed", id: Socket.last.asked[0].id, seq: 0 });
  assert.equal(count, 2);
});

test("a socket that went silent is taken for dead and replaced", () => {
  const live = new Live("ws://x");
  log(live);
  Socket.last.open();
  for (let second = 0; second < 90; second++) mock.timers.tick(1000); // the clock of a callback is that of its tick
  assert.ok(Socket.all.length > 1, "pings went unanswered for 90 s and nothing happened");
});

test("a socket that answers its pings is kept", () => {
  const live = new Live("ws://x");
  log(live);
  const socket = Socket.last;
  socket.open();
  for (let i = 0; i < 10; i++) {
    mock.timers.tick(10_000);
    socket.say({ op: "pong" });
  }
  assert.equal(Socket.all.length, 1);
});

test("the end of a log brings its certificate", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  Socket.last.say({ op: "end", id: Socket.last.asked[0].id, certificate: { text: "complete" } });
  assert.deepEqual(got.ended, { text: "complete" });
});

test("what was refused is not asked again after a loss", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  Socket.last.say({
    op: "error",
    id: Socket.last.asked[0].id,
    code: "not_found",
    message: "There is no such topic.",
  });
  assert.equal(got.error, "There is no such topic.");
  live.subscribe("job:bb", { event: () => {} });
  Socket.last.lose(1006);
  mock.timers.tick(1000);
  Socket.last.open();
  assert.deepEqual(
    Socket.last.asked.map((m) => m.topic),
    ["job:bb"],
  );
});

test("who leaves is heard no more", () => {
  const live = new Live("ws://x"),
    got = log(live);
  Socket.last.open();
  got.stop();
  assert.equal(Socket.last.sent.at(-1).op, "unsubscribe");
  Socket.last.onmessage(frame(Socket.last.asked[0].id, 0, "late"));
  assert.equal(got.text, "");
});
