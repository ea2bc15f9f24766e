import { hasMember, type JsonDocument, leanMemberValue, memberValue } from '../../json/document.ts'
import type { Effort, Extras, MediaSource, Part, ToolResultPart } from '../../canonical/text/conversation.ts'
import { isKeptNumber, isRecord, numberOrNull, parseExactly } from '../../json/values.ts'
import { fieldError } from '../../core/errors.ts'
import { droppedNamesMax } from '../../core/limits/text.ts'
import { mark, wholeText } from '../../json/set-aside-texts.ts'
import { readMediaUrl } from './media/media-source.ts'
import { type Opened, openReasoning, sealedPrefix } from './thoughts/reasoning-envelope.ts'

type Wire = Readonly<Record<string, unknown>>

/** Members that may be as large as the body. A lean document has them without their longer texts. */
const large: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'instructions',
  'system',
  'tools',
  'functions',
])

/** Members whose values this reader passes on unread, such as inputs and schemas. Their numbers keep their spelling. */
const carried: ReadonlySet<string> = new Set([
  ...large,
  'response_format',
  'output_config',
  'output_format',
  'text',
])

/** A request that is being read as a conversation: its members, and which of them no other format has. */
export class ConversationReading {
  /**
   * Paths of members inside messages and tools that only the caller's own format carries; at most `droppedNamesMax` of
   * them.
   */
  readonly own = new Set<string>()
  /** Whether the provider's format has such members too, so that they are kept. */
  readonly keepsOwn: boolean
  readonly #document: JsonDocument

  constructor(document: JsonDocument, keepsOwn: boolean) {
    this.#document = document
    this.keepsOwn = keepsOwn
  }

  has(name: string): boolean {
    return hasMember(this.#document, name)
  }

  /** Null when absent. In a lean document, texts of the large members may be marks. */
  value(name: string): unknown {
    if (!this.has(name)) return null
    if (!carried.has(name)) return memberValue(this.#document, name)
    return large.has(name)
      ? leanMemberValue(this.#document, name, parseExactly)
      : memberValue(this.#document, name, parseExactly)
  }

  number(name: string): number | null {
    return numberOrNull(this.value(name))
  }

  /** A text that must be read whole, with set-aside text put back. */
  whole(text: string): string {
    const { lean, bytes } = this.#document
    return lean !== null && text.includes(mark) ? wholeText(text, bytes, lean) : text
  }

  /** The contents of a seal; null for a text that this gateway did not seal. */
  bound(text: string): Opened | null {
    return text.startsWith(sealedPrefix) ? openReasoning(this.whole(text)) : null
  }

  /** A media source by its URL. A text file is read whole, because a format without a part for it shows its text. */
  media(url: string, fallbackType: string): MediaSource {
    const source = readMediaUrl(url, fallbackType)
    if (source.kind !== 'data' || !source.mediaType.startsWith('text/')) return source
    return { ...source, base64: this.whole(source.base64) }
  }

  /** A value whose JSON becomes a text, with set-aside texts put back. */
  wholeValue(value: unknown): unknown {
    if (this.#document.lean === null) return value
    if (typeof value === 'string') return this.whole(value)
    if (Array.isArray(value)) return value.map((each) => this.wholeValue(each))
    if (!isRecord(value) || isKeptNumber(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.wholeValue(each)]))
  }

  /**
   * The other members of an object, each noted as `path.name`; null when there are none, or when none are kept. Null
   * and empty lists do not count.
   */
  rest(wire: Wire, known: ReadonlySet<string>, path: string): Wire | null {
    let rest: Record<string, unknown> | null = null
    if (!this.keepsOwn && this.own.size >= droppedNamesMax) return null
    for (const name in wire) {
      if (known.has(name)) continue
      const value = wire[name]
      if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue
      if (this.keepsOwn) {
        rest ??= {}
        rest[name] = value
      }
      if (this.own.size < droppedNamesMax) this.own.add(`${path}.${name.slice(0, shownNameLengthMax)}`)
    }
    return rest
  }
}

/** The schema for the answer. Throws `invalid_request` when it is not an object. */
export function schemaAt(schema: unknown, path: string): Wire {
  if (isRecord(schema)) return schema
  throw fieldError(path, 'must be an object: the JSON schema that the answer is to hold to.')
}

/** Arguments are a JSON text in the formats of chat and responses; a few clients send the object itself. */
export function argumentsOf(given: unknown, reading: ConversationReading): string {
  if (typeof given === 'string') return reading.whole(given)
  return given === null || given === undefined ? '' : JSON.stringify(reading.wholeValue(given))
}

/**
 * A list whose entries must all be objects, such as the parts of a content. Another entry would be lost, so the
 * function throws `invalid_request`, which names the entry by its path.
 */
export function objectsOf(list: readonly unknown[], path: string, form: string): readonly Wire[] {
  if (list.every(isRecord)) return list
  throw fieldError(`${path}[${list.findIndex((entry) => !isRecord(entry))}]`, `must be ${form}.`)
}

type ResultContent = ToolResultPart['content']

/**
 * The result of a tool, from the content at this path. Throws `invalid_request` for parts that only a model or a user
 * may send.
 */
export function resultOf(parts: readonly Part[], path: string): ResultContent {
  if (parts.every(isResultPart)) return parts
  const wrong = parts.findIndex((part) => !isResultPart(part))
  throw fieldError(`${path}[${wrong}]`, 'must be a text, an image or a file, because a tool said it.')
}

function isResultPart(part: Part): part is ResultContent[number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'opaque'
}

/** The caller chooses the name of an unknown member, so it is cut when shown. */
const shownNameLengthMax = 64

/** The other members, as a part, turn or tool keeps them. */
export function extrasOf(format: keyof Extras, rest: Wire | null): { extras?: Extras } {
  return rest === null ? {} : { extras: { [format]: rest } }
}

/** The effort; a value that other formats do not have is noted by its path. */
export function readEffort(wire: unknown, path: string, reading: ConversationReading): Effort | null {
  const effort = effortOrNull(wire)
  if (effort === null && wire !== undefined && wire !== null) reading.own.add(path)
  return effort
}

const efforts: ReadonlySet<unknown> = new Set<Effort>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
])

/** The effort, if it is one that the formats share. */
export function effortOrNull(value: unknown): Effort | null {
  return efforts.has(value) ? (value as Effort) : null
}

/** The level nearest to a number of tokens for thinking. */
export function effortOf(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

/** A text document, for a format without a part for it. */
export function asText(text: string, name: string | null, context: string | null): string {
  const title = name === null ? '' : `${name}\n`
  return `${title}${context === null ? '' : `${context}\n`}${text}`
}
