"""Trains an autoencoder with Lightning on whatever accelerator it finds, with a validation in the middle. Prints its steps.

steps: 40
"""
import tempfile

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 784))

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.layers(batch[0]), batch[0])

    def training_step(self, batch, _):
        return self.loss(batch)

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    lightning.seed_everything(0)
    images = TensorDataset(torch.rand(320, 784))
    trainer = lightning.Trainer(max_epochs=1, val_check_interval=20, logger=False, enable_progress_bar=False,
                                enable_model_summary=False, enable_checkpointing=False,
                                default_root_dir=tempfile.mkdtemp())
    trainer.fit(Autoencoder(), DataLoader(images, batch_size=8), DataLoader(images, batch_size=64))
    print(f"{trainer.global_step} steps on {type(trainer.accelerator).__name__}")


if __name__ == "__main__":
    main()
