"""DDPG: a critic step and an actor step at each environment step.

steps: 80
"""

import copy

import torch
from torch import nn

torch.manual_seed(9)
torch.set_num_threads(1)

OBS, ACT, BATCH, GAMMA, TAU = 12, 3, 64, 0.99, 0.005
actor = nn.Sequential(nn.Linear(OBS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, ACT), nn.Tanh())
critic = nn.Sequential(nn.Linear(OBS + ACT, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
A, B = torch.randn(OBS, OBS) * 0.2, torch.randn(OBS, ACT) * 0.3

size = 1000
obs_buf, next_buf = torch.zeros(size, OBS), torch.zeros(size, OBS)
act_buf, rew_buf = torch.zeros(size, ACT), torch.zeros(size, 1)

# Random actions fill the buffer before the training starts.
obs = torch.randn(OBS)
steps = 0
for t in range(100 + 80):
    if t < 100:
        action = torch.rand(ACT) * 2 - 1
    else:
        with torch.no_grad():
            action = (actor(obs) + 0.1 * torch.randn(ACT)).clamp(-1, 1)
    next_obs = torch.tanh(A @ obs + B @ action)
    obs_buf[t], act_buf[t], next_buf[t], rew_buf[t] = obs, action, next_obs, -next_obs.norm()
    obs = next_obs
    if t < 100:
        continue

    idx = torch.randint(0, t + 1, (BATCH,))
    o, a, r, o2 = obs_buf[idx], act_buf[idx], rew_buf[idx], next_buf[idx]
    with torch.no_grad():
        target = r + GAMMA * critic_target(torch.cat([o2, actor_target(o2)], 1))
    critic_loss = nn.functional.mse_loss(critic(torch.cat([o, a], 1)), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([o, actor(o)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

    for net, net_target in ((actor, actor_target), (critic, critic_target)):
        for p, p_target in zip(net.parameters(), net_target.parameters()):
            p_target.data.mul_(1 - TAU).add_(TAU * p.data)
    steps += 1

print("steps:", steps)
