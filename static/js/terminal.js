// The page of a terminal, which a job serves (schedulers/programs/terminal.py): one shell over a websocket.
// After an interruption it connects again, and the shell sends its last output once more.
import { FitAddon, Terminal } from "../vendor/xterm.js";
import { say } from "./words.js";

const LONGEST_PAUSE = 8000; // ms between two tries
const box = document.getElementById("terminal");
const note = document.getElementById("note");
const shell = new URLSearchParams(location.search).get("shell") ?? "1";
const address = new URL(`ws?shell=${encodeURIComponent(shell)}`, location.href);
address.protocol = address.protocol.replace("http", "ws");

const { backgroundColor: background, color: foreground } = getComputedStyle(document.body);

const terminal = new Terminal({
  cursorBlink: true,
  fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
  fontSize: 14,
  scrollback: 10_000,
  theme: { background, foreground, cursor: foreground },
});
const fit = new FitAddon();
terminal.loadAddon(fit);
terminal.open(box);
fit.fit();
terminal.focus();

const bytes = new TextEncoder();
let socket = null;
let pause = 500;
let hasEnded = false;
let isReader = false; // the gateway drops what somebody sends who only looks

function tell(text) {
  note.textContent = text;
  note.hidden = !text;
}

function sendSize() {
  if (!isReader && socket?.readyState === WebSocket.OPEN)
    socket.send(JSON.stringify({ size: [terminal.cols, terminal.rows] }));
}

function connect() {
  hasEnded = false;
  socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    pause = 500;
    tell("");
    terminal.reset();
    sendSize();
  });
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") {
      terminal.write(new Uint8Array(data));
      return;
    }
    const told = JSON.parse(data);
    if (told.look) {
      isReader = true;
      terminal.resize(...told.look);
      terminal.options.disableStdin = true;
      tell(say("You can only look: the session is shared with you without input."));
    } else if ("ended" in told) {
      hasEnded = true;
      tell(
        isReader
          ? say("The shell has ended.")
          : say("The shell has ended. Press Enter to start a new one."),
      );
      socket.close();
    }
  });
  socket.addEventListener("close", () => {
    if (hasEnded) return;
    tell(say("The connection was interrupted. Trying again…"));
    setTimeout(again, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  });
}

// The gateway says whether the session has ended (sessions/kind.py); nobody else can know.
async function again() {
  const answer = await fetch("status").catch(() => null);
  const text = answer?.status === 502 ? await answer.text() : "";
  if (!/session has ended/.test(text)) return connect();
  tell(say("The session has ended."));
  if (!note.dataset.page) return;
  const link = document.createElement("a");
  link.href = note.dataset.page;
  link.textContent = say("View session", { context: "text, terminal" });
  note.append(" ", link);
}

terminal.onData((text) => {
  if (isReader) return;
  if (hasEnded && text === "\r") connect();
  else if (socket.readyState === WebSocket.OPEN) socket.send(bytes.encode(text));
});
terminal.onBinary((text) => {
  if (socket.readyState === WebSocket.OPEN)
    socket.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
});
terminal.onResize(sendSize);
new ResizeObserver(() => isReader || fit.fit()).observe(box);
connect();
