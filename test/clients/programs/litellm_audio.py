import io
import os

# Its table of prices would be fetched from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import openai

from play import equal, key, play, refusal, root
from sound import heard, is_mp3, is_pcm, listener, not_sound, spoken, tone_wav, voice

litellm.telemetry = False
# Errors of audio come through as those of the client that it calls with; its own are subclasses of them.
where = {"api_base": f"{root}/v1", "api_key": key, "max_retries": 0}


def named(name, data):
    file = io.BytesIO(data)
    file.name = name
    return file


def hear(file=None, model=listener, **more):
    file = file or named("tone.wav", tone_wav())
    return litellm.transcription(**{**where, "model": f"openai/{model}", "file": file, **more})


def speak(model=voice, **more):
    given = {**where, "model": f"openai/{model}", "input": spoken, "voice": "alloy", "response_format": "pcm", **more}
    return litellm.speech(**given).read()


def verbose():
    answer = hear(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    equal(answer.text, heard)
    equal(float(answer["duration"]), 2.0)
    equal(" ".join(word["word"] for word in answer["words"]), heard)
    assert answer["segments"]


play(
    {
        "json": lambda: equal(hear().text, heard),
        "verbose": verbose,
        "mp3": lambda: is_mp3(speak(response_format="mp3")),
        "pcm": lambda: is_pcm(speak()),
        "unknown model": lambda: refusal(
            lambda: hear(model="nobody/has-this"), openai.BadRequestError, 400, "nobody/has-this"
        ),
        "no sound": lambda: refusal(
            lambda: hear(file=named("talk.mp3", not_sound)), openai.BadRequestError, 400, "text"
        ),
        "bad parameter": lambda: refusal(
            lambda: hear(timestamp_granularities=["sentence"]), openai.BadRequestError, 400, "granularities"
        ),
        "bad speed": lambda: refusal(lambda: speak(speed=99), openai.BadRequestError, 400, "speed"),
        "bad key": lambda: refusal(lambda: hear(api_key="nobody-has-this-key-01"), openai.AuthenticationError, 401),
    }
)
