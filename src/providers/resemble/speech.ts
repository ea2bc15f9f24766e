import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { SpeechAdapter } from '../../canonical/audio.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { readReportedFailure } from '../../formats/upstream-errors.ts'
import { readShape } from '../../formats/upstream-error-body.ts'
import { rawSpeech } from '../../formats/speech/raw-speech.ts'
import { speechRequestAdapter } from '../../formats/speech/speech-request-adapter.ts'
import { wrappedSpeech, type SoundFacts } from '../../formats/speech/wrapped-speech.ts'

/**
 * Resemble's speech as a streamed WAV file, which the gateway converts as needed. A failure may come with a success
 * status, as JSON with `success: false`.
 */
export const resembleSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/stream',
  body: ({ call, endpoint, voice }) => ({
    voice_uuid: voice,
    data: call.input,
    model: endpoint.upstreamModel,
    sample_rate: 48_000,
    precision: 'PCM_16',
    output_format: 'wav',
  }),
  reserved: ['project_uuid', 'title'],
  open(_, { context, headers }) {
    if (!/\bjson\b/i.test(headers.get('content-type') ?? '')) return rawSpeech({ container: 'wav' })
    return wrappedSpeech({
      framing: 'json',
      at: ['audio_content'],
      encoding: 'base64',
      output: { container: 'wav' },
      read: (fields) => readDocument(fields, context),
    })
  },
})

/** Matches error texts that blame the input: words from the fields of the request. */
const inputPattern = /\b(?:voice|text|data|ssml|sample_rate|precision|characters?)\b/i

function readDocument(fields: Record<string, unknown>, context: AnswerContext): SoundFacts {
  if (fields['success'] === false) {
    const { message, code } = readShape(fields)
    const isInput = inputPattern.test(`${message} ${code}`)
    throw new AttemptFailed(readReportedFailure({ code: isInput ? 400 : 502, message }, context))
  }
  const { duration } = fields
  return typeof duration === 'number' ? { billed: { audioMilliseconds: Math.round(duration * 1_000) } } : {}
}
