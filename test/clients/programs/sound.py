"""What the audio programs share: two seconds of a tone, what the provider hears in it, and how what is spoken is looked at."""
import io
import math
import struct
import wave

heard = "Good morning to you."
spoken = "Water turns the wheel."
listener = "openai/whisper-1"
voice = "openai/tts-1"
not_sound = b"Minutes of the meeting: the gate is to be opened."


def tone_wav(seconds=2):
    samples = [round(8000 * math.sin(at * 440 * 2 * math.pi / 16_000)) for at in range(seconds * 16_000)]
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return made.getvalue()


def is_mp3(data):
    assert data[:3] == b"ID3" or (data[0] == 0xFF and data[1] & 0xE0 == 0xE0), "it is no mp3"
    assert len(data) > 1_000, f"{len(data)} bytes"


def is_pcm(data):
    """16-bit samples at 24,000 Hz, of at least half a second."""
    assert len(data) % 2 == 0 and len(data) > 24_000, f"{len(data)} bytes"
