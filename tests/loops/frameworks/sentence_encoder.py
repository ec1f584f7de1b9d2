"""Encodes 320 sentences in batches of 16 with encode() of Sentence Transformers and a tiny BERT.

steps: 20
"""
import random
import tempfile

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers import models as modules
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

WORDS = [f"word{number}" for number in range(300)]


def main():
    torch.set_num_threads(1)
    set_seed(0)
    vocabulary = {word: index for index, word in enumerate(["[PAD]", "[UNK]"] + WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = tempfile.mkdtemp()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]",
                            model_max_length=64).save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(vocabulary), hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
                         intermediate_size=128, max_position_embeddings=64)).save_pretrained(folder)
    transformer = modules.Transformer(folder)
    model = SentenceTransformer(modules=[transformer, modules.Pooling(64)], device="cpu")
    sentences = [" ".join(random.choices(WORDS, k=random.randint(5, 40))) for _ in range(320)]
    embeddings = model.encode(sentences, batch_size=16)
    print("steps:", len(embeddings) // 16)
    assert embeddings.shape == (320, 64)


if __name__ == "__main__":
    main()
