"""Trains with Ray: two actors compute gradients, the driver applies them and sends new weights (a parameter server).

steps: 30
"""
import ray
import torch
import torch.nn.functional as F
from torch import nn


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))


@ray.remote
class DataWorker:
    def __init__(self, seed):
        torch.set_num_threads(1)
        self.model, self.generator = build(), torch.Generator().manual_seed(seed)

    def compute_gradients(self, weights):
        self.model.load_state_dict(weights)
        data = torch.rand(64, 20, generator=self.generator)
        target = torch.randint(0, 5, (64,), generator=self.generator)
        self.model.zero_grad()
        F.cross_entropy(self.model(data), target).backward()
        return [p.grad for p in self.model.parameters()]


def main():
    torch.set_num_threads(1)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    workers = [DataWorker.remote(seed) for seed in range(2)]
    steps = 0
    for _ in range(30):
        weights = ray.put(model.state_dict())
        gradients = ray.get([worker.compute_gradients.remote(weights) for worker in workers])
        optimizer.zero_grad()
        for parameter, *values in zip(model.parameters(), *gradients):
            parameter.grad = torch.stack(values).sum(0)
        optimizer.step()
        steps += 1
    ray.shutdown()
    print("steps:", steps)
    assert steps == 30


if __name__ == "__main__":
    main()
