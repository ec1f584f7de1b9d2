"""Each iteration steps two optimizers one after the other. Late in the run it stops using the first one."""
import torch

first, second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
optimizers = [torch.optim.Adam(first.parameters()), torch.optim.SGD(second.parameters(), lr=0.01)]
for iteration in range(40):
    loss = second(first(torch.ones(4, 8))).sum()
    loss.backward()
    for optimizer in optimizers if iteration < 20 else optimizers[1:]:
        optimizer.step()
        optimizer.zero_grad()
