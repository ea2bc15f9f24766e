import openai

from play import equal, key, play, refusal, root
from sound import heard, is_mp3, is_pcm, listener, not_sound, spoken, tone_wav, voice

client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)


def hear(by=client, file=("tone.wav", tone_wav()), **more):
    return by.audio.transcriptions.create(**{"file": file, "model": listener, **more})


def speak(**more):
    given = {"model": voice, "voice": "alloy", "input": spoken, "response_format": "pcm", **more}
    return client.audio.speech.create(**given).read()


def json():
    answer = hear()
    equal(answer.text, heard)
    equal(answer.usage.seconds, 2)


def verbose():
    answer = hear(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    equal(answer.text, heard)
    equal(float(answer.duration), 2.0)
    equal(answer.language, "en")
    equal(" ".join(word.word for word in answer.words), heard)
    assert answer.segments


def stream():
    events = list(hear(stream=True))
    equal("".join(event.delta for event in events if event.type == "transcript.text.delta"), heard)
    equal(events[-1].type, "transcript.text.done")
    equal(events[-1].text, heard)


def as_it_comes():
    given = {"model": voice, "voice": "alloy", "input": spoken, "response_format": "pcm"}
    with client.audio.speech.with_streaming_response.create(**given) as response:
        is_pcm(b"".join(response.iter_bytes()))


def bad_key():
    hear(openai.OpenAI(base_url=f"{root}/v1", api_key="nobody-has-this-key-01", max_retries=0))


play(
    {
        "json": json,
        "verbose": verbose,
        "stream": stream,
        "mp3": lambda: is_mp3(speak(response_format="mp3")),
        "pcm": lambda: is_pcm(speak()),
        "speech as it comes": as_it_comes,
        "unknown model": lambda: refusal(
            lambda: hear(model="nobody/has-this"), openai.BadRequestError, 400, "nobody/has-this"
        ),
        "no sound": lambda: refusal(lambda: hear(file=("talk.mp3", not_sound)), openai.BadRequestError, 400, "text"),
        "bad parameter": lambda: refusal(lambda: hear(response_format="srt"), openai.BadRequestError, 400, "srt"),
        "bad speed": lambda: refusal(lambda: speak(speed=99), openai.BadRequestError, 400, "speed"),
        "bad key": lambda: refusal(bad_key, openai.AuthenticationError, 401),
    }
)
