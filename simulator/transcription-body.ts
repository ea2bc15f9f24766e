import { joined } from './audio/hearing.ts'
import { languageName, textOf, whisperBody } from './audio/whisper-body.ts'
import type { UsageMode } from './faults.ts'
import type { JsonObject } from './json.ts'
import { logprobsOf } from './logprobs.ts'
import type { Recognition, SpokenWord } from './recognise.ts'
import { eventReply, frame, jsonReply, type Reply } from './reply.ts'
import { countTokens, splitTokens } from './tokens.ts'
import type { TranscriptionRequest } from './transcription-request.ts'
import { distortUsage } from './usage.ts'

/** The recognised text, the length of the audio, and the form of its usage. */
export interface Heard {
  recognition: Recognition
  seconds: number
  usageMode: UsageMode | undefined
}

const audioTokensPerSecond = 10

/** The answer of a transcription in the format that was asked for. */
export function transcriptionReply(request: TranscriptionRequest, heard: Heard): Reply {
  const { utterances, engine } = heard.recognition
  const reply = request.stream ? streamed(request, heard) : whole(request, heard, utterances)
  return { ...reply, headers: { 'x-simulator-transcription': engine } }
}

function whole(request: TranscriptionRequest, heard: Heard, utterances: SpokenWord[][]): Reply {
  const text = textOf(heard)
  if (request.format === 'text') return plain(`${text}\n`)
  if (request.format === 'srt') return plain(captions(utterances, ','))
  if (request.format === 'vtt') return plain(`WEBVTT\n\n${captions(utterances, '.')}`)
  if (request.format === 'verbose_json') return jsonReply(JSON.stringify(verboseBody(request, heard)))
  const usage = distortUsage(usageOf(request, heard), heard.usageMode)
  if (request.format === 'diarized_json') return jsonReply(JSON.stringify({ ...diarizedBody(heard), usage }))
  // The model reports the heard languages and no usage; it is billed by the minute.
  if (request.model === 'gpt-transcribe')
    return jsonReply(JSON.stringify({ text, languages: [{ code: request.language ?? 'en' }] }))
  const logprobs = request.wantsLogprobs ? { logprobs: tokenLogprobs(text) } : {}
  return jsonReply(JSON.stringify({ text, ...logprobs, usage }))
}

function plain(body: string): Reply {
  return { status: 200, contentType: 'text/plain; charset=utf-8', body }
}

function tokenLogprobs(text: string) {
  return logprobsOf(splitTokens(text), 0).content.map(({ token, logprob, bytes }) => ({
    token,
    logprob,
    bytes,
  }))
}

/** Whisper is billed by whole seconds, the gpt-4o models by tokens. */
function usageOf(request: TranscriptionRequest, heard: Heard): JsonObject {
  if (request.model === 'whisper-1') return { type: 'duration', seconds: Math.ceil(heard.seconds) }
  const audioTokens = Math.ceil(heard.seconds * audioTokensPerSecond)
  const textTokens = countTokens(request.prompt)
  const outputTokens = countTokens(textOf(heard))
  return {
    type: 'tokens',
    input_tokens: audioTokens + textTokens,
    input_token_details: { text_tokens: textTokens, audio_tokens: audioTokens },
    output_tokens: outputTokens,
    total_tokens: audioTokens + textTokens + outputTokens,
  }
}

function verboseBody(request: TranscriptionRequest, heard: Heard): JsonObject {
  const { language, wantsWords: words, wantsSegments: segments } = request
  // This format has the name in lower case.
  const named = languageName(language ?? 'en').toLowerCase()
  const usage = distortUsage(usageOf(request, heard), heard.usageMode)
  return { ...whisperBody(heard, { language: named, words, segments }), usage }
}

/** Gives the utterances to two speakers in turn. */
function diarizedBody(heard: Heard): JsonObject {
  const segments = heard.recognition.utterances.map((words, index) => ({
    type: 'transcript.text.segment',
    id: `seg_${index}`,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text: ` ${joined(words)}`,
    speaker: index % 2 === 0 ? 'A' : 'B',
  }))
  const text = segments.map((one) => `${one.speaker}:${one.text}`).join('\n')
  return { task: 'transcribe', duration: heard.seconds, text, segments }
}

function captions(utterances: readonly SpokenWord[][], decimalMark: string): string {
  const cues = utterances.map((words, index) => {
    const start = clock(words[0]?.start ?? 0, decimalMark)
    const end = clock(words.at(-1)?.end ?? 0, decimalMark)
    const number = decimalMark === ',' ? `${index + 1}\n` : ''
    return `${number}${start} --> ${end}\n${joined(words)}\n`
  })
  return `${cues.join('\n')}\n`
}

function clock(seconds: number, decimalMark: string): string {
  const text = new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23)
  return text.replace('.', decimalMark)
}

function streamed(request: TranscriptionRequest, heard: Heard): Reply {
  const text = textOf(heard)
  const usage = distortUsage(usageOf(request, heard), heard.usageMode)
  const deltas = splitTokens(text).map((delta) => frame({ type: 'transcript.text.delta', delta }))
  const segments = request.format === 'diarized_json' ? diarizedSegments(heard) : []
  return eventReply([...deltas, ...segments, frame({ type: 'transcript.text.done', text, usage })])
}

function diarizedSegments(heard: Heard): string[] {
  const { segments } = diarizedBody(heard)
  return Array.isArray(segments) ? segments.map(frame) : []
}
