import type { BodyPieces } from '../../core/body.ts'
import { joinPieces } from '../../core/body.ts'
import { nextTurn } from '../../core/turns.ts'
import {
  editPieces,
  type JsonDocument,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from '../../json/document.ts'
import { isRecord } from '../../json/values.ts'

/** Frames that are read in one turn of the event loop. */
const framesPerTurn = 64

/** Members that hold an answer within an event, and those that tell the time of one. */
const holders = ['response', 'message'] as const
const times = ['created', 'created_at', 'completed_at'] as const
/** What a hit never shows: what was found out about the first call. */
const metadata = ['openrouter_metadata', 'headrace_metadata']

/**
 * An answer as it is kept: usage is zero, metadata is gone, and a mark stands for each time at which it was made. The ids
 * in it are those of its generation, which `fromTemplate` replaces; a generation's id is random, so it stands nowhere
 * else. Null for an answer that cannot be read, or that says it failed.
 */
export async function toTemplate(
  body: Uint8Array,
  { generationId, isStreamed }: { generationId: string; isStreamed: boolean },
): Promise<string | null> {
  const mark = markOf(generationId)
  try {
    if (!isStreamed) return textOf(edited(body, mark))
    return await streamTemplate(Buffer.from(body).toString(), mark)
  } catch {
    return null
  }
}

/** The answer of another generation, made at another time. */
export function fromTemplate(
  template: string,
  { sourceId, generationId, nowMs }: { sourceId: string; generationId: string; nowMs: number },
): string {
  const seconds = String(Math.floor(nowMs / 1_000))
  return template.replaceAll(markOf(sourceId), seconds).replaceAll(sourceId, generationId)
}

function markOf(generationId: string): string {
  return `<time of ${generationId.split('').toReversed().join('')}>`
}

/** Throws for an event of failure. Lines other than data stay as they are. */
async function streamTemplate(text: string, mark: string): Promise<string> {
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    if (index % framesPerTurn === framesPerTurn - 1) await nextTurn()
    if (line.startsWith('event: error') || line.startsWith('event: response.failed'))
      throw new Error('the stream failed')
    if (!line.startsWith('data: {')) continue
    lines[index] = `data: ${textOf(edited(Buffer.from(line.slice('data: '.length)), mark))}`
  }
  return lines.join('\n')
}

function edited(json: Uint8Array, mark: string): BodyPieces {
  const document = parseJsonDocument(json)
  const { members } = document
  if (members.has('error') && memberValue(document, 'error') !== null) throw new Error('the answer failed')
  const set: Record<string, BodyPieces> = {}
  for (const name of times) if (typeof valueOf(document, name) === 'number') set[name] = [mark]
  const usage = valueOf(document, 'usage')
  if (isRecord(usage)) set['usage'] = [JSON.stringify(zeroed(usage))]
  for (const name of holders) {
    const held = memberBytes(document, name)
    if (held !== null && held[0] === 0x7b) set[name] = edited(held, mark)
  }
  return editPieces(document, { set, remove: metadata })
}

function valueOf(document: JsonDocument, name: string): unknown {
  return document.members.has(name) ? memberValue(document, name) : undefined
}

/** The same members with zeros: a hit uses nothing. */
function zeroed(usage: unknown): unknown {
  if (typeof usage === 'number') return 0
  if (Array.isArray(usage)) return usage.map(zeroed)
  if (!isRecord(usage)) return usage
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, zeroed(value)]))
}

function textOf(pieces: BodyPieces): string {
  return Buffer.from(joinPieces(pieces)).toString()
}
