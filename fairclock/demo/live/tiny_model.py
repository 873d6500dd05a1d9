"""Own the tiny random-weight model of the live demonstration.

A program of its own: it runs under vLLM's Python, which has torch, transformers and tokenizers and knows
nothing of Fairclock. ``python tiny_model.py DIRECTORY`` writes a Llama of two layers and a byte-level
tokenizer of 512 tokens there, about 3 MB, with nothing downloaded and the same weights each time.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VOCABULARY_TOKENS = 512
CONTEXT_TOKENS = 2048

# Each sentence is training text for 256 merges, nothing more.
_SENTENCES = (
    "The clock starts when the customer's first byte reaches the gateway and stops with the last byte back.",
    "A queue is where a promise waits: two seconds vanish between pressing enter and being scheduled.",
    "Count, do not estimate; a verdict is reached by counting what was late and what was not.",
    "Missing, zero and failure are three things, and missing data never flatters the provider.",
    "Prefill reads the prompt, decode writes the answer one token after another until it stops.",
)
_CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_tokenizer(directory: Path) -> None:
    """Train a byte-level BPE tokenizer on five sentences and write it with a chat template."""
    from tokenizers import (  # type: ignore[import-not-found]  # noqa: PLC0415
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )
    from transformers import (  # type: ignore[import-not-found]  # noqa: PLC0415
        PreTrainedTokenizerFast,
    )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_TOKENS,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(_SENTENCES * 20, trainer)
    marks = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)
    fast.chat_template = _CHAT_TEMPLATE
    fast.save_pretrained(directory)


def make_model(directory: Path) -> None:
    """Write a Llama of 2 layers, 4 heads and 256 hidden units with random weights in bfloat16."""
    import torch  # type: ignore[import-not-found]  # noqa: PLC0415
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=VOCABULARY_TOKENS,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT_TOKENS,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(directory, safe_serialization=True)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    make_tokenizer(target)
    make_model(target)
