"""Writes a tiny Whisper model with random weights, as faster-whisper loads it: it hears nonsense, as a real one would."""
import json
import pathlib
import sys

import ctranslate2
import numpy as np
from ctranslate2.specs import whisper_spec
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
width, heads, layers, mels, positions, text_positions = 32, 2, 1, 80, 1500, 448

# The byte pieces of GPT-2, then filler up to where Whisper's own tokens begin.
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = letters + [f"w{index}" for index in range(50257 - len(letters))]
languages = "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su".split()
own = ["<|endoftext|>", "<|startoftranscript|>"] + [f"<|{code}|>" for code in languages]
own += ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
times = [f"<|{step * 0.02:.2f}|>" for step in range(1501)]
tokens = vocabulary + own + times


tokenizer = Tokenizer(models.BPE({token: index for index, token in enumerate(vocabulary)}, []))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(own)
tokenizer.add_tokens(times)
tokenizer.save(str(folder / "tokenizer.json"))

random = np.random.default_rng(7)


def some(*shape):
    return random.normal(0, 0.2, shape).astype(np.float32)


def fill_norm(norm):
    norm.gamma, norm.beta = np.ones(width, np.float32), np.zeros(width, np.float32)


def fill_linear(linear, rows, columns):
    linear.weight, linear.bias = some(rows, columns), np.zeros(rows, np.float32)


def fill_attention(attention, own):
    fill_norm(attention.layer_norm)
    if own:
        fill_linear(attention.linear[0], 3 * width, width)
    else:
        fill_linear(attention.linear[0], width, width)
        fill_linear(attention.linear[1], 2 * width, width)
    fill_linear(attention.linear[-1], width, width)


def fill_layer(layer, decoder):
    fill_attention(layer.self_attention, True)
    if decoder:
        fill_attention(layer.attention, False)
    fill_norm(layer.ffn.layer_norm)
    fill_linear(layer.ffn.linear_0, 4 * width, width)
    fill_linear(layer.ffn.linear_1, width, 4 * width)


spec = whisper_spec.WhisperSpec(layers, heads, layers, heads)
fill_linear(spec.encoder.conv1, width, mels)
spec.encoder.conv1.weight = some(width, mels, 3)
fill_linear(spec.encoder.conv2, width, width)
spec.encoder.conv2.weight = some(width, width, 3)
spec.encoder.position_encodings.encodings = some(positions, width)
fill_norm(spec.encoder.layer_norm)
spec.decoder.embeddings.weight = some(len(tokens), width)
spec.decoder.position_encodings.encodings = some(text_positions, width)
spec.decoder.scale_embeddings = False
spec.decoder.projection.weight = some(len(tokens), width)
fill_norm(spec.decoder.layer_norm)
for layer in spec.encoder.layer:
    fill_layer(layer, False)
for layer in spec.decoder.layer:
    fill_layer(layer, True)
spec.register_vocabulary(tokens)
begin = tokens.index("<|endoftext|>")
spec.config.suppress_ids = [tokens.index(token) for token in own[1:]]
spec.config.suppress_ids_begin = [begin]
spec.config.lang_ids = [tokens.index(f"<|{code}|>") for code in languages]
spec.config.alignment_heads = [[0, 0], [0, 1]]
spec.validate()
spec.optimize(quantization="float32")
spec.save(str(folder))
(folder / "preprocessor_config.json").write_text(json.dumps({"feature_size": mels, "sampling_rate": 16000, "hop_length": 160, "chunk_length": 30, "n_fft": 400}))
