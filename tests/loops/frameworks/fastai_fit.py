"""Trains a small network with the Learner of fastai, one cycle of three epochs with validation.

steps: 30
"""
import torch
from fastai.basics import DataLoader, DataLoaders, Learner, accuracy
from fastai.callback.schedule import fit_one_cycle  # noqa: F401 (a method of Learner)
from torch import nn
from torch.utils.data import TensorDataset


def samples(count):
    return TensorDataset(torch.rand(count, 20), torch.randint(0, 5, (count,)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dls = DataLoaders(DataLoader(samples(320), bs=32, shuffle=True, num_workers=0),
                      DataLoader(samples(96), bs=32, num_workers=0))
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 5))
    learn = Learner(dls, model, loss_func=nn.CrossEntropyLoss(), metrics=accuracy)
    with learn.no_bar():
        learn.fit_one_cycle(3, 1e-2)
    steps = len(learn.recorder.losses)
    print("steps:", steps)
    assert steps == 30


if __name__ == "__main__":
    main()
