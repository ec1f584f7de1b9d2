"""MAML on sine waves: three inner gradient steps per task, four tasks a step.

steps: 30
"""

import math

import torch
import torch.nn.functional as F

torch.manual_seed(23)
torch.set_num_threads(1)

INNER_STEPS, INNER_LR, TASKS, SHOTS = 3, 0.01, 4, 20


def init_layer(n_in, n_out):
    weight = torch.randn(n_out, n_in) / math.sqrt(n_in)
    return [weight.requires_grad_(), torch.zeros(n_out, requires_grad=True)]


def forward(params, x):
    x = F.relu(F.linear(x, params[0], params[1]))
    x = F.relu(F.linear(x, params[2], params[3]))
    return F.linear(x, params[4], params[5])


def sample_task():
    amplitude = torch.rand(1) * 4.9 + 0.1
    phase = torch.rand(1) * math.pi

    def sample(n):
        x = torch.rand(n, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)

    return sample


meta_params = init_layer(1, 64) + init_layer(64, 64) + init_layer(64, 1)
meta_optimizer = torch.optim.Adam(meta_params, lr=1e-3)

steps = 0
for iteration in range(30):
    meta_optimizer.zero_grad()
    meta_loss = 0.0
    for _ in range(TASKS):
        task = sample_task()
        x_support, y_support = task(SHOTS)
        params = meta_params
        for _ in range(INNER_STEPS):
            loss = F.mse_loss(forward(params, x_support), y_support)
            grads = torch.autograd.grad(loss, params, create_graph=True)
            params = [p - INNER_LR * g for p, g in zip(params, grads)]
        x_query, y_query = task(SHOTS)
        meta_loss = meta_loss + F.mse_loss(forward(params, x_query), y_query)
    (meta_loss / TASKS).backward()
    meta_optimizer.step()
    steps += 1

print("steps:", steps)
