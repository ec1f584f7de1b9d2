"""Classifies 160 sentences with the text-classification pipeline of Hugging Face, in batches of four.

steps: 40
"""
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, pipeline, set_seed
from transformers.pipelines.pt_utils import KeyDataset

WORDS = [f"word{number}" for number in range(300)]


def main():
    torch.set_num_threads(1)
    set_seed(0)
    vocabulary = {word: index for index, word in enumerate(["[PAD]", "[UNK]"] + WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]",
                                        model_input_names=["input_ids", "attention_mask"])
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(vocabulary), hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64))
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    dataset = [{"text": " ".join(random.choices(WORDS, k=random.randint(8, 30)))} for _ in range(160)]
    results = list(classify(KeyDataset(dataset, "text"), batch_size=4))
    print("steps:", len(results) // 4)
    assert len(results) == 160


if __name__ == "__main__":
    main()
