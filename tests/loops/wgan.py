"""Wasserstein GAN: five critic steps with RMSprop, then one generator step.

steps: 40
"""

import torch
from torch import nn

torch.manual_seed(5)
torch.set_num_threads(1)

latent, features, batch = 32, 64, 64
generator = nn.Sequential(
    nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, features)
)
critic = nn.Sequential(
    nn.Linear(features, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)
)
optimizer_g = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
optimizer_c = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
data = torch.randn(4096, features) * 0.5 + 1.0

steps = 0
for iteration in range(40):
    for _ in range(5):
        real = data[torch.randint(0, len(data), (batch,))]
        fake = generator(torch.randn(batch, latent)).detach()
        optimizer_c.zero_grad()
        loss_c = critic(fake).mean() - critic(real).mean()
        loss_c.backward()
        optimizer_c.step()
        for p in critic.parameters():
            p.data.clamp_(-0.01, 0.01)

    optimizer_g.zero_grad()
    loss_g = -critic(generator(torch.randn(batch, latent))).mean()
    loss_g.backward()
    optimizer_g.step()
    steps += 1
    if iteration % 10 == 0:
        print(f"{iteration}: critic {loss_c.item():.5f} generator {loss_g.item():.5f}")

print("steps:", steps)
