import { randomFillSync } from 'node:crypto'

/** Ids carry their kind, are time-ordered, and are distinct types in code. */
export type Id<Kind extends string> = string & { readonly __kind?: Kind }
export type OrganizationId = Id<'organization'>
export type WorkspaceId = Id<'workspace'>
export type MemberId = Id<'member'>
export type KeyId = Id<'key'>
export type SessionId = Id<'session'>
export type BatchId = Id<'batch'>
export type GenerationId = Id<'generation'>

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz'
const alphabetCodes = Buffer.from(alphabet, 'latin1')
const poolBytes = 4096
/** Unused random characters; ids take them from the front. */
let pool = ''
let poolOffset = 0

/** Lower-case letters and digits from the system's random source; rejection keeps them uniform. */
export function randomText(length: number): string {
  let text = ''
  for (;;) {
    const missing = length - text.length
    text += pool.slice(poolOffset, poolOffset + missing)
    poolOffset += missing
    if (text.length === length) return text
    refillPool()
  }
}

/** Makes a few thousand characters at a time: making them for each id would cost more than the rest of the id. */
function refillPool(): void {
  const bytes = randomFillSync(Buffer.allocUnsafe(poolBytes))
  let length = 0
  for (let index = 0; index < poolBytes; index += 1) {
    const byte = bytes[index] ?? 0
    if (byte < 252) bytes[length++] = alphabetCodes[byte % 36] ?? 0
  }
  pool = bytes.toString('latin1', 0, length)
  poolOffset = 0
}

/** `<prefix>_<9 characters of time><15 random>`, sortable by creation within a millisecond's precision. */
export function newId(prefix: string, nowMs: number): string {
  if (nowMs !== writtenMs) {
    writtenMs = nowMs
    writtenTime = nowMs.toString(36).padStart(9, '0')
  }
  return `${prefix}_${writtenTime}${randomText(15)}`
}

/** The time of the last id and its text: a busy gateway makes several ids in one millisecond. */
let writtenMs = Number.NaN
let writtenTime = ''

/**
 * The public contract's generation ids: `gen-<unix seconds>-<20 characters>`, also `gen-stt-…`, `gen-tts-…`,
 * `gen-batch-…`. The first two of the 20 characters are the millisecond, so that rows of one second lie side by side in
 * every index: random places would make each commit write many pages.
 */
export function newGenerationId(
  prefix: 'gen' | 'gen-stt' | 'gen-tts' | 'gen-batch',
  nowMs: number,
): GenerationId {
  const seconds = Math.floor(nowMs / 1000)
  const milliseconds = Math.floor(nowMs - seconds * 1000)
  return `${prefix}-${seconds}-${milliseconds.toString(36).padStart(2, '0')}${randomText(18)}`
}

const generationPrefixes = ['gen-', 'gen-stt-', 'gen-tts-', 'gen-batch-']
const secondsDigitsMax = 11
const zeroCode = '0'.charCodeAt(0)

/** The day of ids that do not begin with a time, such as a grant's. */
export const undatedDay = 0

/**
 * The day (UTC, counted from the epoch) that is part of a transaction's key. It comes from the id alone, so that a
 * repetition on a later day, or with another time of creation, finds the row of the first.
 */
export function dayOfTransaction(transactionId: string): number {
  const seconds = secondsOf(transactionId)
  return seconds === null ? undatedDay : Math.floor(seconds / 86_400)
}

/** The time (Unix milliseconds) of the second in which a generation began; null for an id that tells none. */
export function generationBeganAtMs(generationId: string): number | null {
  const seconds = secondsOf(generationId)
  return seconds === null ? null : seconds * 1000
}

function secondsOf(id: string): number | null {
  for (const prefix of generationPrefixes) {
    if (!id.startsWith(prefix)) continue
    const seconds = readSeconds(id, prefix.length)
    if (seconds !== null) return seconds
  }
  return null
}

/**
 * The digits from `start` up to a dash; null when there is something else. A loop, because every capture calls it
 * twice.
 */
function readSeconds(text: string, start: number): number | null {
  let seconds = 0
  for (let index = start; index <= start + secondsDigitsMax; index++) {
    const digit = text.charCodeAt(index) - zeroCode
    if (digit >= 0 && digit <= 9) seconds = seconds * 10 + digit
    else return index > start && text[index] === '-' ? seconds : null
  }
  return null
}
