from fishaudio import FishAudio
from fishaudio.types import Prosody, ReferenceAudio, TTSConfig


def speak(config, **more):
    def ask(at):
        client = FishAudio(api_key=at.key, base_url=at.url)
        client.tts.stream(text="Hello there", config=TTSConfig(**config), model="s1", **more).collect()

    return ask


intentions = {
    "mp3": speak({"format": "mp3", "sample_rate": 44100, "mp3_bitrate": 128}, reference_id="802e3bc2b27e"),
    "pcm": speak(
        {"format": "pcm", "sample_rate": 24000, "prosody": Prosody(speed=1.2)}, reference_id="802e3bc2b27e"
    ),
}
