from azure.ai.transcription import TranscriptionClient
from azure.ai.transcription.models import (
    PhraseListProperties,
    TranscriptionContent,
    TranscriptionDiarizationOptions,
    TranscriptionOptions,
)
from azure.core.credentials import AzureKeyCredential


def hear(with_sound=True, **options):
    def ask(at):
        client = TranscriptionClient(
            endpoint=at.url, credential=AzureKeyCredential(at.key), retry_total=0, enforce_https=False
        )
        if not with_sound:
            client.transcribe_from_url(at.address, options=TranscriptionOptions(**options))
            return
        with open(at.sound_file, "rb") as sound:
            client.transcribe(TranscriptionContent(definition=TranscriptionOptions(**options), audio=sound))

    return ask


intentions = {
    "transcript": hear(),
    "detailed": hear(
        locales=["de-DE"],
        diarization_options=TranscriptionDiarizationOptions(max_speakers=4),
        phrase_list=PhraseListProperties(phrases=["head race", "sluice"]),
    ),
    "address": hear(with_sound=False, locales=["fr-FR"]),
}
