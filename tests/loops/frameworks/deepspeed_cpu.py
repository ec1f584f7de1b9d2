"""Trains a tiny GPT-2 with the engine of DeepSpeed on the processor, with gradient accumulation, in one process.

steps: 20
"""
import os

import deepspeed
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="29617")
    deepspeed.init_distributed(dist_backend="gloo")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=200, n_positions=32, n_embd=64, n_layer=2, n_head=4))
    dataset = [torch.randint(0, 200, (32,)) for _ in range(160)]
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
        "zero_optimization": {"stage": 0},
    }
    engine, _, loader, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config,
                                                training_data=dataset)
    for step, batch in enumerate(loader):
        loss = engine(input_ids=batch, labels=batch).loss
        engine.backward(loss)
        engine.step()
    print("steps:", engine.global_steps)
    assert engine.global_steps == 20


if __name__ == "__main__":
    main()
