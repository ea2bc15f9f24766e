import asyncio

import inworld_tts._client as inworld


def speak(**more):
    async def run(at):
        asked = {"voice": "Ashley", "model": "inworld-tts-2", "api_key": at.key, "base_url": at.url}
        async for _piece in inworld.stream("Hello there", **asked, **more):
            pass

    return lambda at: asyncio.run(run(at))


intentions = {
    "mp3": speak(encoding="MP3", sample_rate=48000, bit_rate=128000),
    "pcm": speak(encoding="PCM", sample_rate=24000, speaking_rate=1.2),
}
