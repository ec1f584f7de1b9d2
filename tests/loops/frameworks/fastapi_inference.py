"""Serves a small transformer with FastAPI and Uvicorn; a client thread sends 40 requests.

steps: 40
"""
import json
import threading
import time
import urllib.request

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
app = FastAPI()
embedding = nn.Embedding(200, 64)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3).eval()
head = nn.Linear(64, 4)
answered = []


class Request(BaseModel):
    tokens: list[int]


@app.post("/predict")
def predict(request: Request):
    with torch.no_grad():
        hidden = encoder(embedding(torch.tensor([request.tokens])))
        return {"label": head(hidden.mean(dim=1)).argmax(-1).item()}


def client(server, port):
    while not server.started:
        time.sleep(0.05)
    for number in range(40):
        body = json.dumps({"tokens": [(number * 7 + k) % 200 for k in range(24)]}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/predict", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            answered.append(json.load(response)["label"])
        time.sleep(0.01)
    server.should_exit = True


def main():
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=18761, log_level="warning"))
    thread = threading.Thread(target=client, args=(server, 18761))
    thread.start()
    server.run()
    thread.join()
    print("steps:", len(answered))
    assert len(answered) == 40


if __name__ == "__main__":
    main()
