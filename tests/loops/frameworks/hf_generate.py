"""Generates 60 new tokens for a batch of four prompts with generate() of a tiny Llama of Hugging Face.

steps: 60
"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, set_seed


def main():
    torch.set_num_threads(1)
    set_seed(0)
    config = LlamaConfig(vocab_size=500, hidden_size=128, intermediate_size=256, num_hidden_layers=4,
                         num_attention_heads=4, max_position_embeddings=256, bos_token_id=1, eos_token_id=None,
                         pad_token_id=0)
    model = LlamaForCausalLM(config).eval()
    prompts = torch.randint(2, 500, (4, 20))
    output = model.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=60, do_sample=True,
                            top_k=50, temperature=0.8)
    tokens = output.shape[1] - prompts.shape[1]
    print("steps:", tokens)
    assert tokens == 60


if __name__ == "__main__":
    main()
