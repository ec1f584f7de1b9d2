"""Trains a tiny GPT-2 with the Trainer of transformers, in bfloat16 on a GPU. Prints its steps.

steps: 30
"""
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


def main():
    set_seed(0)
    tokens = torch.randint(0, 200, (480, 32))
    data = [{"input_ids": row, "labels": row} for row in tokens]
    model = GPT2LMHeadModel(GPT2Config(vocab_size=200, n_positions=32, n_embd=128, n_layer=2, n_head=4,
                                       bos_token_id=0, eos_token_id=0))
    arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=16, num_train_epochs=1,
                                  bf16=torch.cuda.is_available(), save_strategy="no", report_to="none",
                                  disable_tqdm=True, logging_strategy="no")
    trainer = Trainer(model=model, args=arguments, train_dataset=data)
    trainer.train()
    print(f"{trainer.state.global_step} steps on {model.device.type}")


if __name__ == "__main__":
    main()
