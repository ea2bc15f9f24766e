import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Wire } from './wire.ts'

/** The formats in which an upstream is asked today. */
export type UpstreamFormat = 'chat' | 'messages'

/** One reply of a real provider, as it came. */
export interface RecordedReply {
  /** Provider and file, with a number where one file has several replies. */
  name: string
  /** The preset that its provider is configured with. */
  preset: string
  format: UpstreamFormat
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
  ['openai/src/chat', 'openai', 'chat'],
  ['groq/src', 'groq', 'chat'],
  ['mistral/src', 'mistral', 'chat'],
  ['deepseek/src/chat', 'deepseek', 'chat'],
  ['openai-compatible/src/chat', 'custom', 'chat'],
  ['xai/src', 'custom', 'chat'],
  ['perplexity/src', 'custom', 'chat'],
]

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

/** How many recorded replies are in the format of responses, in which no upstream is asked. */
export function countResponsesReplies(): number {
  return ['openai', 'xai'].flatMap((provider) =>
    globSync(join(providers, provider, 'src/responses/__fixtures__', '*')),
  ).length
}

function repliesOf(file: string, preset: string, format: UpstreamFormat): RecordedReply[] {
  const text = readFileSync(file, 'utf8')
  const [provider = ''] = file.slice(providers.length + 1).split('/')
  const name = `${provider}/${basename(file)}`
  if (file.endsWith('.json')) {
    const object = JSON.parse(text) as Wire
    if (!Array.isArray(object[format === 'chat' ? 'choices' : 'content'])) return []
    return [
      { name, preset, format, isStream: false, objects: [object], bytes: Buffer.from(text), frameEnds: [] },
    ]
  }
  const payloads = text
    .split('\n')
    .map((line) => line.replace(/^data: /, '').trim())
    .filter((line) => line !== '' && line !== '[DONE]')
  const parts = format === 'messages' ? cutAtStops(payloads) : [payloads]
  return parts.map((part, index) =>
    streamedReply({ name: parts.length === 1 ? name : `${name}#${index + 1}`, preset, format }, part),
  )
}

/** Some files have the replies of several requests, one after the other. */
function cutAtStops(payloads: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  for (const payload of payloads) {
    parts.at(-1)?.push(payload)
    if ((JSON.parse(payload) as Wire)['type'] === 'message_stop') parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

function streamedReply(
  reply: Pick<RecordedReply, 'name' | 'preset' | 'format'>,
  payloads: readonly string[],
): RecordedReply {
  const objects = payloads.map((payload) => JSON.parse(payload) as Wire)
  const frames = payloads.map((payload, index) => {
    const event = reply.format === 'messages' ? `event: ${String(objects[index]?.['type'])}\n` : ''
    return `${event}data: ${payload}\n\n`
  })
  if (reply.format === 'chat') frames.push('data: [DONE]\n\n')
  const frameEnds: number[] = []
  for (const frame of frames) frameEnds.push((frameEnds.at(-1) ?? 0) + Buffer.byteLength(frame))
  return { ...reply, isStream: true, objects, bytes: Buffer.from(frames.join('')), frameEnds }
}
