import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from './wire.ts'

/** One transcript that a real provider gave, and what a caller must be told of it, said after its documents. */
export interface RecordedTranscript {
  preset: string
  /** The name that the provider knows. */
  upstream: string
  /** The last reply, which has the transcript. */
  file: string
  /** Replies to the requests before it, where the transcript is a job: one for each. */
  earlier?: readonly string[]
  /** The files have the request besides. */
  isExchange?: true
  /** Only where word times can be asked for. */
  words: boolean
  /** Where the provider told speakers apart, and says so only when it is asked. */
  diarize?: true
  expected(wire: Wire, earlier: readonly Wire[]): Record<string, unknown>
}

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')

/** A list of a recorded answer. */
export const listOf = (value: unknown) => value as Wire[]
/** Its first object. */
export const first = (value: unknown) => listOf(value)[0] ?? {}

/** The bodies that were recorded, in the order in which they came. */
export function readReplies({ file, earlier = [], isExchange }: RecordedTranscript): Wire[] {
  return [...earlier, file].map((name) => {
    const recorded = JSON.parse(readFileSync(join(root, 'ai-sdk', name), 'utf8')) as Wire
    return isExchange === true ? (recorded['response'] as Wire) : recorded
  })
}

/** Why they cannot be replayed, or null when they are here. */
export function whyNoTranscripts(): string | null {
  return existsSync(join(root, 'ai-sdk'))
    ? null
    : 'recorded transcripts are not here: set HEADRACE_RECORDINGS to read real ones'
}
