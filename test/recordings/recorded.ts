import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Wire } from './wire.ts'

/** The formats in which an upstream is asked today. */
export type UpstreamFormat = 'chat' | 'responses' | 'messages' | 'gemini'

/** One reply of a real provider, as it came. */
export interface RecordedReply<Format = UpstreamFormat> {
  /** Provider and file, with a number where one file has several replies. */
  name: string
  /** The preset that its provider is configured with. */
  preset: string
  format: Format
  isStream: boolean
  /** The objects of the stream in order; of a whole reply its body alone. */
  objects: readonly Wire[]
  /** What the provider sent. */
  bytes: Uint8Array<ArrayBuffer>
  /** Offsets behind each frame of a stream; empty for a whole reply. */
  frameEnds: readonly number[]
}

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')
const providers = join(root, 'ai-sdk')

const folders: readonly [folder: string, preset: string, format: UpstreamFormat][] = [
  ['anthropic/src', 'anthropic', 'messages'],
  ['google/src', 'google-ai-studio', 'gemini'],
  ['openai/src/chat', 'openai', 'chat'],
  ['groq/src', 'groq', 'chat'],
  ['mistral/src', 'mistral', 'chat'],
  ['deepseek/src/chat', 'deepseek', 'chat'],
  ['openai-compatible/src/chat', 'custom', 'chat'],
  ['xai/src', 'xai', 'chat'],
  ['perplexity/src', 'custom', 'chat'],
  ['openai/src/responses', 'openai', 'responses'],
  ['xai/src/responses', 'xai', 'responses'],
]

/** A file that nobody's provider sent: its objects are no JSON. */
const brokenFiles: ReadonlySet<string> = new Set(['parallel-tool-call-wrapper.1.chunks.txt'])

/** Files that are left out, for a reason that is to be printed. */
export const leftOut = [...brokenFiles].map((file) => `${file} is no JSON`)

const lists: Readonly<Record<UpstreamFormat, string>> = {
  chat: 'choices',
  responses: 'output',
  messages: 'content',
  gemini: 'candidates',
}

/** The presets that recorded replies are read with, sorted. */
export function presetsOfRecordings(): string[] {
  return [...new Set(folders.map(([, preset]) => preset))].toSorted()
}

/** Why no recordings can be replayed, or null when they are here. */
export function whyNoRecordings(): string | null {
  return existsSync(providers)
    ? null
    : 'no recordings are here: set HEADRACE_RECORDINGS to the folder that has ai-sdk'
}

/** Every recorded reply in a format in which an upstream is asked. Recorded refusals and transcripts are no replies. */
export function listReplies(): RecordedReply[] {
  return folders.flatMap(([folder, preset, format]) =>
    globSync(join(providers, folder, '__fixtures__', '*'))
      .toSorted()
      .flatMap((file) => repliesOf(file, preset, format)),
  )
}

function repliesOf(file: string, preset: string, format: UpstreamFormat): RecordedReply[] {
  if (brokenFiles.has(basename(file))) return []
  const text = readFileSync(file, 'utf8')
  const [provider = ''] = file.slice(providers.length + 1).split('/')
  const name = `${provider}/${basename(file)}`
  if (file.endsWith('.json')) {
    const object = JSON.parse(text) as Wire
    if (!Array.isArray(object[lists[format]])) return []
    return [
      { name, preset, format, isStream: false, objects: [object], bytes: Buffer.from(text), frameEnds: [] },
    ]
  }
  const payloads = text
    .split('\n')
    .map((line) => line.replace(/^data: /, '').trim())
    .filter((line) => line !== '' && line !== '[DONE]')
  const parts = format === 'chat' ? [payloads] : cutAtStops(payloads)
  return parts
    .filter(isAnswer)
    .map((part, index) =>
      streamedReply({ name: parts.length === 1 ? name : `${name}#${index + 1}`, preset, format }, part),
    )
}

const stops: ReadonlySet<unknown> = new Set(['message_stop', 'response.completed', 'response.failed'])

/** A stream that fails is a refusal. */
function isAnswer(payloads: readonly string[]): boolean {
  return (JSON.parse(payloads.at(-1) ?? '{}') as Wire)['type'] !== 'response.failed'
}

/** Some files have the replies of several requests, one after the other. */
function cutAtStops(payloads: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  for (const payload of payloads) {
    parts.at(-1)?.push(payload)
    if (stops.has((JSON.parse(payload) as Wire)['type'])) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

function streamedReply(
  reply: Pick<RecordedReply, 'name' | 'preset' | 'format'>,
  payloads: readonly string[],
): RecordedReply {
  const objects = payloads.map((payload) => JSON.parse(payload) as Wire)
  const frames = payloads.map((payload, index) => {
    const event = reply.format !== 'chat' ? `event: ${String(objects[index]?.['type'])}\n` : ''
    return `${event}data: ${payload}\n\n`
  })
  if (reply.format === 'chat') frames.push('data: [DONE]\n\n')
  const frameEnds: number[] = []
  for (const frame of frames) frameEnds.push((frameEnds.at(-1) ?? 0) + Buffer.byteLength(frame))
  return { ...reply, isStream: true, objects, bytes: Buffer.from(frames.join('')), frameEnds }
}
