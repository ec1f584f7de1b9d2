"""Linear layers trained by hand: p -= lr * p.grad, without torch.optim.

steps: 60
"""

import math

import torch

torch.manual_seed(16)
torch.set_num_threads(1)

lr = 0.1
batch_size = 64
x_train = torch.randn(60 * batch_size, 256)
y_train = torch.randint(0, 10, (60 * batch_size,))

w1 = (torch.randn(256, 256) / math.sqrt(256)).requires_grad_()
b1 = torch.zeros(256, requires_grad=True)
w2 = (torch.randn(256, 10) / math.sqrt(256)).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
parameters = [w1, b1, w2, b2]

steps = 0
for i in range(60):
    xb = x_train[i * batch_size:(i + 1) * batch_size]
    yb = y_train[i * batch_size:(i + 1) * batch_size]
    hidden = (xb @ w1 + b1).relu()
    loss = torch.nn.functional.cross_entropy(hidden @ w2 + b2, yb)
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= lr * p.grad
            p.grad.zero_()
    steps += 1
    if i % 10 == 0:
        print(f"step {i}: loss {loss.item():.4f}")

print("steps:", steps)
