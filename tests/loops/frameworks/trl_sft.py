"""Fine-tunes a tiny Qwen2 with the SFTTrainer of TRL on tokenized examples, with gradient accumulation.

steps: 20
"""
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import SFTConfig, SFTTrainer


def word_tokenizer():
    words = ["<pad>", "<unk>", "<eos>"] + [f"word{number}" for number in range(200)]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>",
                                   eos_token="<eos>")


def main():
    torch.set_num_threads(1)
    set_seed(0)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=203, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64))
    words = torch.randint(0, 200, (160, 20)).tolist()
    dataset = Dataset.from_dict({"text": [" ".join(f"word{number}" for number in row) for row in words]})
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, gradient_accumulation_steps=2,
                       num_train_epochs=1, max_length=32, logging_steps=5, save_strategy="no", report_to="none",
                       use_cpu=True, bf16=False, gradient_checkpointing=False),
        train_dataset=dataset,
        processing_class=word_tokenizer(),
    )
    trainer.train()
    print("steps:", trainer.state.global_step)
    assert trainer.state.global_step == 20


if __name__ == "__main__":
    main()
