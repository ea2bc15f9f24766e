import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedReply } from './recorded.ts'
import { objectsOfStream, type Wire } from './wire.ts'

/** One exchange of another project's client with a real host. */
export interface OutsideExchange {
  id: string
  vendor: string
  format: 'chat' | 'responses' | 'messages' | 'gemini' | 'embeddings' | 'transcription'
  /** The file of its own repository that it stands in. */
  source: string
  status: number
  responseType: string
  /** What its client sent; absent where that was no JSON. */
  request?: Wire
  response?: Wire
  /** The body of a stream. */
  sse?: string
}

/** Where the recordings are, for a test that runs elsewhere too. */
export const recordingsRoot =
  process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')
const folder = join(recordingsRoot, 'outside')

/** Why nothing can be replayed, or null when it can. */
export function whyNoOutside(): string | null {
  return existsSync(folder)
    ? null
    : 'no exchanges of other projects are here: set HEADRACE_RECORDINGS to the folder that has outside'
}

/** The exchanges that are replayed through the program, by their ids; those of Bedrock's and Cohere's formats are read alone. */
export function listExchanges(): OutsideExchange[] {
  return globSync(join(folder, '{,anthropic-,azure-,bedrock-mantle-,openai-}[xy][0-9]*.json'))
    .toSorted()
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as OutsideExchange)
}

/** The presets that speak as the hosts do of which there is none of their own. */
const presets: Readonly<Record<string, string>> = {
  vertex: 'vertex-ai',
  google: 'google-ai-studio',
  'bedrock-mantle': 'amazon-bedrock-mantle',
  cloudflare: 'custom',
  perplexity: 'custom',
}

/** The preset with which the exchange's host is asked in its format. */
export function presetOfVendor({ vendor }: OutsideExchange): string {
  return presets[vendor] ?? vendor
}

/** The reply as the replays of recordings read one; null for what is no conversation. */
export function toReply(exchange: OutsideExchange): RecordedReply | null {
  const { id, vendor, format, response, sse } = exchange
  if (format === 'embeddings' || format === 'transcription') return null
  const name = `${vendor}/${id}`
  const bytes = bytesOf(exchange)
  const base = { name, preset: presetOfVendor(exchange), format, bytes }
  if (sse === undefined)
    return { ...base, isStream: false, objects: response === undefined ? [] : [response], frameEnds: [] }
  const frameEnds: number[] = []
  for (let at = sse.indexOf('\n\n'); at >= 0; at = sse.indexOf('\n\n', at + 2))
    frameEnds.push(Buffer.byteLength(sse.slice(0, at + 2)))
  return { ...base, isStream: true, objects: objectsOfStream(sse), frameEnds }
}

/** The body as the host sent it. */
export function bytesOf({ response, sse }: OutsideExchange): Buffer<ArrayBuffer> {
  return Buffer.from(sse ?? JSON.stringify(response))
}
