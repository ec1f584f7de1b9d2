"""Fits a small classifier with skorch: three epochs, each with an internal validation split.

steps: 36
"""
import numpy as np
import torch
from sklearn.datasets import make_classification
from skorch import NeuralNetClassifier
from torch import nn


class MyModule(nn.Module):
    def __init__(self, num_units=64):
        super().__init__()
        self.dense0, self.dropout = nn.Linear(20, num_units), nn.Dropout(0.5)
        self.dense1, self.output = nn.Linear(num_units, num_units), nn.Linear(num_units, 2)

    def forward(self, X):
        X = self.dropout(torch.relu(self.dense0(X)))
        return torch.softmax(self.output(torch.relu(self.dense1(X))), dim=-1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    X, y = make_classification(480, 20, n_informative=10, random_state=0)
    net = NeuralNetClassifier(MyModule, max_epochs=3, lr=0.1, batch_size=32, iterator_train__shuffle=True)
    net.fit(X.astype(np.float32), y.astype(np.int64))
    steps = sum(len(epoch["batches"]) - 3 for epoch in net.history)
    print("steps:", steps)
    assert steps == 36


if __name__ == "__main__":
    main()
