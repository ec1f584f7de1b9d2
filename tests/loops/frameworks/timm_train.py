"""Trains a small vision transformer of timm as its train script: its optimizer, scheduler, loss and EMA.

steps: 20
"""
import timm
import torch
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV3, accuracy
from torch.utils.data import DataLoader, TensorDataset


def images(count):
    return TensorDataset(torch.rand(count, 3, 32, 32), torch.randint(0, 10, (count,)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=3, num_heads=3,
                              num_classes=10)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=20, t_in_epochs=False)
    model_ema = ModelEmaV3(model, decay=0.99)
    loss_fn = LabelSmoothingCrossEntropy(0.1)
    loader_train = DataLoader(images(160), batch_size=16, shuffle=True, drop_last=True)
    loader_eval = DataLoader(images(48), batch_size=16)
    num_updates = 0
    for epoch in range(2):
        model.train()
        losses_m, top1_m = AverageMeter(), AverageMeter()
        for input, target in loader_train:
            loss = loss_fn(model(input), target)
            losses_m.update(loss.item(), input.size(0))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            num_updates += 1
            model_ema.update(model, step=num_updates)
            scheduler.step_update(num_updates=num_updates, metric=losses_m.avg)
        model_ema.eval()
        for input, target in loader_eval:
            with torch.inference_mode():
                top1_m.update(accuracy(model_ema(input), target)[0].item(), input.size(0))
        print(f"epoch {epoch}: loss {losses_m.avg:.3f} top1 {top1_m.avg:.1f}")
    print("steps:", num_updates)
    assert num_updates == 20


if __name__ == "__main__":
    main()
