import type { Listening } from '../audio/hearing.ts'
import { beginSpeech } from '../begun-speech.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import { frame, jsonReply, type Reply } from '../reply.ts'
import { voices } from '../synthesize.ts'
import { countTokens } from '../tokens.ts'
import { pcmSampleRate } from '../tone.ts'
import { distortUsage } from '../usage.ts'
import { textOf } from './contents.ts'
import { type ContentForm, type ContentRequest, googleVoices } from './request.ts'

/** Tokens of speech; approximate, as Google documents it. */
const tokensPerSecond = 25
const bytesPerSecond = 2 * pcmSampleRate
const mimeType = `audio/L16;codec=pcm;rate=${pcmSampleRate}`

interface Reading extends Listening {
  form: ContentForm
  /** The key from which ids are made. */
  key: string
}

/**
 * A text as speech: whole, or as events of at least a fifth of a second. Throws 400 when the request has more than a
 * text.
 */
export async function readAloud(request: ContentRequest, reading: Reading): Promise<Reply> {
  const { form, key } = reading
  const text = request.contents.map(textOf).join('\n')
  if (request.contents.some(({ parts }) => parts.some((part) => part['text'] === undefined)))
    throw invalidRequest(`Only text input is supported for models/${request.model.id}`)
  if (countTokens(text) > request.model.inputTokensMax)
    throw invalidRequest(
      `The input token count (${countTokens(text)}) exceeds the maximum number of tokens allowed (${request.model.inputTokensMax}).`,
    )
  const head = { modelVersion: request.model.id, responseId: lettersOf(key, 22) }
  const answer: Answering = { head, reading, inputTokens: countTokens(text) }
  const silent = silentAnswer(answer)
  if (silent !== null)
    return form === 'sse'
      ? events([frame(silent)])
      : jsonReply(JSON.stringify(form === 'whole' ? silent : [silent]))
  const voice = voices[googleVoices.indexOf(request.voice ?? 'Kore') % voices.length] ?? ''
  const { audio, engine, dispose } = await beginSpeech({ text, voice, speed: 1, format: 'pcm' }, reading)
  const headers = { 'x-simulator-speech': engine }
  if (form === 'sse') return { ...events(mapped(framesOf(audio, answer), frame)), headers, dispose }
  try {
    const body =
      form === 'whole' ? await wholeOf(audio, answer) : await Array.fromAsync(framesOf(audio, answer))
    return { ...jsonReply(JSON.stringify(body)), headers }
  } finally {
    await dispose()
  }
}

interface Answering {
  head: JsonObject
  reading: Reading
  inputTokens: number
}

/** The answer that a fault sends in place of sound; null for sound. */
function silentAnswer(answer: Answering): JsonObject | null {
  const { refusal, finish, text } = answer.reading.faults
  if (refusal !== undefined)
    return { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, ...usageOf(answer, 0), ...answer.head }
  if (finish === undefined && text === undefined) return null
  const content = text === undefined ? { role: 'model' } : { role: 'model', parts: [{ text }] }
  return {
    candidates: [{ content, finishReason: finish ?? 'STOP', index: 0 }],
    ...usageOf(answer, 0),
    ...answer.head,
  }
}

/** Each event has new sound and the counts so far; the finish reason follows the sound. */
async function* framesOf(audio: AsyncIterable<Uint8Array>, answer: Answering): AsyncGenerator<JsonObject> {
  let bytes = 0
  for await (const chunk of audio) {
    bytes += chunk.length
    const data = Buffer.from(chunk).toString('base64')
    const content = { role: 'model', parts: [{ inlineData: { mimeType, data } }] }
    yield { candidates: [{ content, index: 0 }], ...usageOf(answer, bytes), ...answer.head }
  }
  const candidates = [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }]
  yield { candidates, ...usageOf(answer, bytes), ...answer.head }
}

async function wholeOf(audio: AsyncIterable<Uint8Array>, answer: Answering): Promise<JsonObject> {
  const sound = Buffer.concat(await Array.fromAsync(audio))
  const content = { role: 'model', parts: [{ inlineData: { mimeType, data: sound.toString('base64') } }] }
  return {
    candidates: [{ content, finishReason: 'STOP', index: 0 }],
    ...usageOf(answer, sound.length),
    ...answer.head,
  }
}

function usageOf({ reading, inputTokens }: Answering, bytes: number): JsonObject {
  const said = Math.ceil((bytes / bytesPerSecond) * tokensPerSecond)
  const counts = {
    promptTokenCount: inputTokens,
    ...(said === 0 ? {} : { candidatesTokenCount: said }),
    totalTokenCount: inputTokens + said,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
    ...(said === 0 ? {} : { candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: said }] }),
  }
  const told = distortUsage(counts, reading.faults.usage)
  return told === undefined ? {} : { usageMetadata: told }
}

function events(frames: Iterable<string> | AsyncIterable<string>): Reply {
  return { status: 200, contentType: 'text/event-stream', body: mapped(frames, (text) => Buffer.from(text)) }
}

async function* mapped<From, To>(
  values: Iterable<From> | AsyncIterable<From>,
  change: (value: From) => To,
): AsyncGenerator<To> {
  for await (const value of values) yield change(value)
}
