"""Writes a tiny llama model with random weights, which answers nonsense as a real one would."""
import sys
import numpy as np
import gguf

path = sys.argv[1]
layers, width, heads, hidden = 2, 64, 4, 128
writer = gguf.GGUFWriter(path, "llama")
# SentencePiece's byte pieces and a few words: every text has a spelling in it.
pieces = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
words = [" the", " a", " and", " of", " to", " in", " is", " it", " you", " that"]
words += [chr(letter) for letter in range(97, 123)] + [" "]
pieces += [word.replace(" ", "\u2581").encode() for word in words]
kinds += [gguf.TokenType.NORMAL] * len(words)
scores = [0.0] * 259 + [-float(index) for index in range(len(words))]
writer.add_context_length(2048)
writer.add_embedding_length(width)
writer.add_block_count(layers)
writer.add_feed_forward_length(hidden)
writer.add_head_count(heads)
writer.add_head_count_kv(heads)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(width // heads)
writer.add_vocab_size(len(pieces))
writer.add_file_type(gguf.LlamaFileType.ALL_F32)
writer.add_tokenizer_model("llama")
writer.add_token_list(pieces)
writer.add_token_scores(scores)
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_add_bos_token(True)
writer.add_chat_template(
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
)
random = np.random.default_rng(7)


def tensor(name, *shape):
    writer.add_tensor(name, random.normal(0, 0.3, shape).astype(np.float32))


tensor("token_embd.weight", len(pieces), width)
tensor("output_norm.weight", width)
tensor("output.weight", len(pieces), width)
for layer in range(layers):
    block = f"blk.{layer}"
    for name in ("attn_norm", "ffn_norm"):
        tensor(f"{block}.{name}.weight", width)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor(f"{block}.{name}.weight", width, width)
    tensor(f"{block}.ffn_gate.weight", hidden, width)
    tensor(f"{block}.ffn_up.weight", hidden, width)
    tensor(f"{block}.ffn_down.weight", width, hidden)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
