"""Trains a small GAN with Lightning: manual optimization with two optimizers.

steps: 30
"""
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GAN(L.LightningModule):
    def __init__(self, latent_dim=16):
        super().__init__()
        self.automatic_optimization = False
        self.latent_dim = latent_dim
        self.generator = nn.Sequential(nn.Linear(latent_dim, 64), nn.LeakyReLU(0.2), nn.Linear(64, 196), nn.Tanh())
        self.discriminator = nn.Sequential(nn.Linear(196, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        self.batches = 0

    def training_step(self, batch):
        imgs, = batch
        optimizer_g, optimizer_d = self.optimizers()
        z = torch.randn(imgs.shape[0], self.latent_dim)
        ones, zeros = torch.ones(imgs.size(0), 1), torch.zeros(imgs.size(0), 1)

        self.toggle_optimizer(optimizer_g)
        g_loss = F.binary_cross_entropy_with_logits(self.discriminator(self.generator(z)), ones)
        self.log("g_loss", g_loss, prog_bar=True)
        self.manual_backward(g_loss)
        optimizer_g.step()
        optimizer_g.zero_grad()
        self.untoggle_optimizer(optimizer_g)

        self.toggle_optimizer(optimizer_d)
        real_loss = F.binary_cross_entropy_with_logits(self.discriminator(imgs), ones)
        fake_loss = F.binary_cross_entropy_with_logits(self.discriminator(self.generator(z).detach()), zeros)
        d_loss = (real_loss + fake_loss) / 2
        self.log("d_loss", d_loss, prog_bar=True)
        self.manual_backward(d_loss)
        optimizer_d.step()
        optimizer_d.zero_grad()
        self.untoggle_optimizer(optimizer_d)
        self.batches += 1

    def configure_optimizers(self):
        return [torch.optim.Adam(self.generator.parameters(), lr=2e-4, betas=(0.5, 0.999)),
                torch.optim.Adam(self.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))], []


def main():
    torch.set_num_threads(1)
    L.seed_everything(0)
    model = GAN()
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(model, DataLoader(TensorDataset(torch.rand(320, 196)), batch_size=32, shuffle=True))
    print("steps:", model.batches)
    assert model.batches == 30


if __name__ == "__main__":
    main()
