"""Whisper behind OpenAI's path with the times of words, which faster-whisper-server does not tell."""
import sys

import uvicorn
from fastapi import FastAPI, File, Form, UploadFile
from faster_whisper import WhisperModel

model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8")
app = FastAPI()


@app.post("/v1/audio/transcriptions")
def transcribe(
    file: UploadFile = File(),
    response_format: str = Form("json"),
    temperature: float = Form(0.0),
    granularities: list[str] = Form([], alias="timestamp_granularities[]"),
):
    with_words = "word" in granularities
    heard, info = model.transcribe(file.file, temperature=temperature, word_timestamps=with_words)
    segments = list(heard)
    text = "".join(segment.text for segment in segments)
    if response_format != "verbose_json":
        return {"text": text}
    answer = {"task": "transcribe", "language": info.language, "duration": info.duration, "text": text}
    answer["segments"] = [
        {"id": at, "start": segment.start, "end": segment.end, "text": segment.text}
        for at, segment in enumerate(segments)
    ]
    if with_words:
        answer["words"] = [
            {"word": word.word.strip(), "start": float(word.start), "end": float(word.end)}
            for segment in segments
            for word in segment.words
        ]
    return answer


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]))
