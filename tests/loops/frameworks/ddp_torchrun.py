"""Trains a small network with DistributedDataParallel on two ranks, as in PyTorch's series on torchrun.

steps: 40
ranks: 2
launcher: torchrun
"""
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, model, train_data, optimizer, save_every):
        self.rank = int(os.environ["RANK"])
        self.train_data, self.optimizer, self.save_every = train_data, optimizer, save_every
        self.snapshot = os.path.join(tempfile.mkdtemp(), "snapshot.pt")
        self.model, self.steps = DDP(model), 0

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(source), targets)
        loss.backward()
        self.optimizer.step()
        self.steps += 1

    def _run_epoch(self, epoch):
        print(f"[rank {self.rank}] epoch {epoch} | steps: {len(self.train_data)}")
        self.train_data.sampler.set_epoch(epoch)
        for source, targets in self.train_data:
            self._run_batch(source, targets)

    def train(self, max_epochs):
        for epoch in range(max_epochs):
            self._run_epoch(epoch)
            if self.rank == 0 and epoch % self.save_every == 0:
                torch.save({"state": self.model.module.state_dict(), "epoch": epoch}, self.snapshot)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    init_process_group("gloo")
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                                torch.nn.Linear(64, 5))
    dataset = TensorDataset(torch.rand(640, 20), torch.randint(0, 5, (640,)))
    loader = DataLoader(dataset, batch_size=32, shuffle=False, sampler=DistributedSampler(dataset))
    trainer = Trainer(model, loader, torch.optim.SGD(model.parameters(), lr=1e-3), save_every=2)
    trainer.train(max_epochs=4)
    destroy_process_group()
    print("steps:", trainer.steps)
    assert trainer.steps == 40


if __name__ == "__main__":
    main()
