"""REINFORCE: episodes of varying length, one policy update per episode.

steps: 15
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(7)
torch.set_num_threads(1)


class CorridorEnv:
    def reset(self):
        self.position, self.t = 0.0, 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.position, self.t / 200.0, 1.0, 0.0])

    def step(self, action):
        self.position += (1 if action == 1 else -1) + 0.3 * torch.randn(1).item()
        self.t += 1
        done = abs(self.position) > 12 or self.t >= 200
        return self.observe(), 1.0, done


env = CorridorEnv()
policy = nn.Sequential(nn.Linear(4, 128), nn.Dropout(0.6), nn.ReLU(), nn.Linear(128, 2), nn.Softmax(-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

steps = 0
for episode in range(15):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = Categorical(policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)

    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = torch.stack([-p * r for p, r in zip(log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    steps += 1
    print(f"episode {episode}: length {len(rewards)}")

print("steps:", steps)
