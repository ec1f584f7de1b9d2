"""Fine-tunes a tiny Llama with a LoRA adapter of PEFT in the plain loop of its examples, with an evaluation.

steps: 30
"""
import torch
from peft import LoraConfig, TaskType, get_peft_model
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM, get_linear_schedule_with_warmup, set_seed


def samples(count):
    return [{"input_ids": row, "labels": row} for row in torch.randint(0, 300, (count, 24))]


def main():
    torch.set_num_threads(1)
    set_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=3,
                                         num_attention_heads=4, max_position_embeddings=64))
    peft_config = LoraConfig(task_type=TaskType.CAUSAL_LM, r=8, lora_alpha=32, lora_dropout=0.1,
                             target_modules=["q_proj", "v_proj"])
    model = get_peft_model(model, peft_config)
    model.print_trainable_parameters()
    train_dataloader = DataLoader(samples(80), shuffle=True, batch_size=8)
    eval_dataloader = DataLoader(samples(24), batch_size=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    lr_scheduler = get_linear_schedule_with_warmup(optimizer, 0, 30)
    steps = 0
    for epoch in range(3):
        model.train()
        total_loss = 0
        for batch in train_dataloader:
            outputs = model(**batch)
            loss = outputs.loss
            total_loss += loss.detach().float()
            loss.backward()
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
            steps += 1
        model.eval()
        eval_loss = 0
        for batch in eval_dataloader:
            with torch.no_grad():
                outputs = model(**batch)
            eval_loss += outputs.loss.detach().float()
        print(f"{epoch=}: train {total_loss / 10:.3f} eval {eval_loss / 3:.3f}")
    print("steps:", steps)
    assert steps == 30


if __name__ == "__main__":
    main()
