import type { SpeechAdapter, SpeechBilled, SpeechOutput } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { filledTextOrNull, isRecord } from '../../json/values.ts'
import { readCandidate } from './sound-parts.ts'
import { readGeminiUsage } from '../../formats/text/gemini/usage.ts'
import { optionsFor, optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { voiceToAsk } from '../../formats/speech/voice-to-ask.ts'
import { type SoundFacts, wrappedSpeech } from '../../formats/speech/wrapped-speech.ts'

/**
 * Gemini's contents as speech: one voice reads the text, and the samples come as base64 in events from the first one
 * on. There is no speed. Cloning a voice (`replicatedVoiceConfig`) needs the speaker's recorded consent, which the
 * contract has no place for, and access to it is not documented, so it is not offered.
 */
export function geminiSpeech(): SpeechAdapter {
  return {
    first({ call, endpoint }) {
      const request = {
        method: 'POST' as const,
        path: `/models/${encodeURIComponent(endpoint.upstreamModel)}:streamGenerateContent?alt=sse`,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: [JSON.stringify(toBody(call, endpoint))],
      }
      const dropped = optionsLeftOut(call.preferences, endpoint, (name) => passable.has(name))
      return {
        type: 'stream',
        exchange: { request, dropped },
        open: (context) =>
          wrappedSpeech({
            framing: 'events',
            at: ['candidates', '*', 'content', 'parts', '*', 'inlineData', 'data'],
            encoding: 'base64',
            output: usualOutput,
            isDescribed: true,
            hasLast: true,
            read: (fields) => readFrame(fields, context),
          }),
      }
    },
    next() {
      throw new Error('speech is the body of the first response')
    },
    readError: readUpstreamFailure,
  }
}

/** The documented format, assumed for a frame that names no other. */
const usualOutput = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const

/** Any other option would change the request or its cost. */
const passable: ReadonlySet<string> = new Set(['safetySettings', 'labels'])

function toBody(call: SpeechCall, endpoint: Endpoint): Record<string, unknown> {
  const passed = Object.entries(optionsFor(call.preferences, endpoint)).filter(([name]) => passable.has(name))
  const voiceName = voiceToAsk(call, endpoint)
  return {
    ...Object.fromEntries(passed),
    contents: [{ role: 'user', parts: [{ text: call.input }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      ...(voiceName === null
        ? {}
        : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
    },
  }
}

/** Reads one event without its sound. Text in place of sound is a failure; a retry often succeeds. */
function readFrame(fields: Record<string, unknown>, context: AnswerContext): SoundFacts {
  const { parts, hasEnded } = readCandidate(fields, context)
  if (parts.some(({ text }) => filledTextOrNull(text) !== null))
    throw new GatewayError('provider_failed', 'The provider answered with words in place of sound.')
  const output = parts.map(({ inlineData }) => outputOf(inlineData)).find((found) => found !== null)
  const billed = billedOf(fields['usageMetadata'])
  return { isLast: hasEnded, ...(output ? { output } : {}), ...(billed ? { billed } : {}) }
}

/** `audio/L16;codec=pcm;rate=24000`: its samples are little-endian, although that name means big-endian. */
function outputOf(inlineData: unknown): SpeechOutput | null {
  const mimeType = isRecord(inlineData) ? (filledTextOrNull(inlineData['mimeType']) ?? '') : ''
  if (/^audio\/(?:x-)?wav\b/i.test(mimeType)) return { container: 'wav' }
  if (/^audio\/(?:mpeg|mp3)\b/i.test(mimeType)) return { container: 'mpeg' }
  if (!/^audio\/(?:L16|pcm)\b/i.test(mimeType)) return null
  const rate = Number(/;\s*rate=(\d{4,6})\b/i.exec(mimeType)?.[1] ?? usualOutput.rate)
  const channels = Number(/;\s*channels=([12])\b/i.exec(mimeType)?.[1] ?? usualOutput.channels)
  return { ...usualOutput, rate, channels }
}

/** The counts so far, which every event repeats. All output of such a model is sound, even when no detail says so. */
function billedOf(usageMetadata: unknown): SpeechBilled | null {
  const usage = readGeminiUsage(usageMetadata)?.usage
  if (usage === undefined) return null
  const { inputTokens, outputTokens, reasoningTokens, outputAudioTokens } = usage
  return {
    inputTokens,
    outputTokens,
    reasoningTokens,
    outputAudioTokens: outputAudioTokens > 0 ? outputAudioTokens : outputTokens - reasoningTokens,
  }
}
