"""Trains a small autoencoder with the Trainer of Lightning, with a validation after each epoch.

steps: 40
"""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitAutoEncoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(28 * 28, 64), nn.ReLU(), nn.Linear(64, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 28 * 28))

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def loss(self, batch):
        x, _ = batch
        x = x.view(x.size(0), -1)
        return nn.functional.mse_loss(self.decoder(self.encoder(x)), x)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def images(count):
    return TensorDataset(torch.rand(count, 1, 28, 28), torch.randint(0, 10, (count,)))


def main():
    torch.set_num_threads(1)
    L.seed_everything(0)
    trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False,
                        log_every_n_steps=5)
    trainer.fit(LitAutoEncoder(), DataLoader(images(320), batch_size=32, shuffle=True),
                DataLoader(images(96), batch_size=32))
    print("steps:", trainer.global_step)
    assert trainer.global_step == 40


if __name__ == "__main__":
    main()
