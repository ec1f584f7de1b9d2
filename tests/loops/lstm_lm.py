"""LSTM language model trained by truncated backpropagation through time.

steps: 56
"""

import torch
from torch import nn

torch.manual_seed(22)
torch.set_num_threads(1)

vocab, width, batch_size, bptt, lr = 100, 48, 8, 20, 5.0


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width, 2, dropout=0.2)
        self.decoder = nn.Linear(width, vocab)

    def forward(self, data, hidden):
        output, hidden = self.rnn(self.encoder(data), hidden)
        return self.decoder(output), hidden


def get_batch(source, i):
    length = min(bptt, len(source) - 1 - i)
    return source[i:i + length], source[i + 1:i + 1 + length].reshape(-1)


train_data = torch.randint(0, vocab, (batch_size, 28 * bptt + 1)).t().contiguous()
model = RNNModel()
criterion = nn.CrossEntropyLoss()

steps = 0
for epoch in range(2):
    model.train()
    hidden = (torch.zeros(2, batch_size, width), torch.zeros(2, batch_size, width))
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        model.zero_grad()
        hidden = tuple(h.detach() for h in hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, vocab), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        steps += 1
        if batch % 10 == 0:
            print(f"epoch {epoch} batch {batch}: loss {loss.item():.3f}")

print("steps:", steps)
