import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { SpeechAdapter, SpeechBilled } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { isRecord, tokenCountOrNull } from '../../json/values.ts'
import { readReportedFailure } from '../../formats/upstream-errors.ts'
import { clipMark } from '../../formats/speech/clip-body.ts'
import { mpegOr } from '../../formats/speech/raw-speech.ts'
import { refuseVoiceBesideClips } from '../../formats/speech/reference-members.ts'
import { contractSamples, speechRequestAdapter } from '../../formats/speech/speech-request-adapter.ts'
import { type SoundFacts, wrappedSpeech } from '../../formats/speech/wrapped-speech.ts'

/**
 * Mistral's speech, as base64 in events. Its samples are floats. One clip may replace the voice; its transcript has no
 * place in the request. There is no speed.
 */
export const mistralSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/audio/speech',
  body: ({ call, endpoint, voice, format }) => ({
    model: endpoint.upstreamModel,
    input: call.input,
    ...voiceMembers(call, voice),
    response_format: format,
    stream: true,
  }),
  reserved: ['ref_audio', 'voice_id', 'voice'],
  open: ({ format }, { context }) =>
    wrappedSpeech({
      framing: 'events',
      at: ['audio_data'],
      encoding: 'base64',
      output: mpegOr(format, { ...contractSamples, encoding: 'f32le' }),
      hasLast: true,
      read: (fields) => readEvent(fields, context),
    }),
})

function voiceMembers(call: SpeechCall, voice: string | null) {
  if (call.references.length === 0) return { voice_id: voice }
  refuseVoiceBesideClips(call)
  return { ref_audio: clipMark(0) }
}

function readEvent(fields: Record<string, unknown>, context: AnswerContext): SoundFacts {
  const isFailure = fields['object'] === 'error' || fields['type'] === 'error' || isRecord(fields['error'])
  if (isFailure) throw new AttemptFailed(readReportedFailure(fields['error'] ?? fields, context))
  if (fields['type'] !== 'speech.audio.done') return {}
  const billed = billedOf(fields['usage'])
  return { isLast: true, ...(billed ? { billed } : {}) }
}

/** Counts have the form of chat completions; the output is sound. */
function billedOf(usage: unknown): SpeechBilled | null {
  if (!isRecord(usage)) return null
  const inputTokens = tokenCountOrNull(usage['prompt_tokens']) ?? 0
  const outputTokens = tokenCountOrNull(usage['completion_tokens']) ?? 0
  return inputTokens + outputTokens === 0
    ? null
    : { inputTokens, outputTokens, outputAudioTokens: outputTokens }
}
