"""Greedy decoding of a small GPT, one token at a time over the full prefix.

steps: 60
"""

import torch
from torch import nn

torch.manual_seed(12)
torch.set_num_threads(1)


class GPT(nn.Module):
    def __init__(self, vocab=512, width=128, heads=4, depth=4, context=128):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.position = nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, idx):
        length = idx.size(1)
        x = self.token(idx) + self.position(torch.arange(length))
        mask = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
        return self.head(self.norm(self.blocks(x, mask)))


@torch.no_grad()
def generate(model, idx, max_new_tokens):
    for _ in range(max_new_tokens):
        logits = model(idx)
        next_token = logits[:, -1, :].argmax(dim=-1, keepdim=True)
        idx = torch.cat([idx, next_token], dim=1)
    return idx


model = GPT().eval()
prompt = torch.randint(0, 512, (1, 16))
output = generate(model, prompt, 60)
print(output[0].tolist())
print("steps:", output.size(1) - prompt.size(1))
