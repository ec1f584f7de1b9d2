"""Trains a small transformer with FSDP2 (fully_shard) on two ranks, as in PyTorch's tutorial.

steps: 25
ranks: 2
launcher: torchrun
"""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Transformer(nn.Module):
    def __init__(self, vocab=200, dim=64, layers=3):
        super().__init__()
        self.embeddings = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.1, batch_first=True)
                                    for _ in range(layers))
        self.output = nn.Linear(dim, vocab)

    def forward(self, tokens):
        h = self.embeddings(tokens)
        for layer in self.layers:
            h = layer(h)
        return self.output(h)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = Transformer()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optim = torch.optim.Adam(model.parameters(), lr=1e-2)
    steps = 0
    for _ in range(25):
        x = torch.randint(0, 200, (4, 24))
        loss = model(x).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optim.step()
        optim.zero_grad()
        steps += 1
    print("steps:", steps)
    assert steps == 25
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
