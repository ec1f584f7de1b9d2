"""Generates tokens with a small GPT-2 of transformers, with random weights. Prints how many it made.

steps: 64
"""
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=4, n_embd=256, vocab_size=1000)).to(device).eval()
    prompt = torch.randint(0, 1000, (4, 16), device=device)
    with torch.no_grad():
        tokens = model.generate(prompt, max_new_tokens=64, min_new_tokens=64, do_sample=False, pad_token_id=0)
    print(f"{tokens.shape[0]} x {tokens.shape[1]} tokens")


if __name__ == "__main__":
    main()
