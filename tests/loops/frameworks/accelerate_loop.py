"""Trains a tiny BERT classifier with Accelerate: gradient accumulation and an evaluation after each epoch.

steps: 24
"""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup


def samples(count):
    return [{"input_ids": torch.randint(0, 300, (24,)), "labels": torch.randint(0, 2, ())} for _ in range(count)]


def main():
    torch.set_num_threads(1)
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    train_dataloader = DataLoader(samples(128), shuffle=True, batch_size=8)
    eval_dataloader = DataLoader(samples(32), batch_size=8)
    model = BertForSequenceClassification(BertConfig(vocab_size=300, hidden_size=64, num_hidden_layers=2,
                                                     num_attention_heads=4, intermediate_size=128))
    optimizer = AdamW(params=model.parameters(), lr=1e-3)
    scheduler = get_linear_schedule_with_warmup(optimizer, 5, 48)
    model, optimizer, train_dataloader, eval_dataloader, scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, scheduler)
    steps = 0
    for epoch in range(3):
        model.train()
        for batch in train_dataloader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                    steps += 1
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        model.eval()
        correct = 0
        for batch in eval_dataloader:
            with torch.no_grad():
                outputs = model(**batch)
            predictions = outputs.logits.argmax(dim=-1)
            predictions, references = accelerator.gather_for_metrics((predictions, batch["labels"]))
            correct += (predictions == references).sum().item()
        accelerator.print(f"epoch {epoch}: accuracy {correct / 32:.2f}")
    print("steps:", steps)
    assert steps == 24


if __name__ == "__main__":
    main()
