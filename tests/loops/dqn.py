"""DQN: replay buffer, one optimization per environment step after warm-up.

steps: 80
"""

import random
from collections import deque

import torch
from torch import nn

random.seed(8)
torch.manual_seed(8)
torch.set_num_threads(1)

BATCH_SIZE, GAMMA, TAU, WARM_UP = 64, 0.99, 0.005, 64


def make_net():
    return nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))


policy_net, target_net = make_net(), make_net()
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)
memory = deque(maxlen=10000)
dynamics = torch.randn(4, 8, 8) * 0.3

state = torch.randn(8)
steps = 0
for t in range(WARM_UP + 80):
    if random.random() < max(0.05, 0.9 - t * 0.01):
        action = random.randrange(4)
    else:
        with torch.no_grad():
            action = policy_net(state).argmax().item()
    next_state = torch.tanh(dynamics[action] @ state) + 0.1 * torch.randn(8)
    memory.append((state, action, -next_state.norm(), next_state))
    state = next_state
    if len(memory) <= WARM_UP:
        continue

    states, actions, rewards, next_states = zip(*random.sample(memory, BATCH_SIZE))
    states, next_states, rewards = torch.stack(states), torch.stack(next_states), torch.stack(rewards)
    actions = torch.tensor(actions).unsqueeze(1)
    q = policy_net(states).gather(1, actions).squeeze(1)
    with torch.no_grad():
        expected = rewards + GAMMA * target_net(next_states).max(1)[0]
    loss = nn.functional.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    with torch.no_grad():
        for target, source in zip(target_net.parameters(), policy_net.parameters()):
            target.lerp_(source, TAU)
    steps += 1

print("steps:", steps)
