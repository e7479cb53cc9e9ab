"""A job that serves a page, and echoes websockets, on the port that Muster chose for it."""

from __future__ import annotations

# Serves its folder, and echoes websockets below /ws; shows the cookies that it gets.
SERVER = """
import base64, hashlib, os
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/cookies":
            body = f"{self.headers.get('Cookie', '')}|{self.headers.get('Authorization', '')}".encode()
            self.send_response(200)
            self.send_header("Set-Cookie", "mine=1; Domain=localhost; Path=/")
            self.send_header("Set-Cookie", "muster_session=evil; Path=/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path != "/ws":
            super().do_GET()
        else:
            key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
            self.send_header("Sec-WebSocket-Accept", accept)
            self.end_headers()
            while head := self.rfile.read(2):
                size = head[1] & 127
                mask, data = self.rfile.read(4), self.rfile.read(size)
                data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
                self.wfile.write(bytes([head[0], size]) + data)
            self.close_connection = True

open("index.html", "w").write(
    "<link rel=icon href=data:,><h1>hello from the job</h1><p id=echo></p><script>"
    "const s = new WebSocket(location.origin.replace('http', 'ws') + '/ws');"
    "s.onopen = () => s.send('ping'); s.onmessage = e => { echo.textContent = 'echo ' + e.data };"
    "s.onclose = () => { echo.textContent = 'closed' };</script>")
print("serving", flush=True)
ThreadingHTTPServer(("127.0.0.1", int(os.environ["MUSTER_PORT_WEB"])), Handler).serve_forever()
"""
RUN = f"cat > server.py <<'END'\n{SERVER}\nEND\nexec python3 -u server.py"
