"""Trains SAC in one file as CleanRL does: per iteration an action and, after the start, updates of critics and actor.

steps: 60
"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim


class Critic(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, a):
        return super().forward(torch.cat([x, a], 1))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 64), nn.Linear(64, 64)
        self.fc_mean, self.fc_logstd = nn.Linear(64, 1), nn.Linear(64, 1)

    def get_action(self, x):
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        normal = torch.distributions.Normal(self.fc_mean(x), self.fc_logstd(x).tanh().exp())
        x_t = normal.rsample()
        action = torch.tanh(x_t)
        return action, (normal.log_prob(x_t) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)


def main(learning_starts=10, policy_frequency=2, alpha=0.2, gamma=0.99, tau=0.005):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    actor, qf1, qf2, qf1_target, qf2_target = Actor(), Critic(), Critic(), Critic(), Critic()
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=1e-3)
    actor_optimizer = optim.Adam(actor.parameters(), lr=3e-4)
    buffer, obs, updates = [], rng.standard_normal(3).astype(np.float32), 0
    for global_step in range(70):
        if global_step < learning_starts:
            action = rng.uniform(-1, 1, 1).astype(np.float32)
        else:
            action = actor.get_action(torch.tensor(obs[None]))[0].detach().numpy()[0]
        next_obs = (0.9 * obs + 0.1 * action + 0.01 * rng.standard_normal(3)).astype(np.float32)
        buffer.append((obs, action, np.float32(-abs(next_obs).sum()), next_obs))
        obs = next_obs
        if global_step >= learning_starts:
            rows = [buffer[i] for i in rng.integers(0, len(buffer), 64)]
            x, a, r, x2 = (torch.tensor(np.stack(column)) for column in zip(*rows))
            with torch.no_grad():
                a2, log_pi2 = actor.get_action(x2)
                target = torch.min(qf1_target(x2, a2), qf2_target(x2, a2)) - alpha * log_pi2
                next_q = r[:, None] + gamma * target
            qf_loss = F.mse_loss(qf1(x, a), next_q) + F.mse_loss(qf2(x, a), next_q)
            q_optimizer.zero_grad()
            qf_loss.backward()
            q_optimizer.step()
            if global_step % policy_frequency == 0:
                for _ in range(policy_frequency):
                    pi, log_pi = actor.get_action(x)
                    actor_loss = (alpha * log_pi - torch.min(qf1(x, pi), qf2(x, pi))).mean()
                    actor_optimizer.zero_grad()
                    actor_loss.backward()
                    actor_optimizer.step()
            for q, t in ((qf1, qf1_target), (qf2, qf2_target)):
                for param, target_param in zip(q.parameters(), t.parameters()):
                    target_param.data.copy_(tau * param.data + (1 - tau) * target_param.data)
            updates += 1
    print("steps:", updates)
    assert updates == 60


if __name__ == "__main__":
    main()
