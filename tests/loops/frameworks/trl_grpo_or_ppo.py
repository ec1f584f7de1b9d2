"""Trains a tiny Qwen2 with the GRPOTrainer of TRL: each step generates completions, scores them, and updates.

steps: 15
"""
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer


def word_tokenizer():
    words = ["<pad>", "<unk>", "<eos>"] + [f"word{number}" for number in range(200)]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>",
                                   eos_token="<eos>", padding_side="left")


def reward_num_unique_words(completions, **kwargs):
    return [float(len(set(completion.split()))) for completion in completions]


def main():
    torch.set_num_threads(1)
    set_seed(0)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=203, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                                         eos_token_id=2, pad_token_id=0, bos_token_id=None))
    words = torch.randint(0, 200, (60, 6)).tolist()
    dataset = Dataset.from_dict({"prompt": [" ".join(f"word{number}" for number in row) for row in words]})
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward_num_unique_words,
        args=GRPOConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, num_generations=4,
                        max_completion_length=8, max_steps=15, learning_rate=1e-4, logging_steps=5,
                        save_strategy="no", report_to="none", use_cpu=True, bf16=False,
                        gradient_checkpointing=False),
        train_dataset=dataset,
        processing_class=word_tokenizer(),
    )
    trainer.train()
    print("steps:", trainer.state.global_step)
    assert trainer.state.global_step == 15


if __name__ == "__main__":
    main()
