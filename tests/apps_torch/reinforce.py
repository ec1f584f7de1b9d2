"""Reinforcement learning in two phases: each step is a rollout without gradients and an update."""
import argparse

import torch
from torch.profiler import record_function

from operator_counts import OperatorCounts

STEPS, LENGTH = 20, 8

parser = argparse.ArgumentParser()
parser.add_argument("--counts")
options = parser.parse_args()

torch.manual_seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
counts = OperatorCounts(options.counts)


@torch.no_grad()
def rollout():
    state, states, actions, rewards = torch.zeros(16, 4), [], [], []
    for _ in range(LENGTH):
        action = torch.multinomial(torch.softmax(policy(state), dim=1), 1)
        states.append(state)
        actions.append(action)
        state = state.roll(1, dims=1) * 0.9 + action
        rewards.append(-state.mean(dim=1, keepdim=True).abs())
    return torch.cat(states), torch.cat(actions), torch.cat(rewards)


def update(states, actions, rewards):
    chosen = torch.log_softmax(policy(states), dim=1).gather(1, actions)
    loss = -(chosen * (rewards - rewards.mean())).mean()
    loss.backward()
    optimizer.step()


for step in range(STEPS):
    with record_function("rollout"):
        gathered = rollout()
    update(*gathered)
    counts.after_step(step)
    optimizer.zero_grad()

print(f"policy {sum(p.abs().sum() for p in policy.parameters()).item():.6f}")
counts.write()
