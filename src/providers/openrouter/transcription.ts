import {
  isRemoteAudio,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { AudioSource, TranscriptionCall } from '../../canonical/call.ts'
import { oneExchange } from '../../canonical/steps.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'
import { optionsFor, optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { encodeBase64Body } from '../../formats/transcription/base64-body.ts'
import { readOpenAiTranscript } from '../../formats/transcription/openai-transcript.ts'

/**
 * Transcription in the contract's form, for OpenRouter and similar gateways: one JSON object whose `input_audio` has
 * the sound as base64, or its URL. The object is written while the sound is read, so a large one needs no memory.
 */
export function jsonAudioTranscription(): TranscriptionAdapter {
  return oneExchange<TranscriptionCall, CanonicalTranscription>({
    encode({ call, endpoint }) {
      const passed = Object.entries(optionsFor(call.preferences, endpoint)).filter(([name]) => isPassed(name))
      const members = {
        ...Object.fromEntries(passed),
        model: endpoint.upstreamModel,
        ...(call.language === null ? {} : { language: call.language }),
        ...(call.temperature === null ? {} : { temperature: call.temperature }),
        ...timeMembers(call),
        ...(call.keyterms.length === 0 ? {} : { keyterms: call.keyterms }),
      }
      return {
        request: {
          method: 'POST',
          path: '/audio/transcriptions',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: bodyOf(members, call.audio),
        },
        dropped: optionsLeftOut(call.preferences, endpoint, isPassed),
      }
    },
    decode: ({ bytes }, { call, context }) =>
      readOpenAiTranscript(bytes, {
        areSegmentsWords: false,
        isTextOfSegments: false,
        language: call.language,
        joinedTerms: null,
        context,
      }),
    readError: readUpstreamFailure,
  })
}

/** Also sent to learn the length of the sound when it could not be measured. */
function timeMembers(call: TranscriptionCall): Record<string, unknown> {
  const { responseFormat, measuredMilliseconds, granularities, diarize } = call
  if (responseFormat !== 'verbose_json' && measuredMilliseconds !== null) return {}
  const wantsWords = granularities.includes('word') || diarize
  return {
    response_format: 'verbose_json',
    ...(responseFormat === 'verbose_json'
      ? { timestamp_granularities: wantsWords ? ['segment', 'word'] : ['segment'] }
      : {}),
    ...(diarize ? { diarize } : {}),
  }
}

function bodyOf(members: Readonly<Record<string, unknown>>, audio: AudioSource): StreamedBody | [string] {
  if (isRemoteAudio(audio)) {
    // When the URL does not show the format, the server that fetches it must detect it.
    const format = audio.format === '' ? {} : { format: audio.format }
    return [JSON.stringify({ ...members, input_audio: { url: audio.url, ...format } })]
  }
  const whole = JSON.stringify({ ...members, input_audio: { format: audio.format, data: '' } })
  // The base64 stands at the end, between the last two quotes.
  const { sizeBytes, open } = audio
  return encodeBase64Body(
    whole.slice(0, -3),
    { prefix: new Uint8Array(0), sizeBytes, open: () => open() },
    whole.slice(-3),
  )
}

/** Members that the gateway decides, or that would change the form of the answer. The caller cannot set them. */
const reserved: ReadonlySet<string> = new Set([
  'model',
  'input_audio',
  'language',
  'temperature',
  'response_format',
  'timestamp_granularities',
  'diarize',
  'keyterms',
  'stream',
  'session_id',
  'user',
  'trace',
])

function isPassed(name: string): boolean {
  return !reserved.has(name)
}
