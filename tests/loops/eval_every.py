"""Training with an evaluation of the held-out data every ten steps.

steps: 60
"""

import torch
from torch import nn

torch.manual_seed(17)
torch.set_num_threads(1)

max_iters, eval_interval, eval_iters, batch, block, vocab = 60, 10, 5, 8, 16, 65
data = torch.randint(0, vocab, (10000,))
train_data, val_data = data[:9000], data[9000:]


class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.block = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, x, y):
        logits = self.head(self.block(self.embed(x)))
        return nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())


def get_batch(source):
    ix = torch.randint(len(source) - block, (batch,))
    x = torch.stack([source[i:i + block] for i in ix])
    y = torch.stack([source[i + 1:i + block + 1] for i in ix])
    return x, y


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = [model(*get_batch(val_data)).item() for _ in range(eval_iters)]
    model.train()
    return sum(losses) / len(losses)


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
steps = 0
for iteration in range(max_iters):
    if iteration % eval_interval == 0:
        print(f"step {iteration}: val loss {estimate_loss():.4f}")
    loss = model(*get_batch(train_data))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    steps += 1

print("steps:", steps)
