"""Trains a convolutional network with automatic mixed precision, two worker processes that load data, pinned memory
and a side stream for the copies. Prints its loss.

steps: 40
"""
import torch
from torch.utils.data import DataLoader, TensorDataset

STEPS, BATCH = 40, 32


def network():
    layers, channels = [], 3
    for width in (32, 64, 128):
        layers += [torch.nn.Conv2d(channels, width, 3, stride=2, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
        channels = width
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(channels, 10))


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = network().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device)
    data = TensorDataset(torch.randn(STEPS * BATCH, 3, 64, 64), torch.randint(0, 10, (STEPS * BATCH,)))
    copies = torch.cuda.Stream() if device == "cuda" else None
    for images, labels in DataLoader(data, batch_size=BATCH, num_workers=2, pin_memory=device == "cuda"):
        with torch.cuda.stream(copies):
            images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
            labels = labels.to(device, non_blocking=True)
        if copies:
            torch.cuda.current_stream().wait_stream(copies)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.float16 if device == "cuda" else torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"loss {loss.item():.1f}")


if __name__ == "__main__":
    main()
