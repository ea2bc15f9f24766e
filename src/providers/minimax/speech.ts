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
  mp3: { format: 'mp3', sample_rate: 32_000, bitrate: 128_000, channel: 1 },
  pcm: { format: 'pcm', sample_rate: 24_000, channel: 1 },
}

/**
 * MiniMax's speech, as hexadecimal in events; the option keeps the last event from repeating the whole sound. Failures
 * come with status 200 and a code of its own, as an event or as plain JSON.
 */
export const miniMaxSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/t2a_v2',
  body: (asked) => ({
    model: asked.endpoint.upstreamModel,
    text: asked.call.input,
    stream: true,
    stream_options: { exclude_aggregated_audio: true },
    voice_setting: { voice_id: asked.voice, ...speedMember('speed', asked) },
    audio_setting: formats[asked.format],
  }),
  reserved: ['output_format', 'stream_options', 'audio_setting', 'subtitle_enable'],
  open({ format }, { context, headers }) {
    const isStream = /event-stream/i.test(headers.get('content-type') ?? '')
    return wrappedSpeech({
      framing: isStream ? 'events' : 'json',
      at: ['data', 'audio'],
      encoding: 'hex',
      output: mpegOr(format, contractSamples),
      hasLast: isStream,
      read: (fields) => readDocument(fields, context),
    })
  },
})

function readDocument(fields: Record<string, unknown>, context: AnswerContext): SoundFacts {
  const base = isRecord(fields['base_resp']) ? fields['base_resp'] : {}
  const code = base['status_code']
  if (typeof code === 'number' && code !== 0) {
    const known = meanings[code] ?? { code: 502 }
    const message = filledTextOrNull(base['status_msg']) ?? ''
    throw new AttemptFailed(readReportedFailure({ ...known, message }, context))
  }
  const extra = isRecord(fields['extra_info']) ? fields['extra_info'] : {}
  const characters = extra['usage_characters']
  const data = isRecord(fields['data']) ? fields['data'] : {}
  return {
    isLast: data['status'] === 2,
    ...(typeof characters === 'number' ? { billed: { characters } } : {}),
  }
}

/** The statuses that its codes should have had. https://platform.minimax.io/docs/api-reference/errorcode, 2026-11. */
const meanings: Readonly<Record<number, { code: number; type?: string }>> = {
  1001: { code: 504 },
  1002: { code: 429 },
  1004: { code: 401 },
  1008: { code: 402 },
  1026: { code: 400, type: 'content_policy' },
  1027: { code: 400, type: 'content_policy' },
  1039: { code: 429 },
  1041: { code: 429 },
  1042: { code: 400 },
  1043: { code: 400 },
  1044: { code: 400 },
  2013: { code: 400 },
  2037: { code: 400 },
  2038: { code: 400 },
  // The voice belongs to another account.
  2042: { code: 400 },
  2045: { code: 429 },
  2048: { code: 400 },
  2049: { code: 401 },
  // The voice is unknown.
  2054: { code: 400 },
  2056: { code: 402 },
  20132: { code: 400 },
}
