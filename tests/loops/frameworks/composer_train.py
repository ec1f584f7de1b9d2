"""Trains a small convolutional classifier with the Trainer of MosaicML's Composer, with an algorithm and evaluation.

steps: 30
"""
import torch
from composer import Trainer
from composer.algorithms import LabelSmoothing
from composer.models import ComposerClassifier
from composer.optim import DecoupledAdamW, LinearScheduler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        return self.head(x.mean(dim=(2, 3)))


def images(count):
    return TensorDataset(torch.rand(count, 1, 16, 16), torch.randint(0, 10, (count,)))


def main():
    torch.set_num_threads(1)
    model = ComposerClassifier(Net(), num_classes=10)
    trainer = Trainer(
        model=model,
        train_dataloader=DataLoader(images(320), batch_size=32, shuffle=True),
        eval_dataloader=DataLoader(images(64), batch_size=32),
        max_duration="3ep",
        optimizers=DecoupledAdamW(model.parameters(), lr=1e-2),
        schedulers=LinearScheduler(alpha_i=1.0, alpha_f=0.1),
        algorithms=[LabelSmoothing(0.1)],
        device="cpu",
        seed=17,
        progress_bar=False,
        auto_log_hparams=False,
    )
    trainer.fit()
    steps = trainer.state.timestamp.batch.value
    print("steps:", steps)
    assert steps == 30


if __name__ == "__main__":
    main()
