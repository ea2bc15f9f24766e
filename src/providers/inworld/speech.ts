import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { SpeechAdapter } from '../../canonical/audio.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { filledTextOrNull, isRecord } from '../../json/values.ts'
import { readReportedFailure } from '../../formats/upstream-errors.ts'
import { mpegOr } from '../../formats/speech/raw-speech.ts'
import {
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'
import { type SoundFacts, wrappedSpeech } from '../../formats/speech/wrapped-speech.ts'

const formats = {
  mp3: { audioEncoding: 'MP3', sampleRateHertz: 48_000, bitRate: 128_000 },
  // `LINEAR16` would have a WAV header.
  pcm: { audioEncoding: 'PCM', sampleRateHertz: 24_000 },
}

/** Inworld's speech, as base64 in lines of JSON. An error is a line with a gRPC code. */
export const inworldSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/voice:stream',
  body: (asked) => ({
    text: asked.call.input,
    voiceId: asked.voice,
    modelId: asked.endpoint.upstreamModel,
    audioConfig: { ...formats[asked.format], ...speedMember('speakingRate', asked) },
  }),
  reserved: ['audioConfig', 'audio_config', 'voice_id', 'model_id', 'timestampType'],
  open: ({ format }, { context }) =>
    wrappedSpeech({
      framing: 'lines',
      at: ['result', 'audioContent'],
      encoding: 'base64',
      output: mpegOr(format, contractSamples),
      read: (fields) => readLine(fields, context),
    }),
})

function readLine(fields: Record<string, unknown>, context: AnswerContext): SoundFacts {
  const error = isRecord(fields['error']) ? fields['error'] : null
  if (error !== null) {
    const code = statuses[Number(error['code'])] ?? 502
    const message = filledTextOrNull(error['message']) ?? ''
    throw new AttemptFailed(readReportedFailure({ code, message }, context))
  }
  const result = isRecord(fields['result']) ? fields['result'] : {}
  const usage = isRecord(result['usage']) ? result['usage'] : {}
  const characters = usage['processedCharactersCount']
  return typeof characters === 'number' ? { billed: { characters } } : {}
}

/** The HTTP statuses that gRPC codes stand for. */
const statuses: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
}
