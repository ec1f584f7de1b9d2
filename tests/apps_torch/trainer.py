"""A training loop as in frameworks, in one process: a Trainer with callbacks, gradient accumulation, clipping, a
learning rate schedule, evaluation and checkpoints."""
import argparse
import io

import torch
from torch.utils.data import DataLoader, TensorDataset

from operator_counts import OperatorCounts


class Trainer:
    def __init__(self, model, train_data, test_data, callbacks=(), accumulate=2, steps=20):
        self.model, self.steps, self.accumulate, self.callbacks = model, steps, accumulate, callbacks
        self.train_data = DataLoader(train_data, batch_size=8, shuffle=True, drop_last=True)
        self.test_data = DataLoader(test_data, batch_size=8)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1 - step / (2 * steps))
        self.loss_function = torch.nn.CrossEntropyLoss()
        self.losses = []

    def batches(self):
        while True:
            yield from self.train_data

    def training_step(self, batch):
        values, labels = batch
        loss = self.loss_function(self.model(values), labels) / self.accumulate
        loss.backward()
        return loss.detach()

    def train(self):
        batches = self.batches()
        for step in range(self.steps):
            self.model.train()
            loss = sum(self.training_step(next(batches)) for _ in range(self.accumulate))
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            for callback in self.callbacks:
                callback(step)
            self.schedule.step()
            self.optimizer.zero_grad()
            self.losses.append(loss.item())
            if step % 5 == 2:
                self.evaluate()
                self.save()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = sum((self.model(values).argmax(1) == labels).sum().item() for values, labels in self.test_data)
        print(f"right {right}")

    def save(self):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, io.BytesIO())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    options = parser.parse_args()
    torch.manual_seed(0)
    values = torch.randn(256, 16)
    labels = (values.sum(1) > 0).long()
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 2))
    counts = OperatorCounts(options.counts)
    trainer = Trainer(
        model, TensorDataset(values[:192], labels[:192]), TensorDataset(values[192:], labels[192:]), [counts.after_step]
    )
    trainer.train()
    print(f"loss {trainer.losses[-1]:.6f}")
    counts.write()


if __name__ == "__main__":
    main()
