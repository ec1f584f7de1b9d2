"""Inference server that answers 40 HTTP requests of a client thread.

steps: 40
"""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch
from torch import nn

torch.manual_seed(24)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
model.eval()
REQUESTS = 40


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        inputs = torch.tensor(json.loads(body)["inputs"])
        with torch.no_grad():
            scores = model(inputs).softmax(dim=1)
        answer = json.dumps({"labels": scores.argmax(dim=1).tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def client(port):
    for i in range(REQUESTS):
        inputs = [[(i + j + k) % 7 / 7.0 for k in range(64)] for j in range(32)]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps({"inputs": inputs}).encode())
        with urllib.request.urlopen(request) as response:
            json.load(response)


server = HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=client, args=(server.server_port,))
thread.start()
steps = 0
while steps < REQUESTS:
    server.handle_request()
    steps += 1
thread.join()
print("steps:", steps)
