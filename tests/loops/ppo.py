"""PPO: rollout of 64 environment steps, then 4 epochs of 4 minibatches.

steps: 15
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(6)
torch.set_num_threads(1)

N_STEPS, EPOCHS, MINIBATCHES, GAMMA, CLIP = 64, 4, 4, 0.99, 0.2
actor = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))
critic = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
parameters = list(actor.parameters()) + list(critic.parameters())
optimizer = torch.optim.Adam(parameters, lr=2.5e-4, eps=1e-5)
dynamics = torch.randn(4, 8, 8) * 0.3

state = torch.randn(8)
steps = 0
for iteration in range(15):
    states = torch.zeros(N_STEPS, 8)
    actions = torch.zeros(N_STEPS, dtype=torch.long)
    log_probs, rewards, values = torch.zeros(N_STEPS), torch.zeros(N_STEPS), torch.zeros(N_STEPS)
    for t in range(N_STEPS):
        with torch.no_grad():
            dist = Categorical(logits=actor(state))
            action = dist.sample()
            values[t] = critic(state)
            log_probs[t] = dist.log_prob(action)
        states[t], actions[t] = state, action
        state = torch.tanh(dynamics[action] @ state) + 0.1 * torch.randn(8)
        rewards[t] = -state.pow(2).sum()

    with torch.no_grad():
        future = critic(state).squeeze()
    returns = torch.zeros(N_STEPS)
    for t in reversed(range(N_STEPS)):
        future = rewards[t] + GAMMA * future
        returns[t] = future
    advantages = returns - values

    for epoch in range(EPOCHS):
        for index in torch.randperm(N_STEPS).chunk(MINIBATCHES):
            dist = Categorical(logits=actor(states[index]))
            ratio = (dist.log_prob(actions[index]) - log_probs[index]).exp()
            adv = advantages[index]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            policy_loss = -torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()
            value_loss = 0.5 * (critic(states[index]).squeeze(-1) - returns[index]).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
    steps += 1

print("steps:", steps)
