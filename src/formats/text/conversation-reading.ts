import { hasMember, type JsonDocument, leanMemberValue, memberValue } from '../../json/document.ts'
import type { Effort, Extras, MediaSource, Part, ToolResultPart } from '../../canonical/text/conversation.ts'
import { isKeptNumber, isRecord, numberOrNull, parseExactly } from '../../json/values.ts'
import { fieldError } from '../../core/errors.ts'
import { droppedNamesMax } from '../../core/limits/text.ts'
import { mark, wholeText } from '../../json/set-aside-texts.ts'
import { readMediaUrl } from './media/media-source.ts'
import { type Opened, openReasoning, sealedPrefix } from './thoughts/reasoning-envelope.ts'

type Wire = Readonly<Record<string, unknown>>

/** Members that may be as large as the body, read without the longer texts of a lean one. */
const large: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'instructions',
  'system',
  'tools',
  'functions',
])

/** Members that carry values which nobody here reads: inputs and schemas. Their numbers stay as they were written. */
const carried: ReadonlySet<string> = new Set([
  ...large,
  'response_format',
  'output_config',
  'output_format',
  'text',
])

/** A request on its way into a conversation: its members, and which of them no other format has. */
export class ConversationReading {
  /** Paths of members inside messages and tools that only the caller's own format carries; of very many the first. */
  readonly own = new Set<string>()
  readonly #document: JsonDocument

  constructor(document: JsonDocument) {
    this.#document = document
  }

  has(name: string): boolean {
    return hasMember(this.#document, name)
  }

  /** Null when it is absent. Texts of the large members may be marks in a lean document. */
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

  /** A text that has to be looked into, with what was left out of it. */
  whole(text: string): string {
    const { lean, bytes } = this.#document
    return lean !== null && text.includes(mark) ? wholeText(text, bytes, lean) : text
  }

  /** What binds a thought; one that this gateway sealed is looked into. */
  bound(text: string): Opened | null {
    return text.startsWith(sealedPrefix) ? openReasoning(this.whole(text)) : null
  }

  /** A source by its address; what is words in it may have to be told as such, and is there whole. */
  media(url: string, fallbackType: string): MediaSource {
    const source = readMediaUrl(url, fallbackType)
    if (source.kind !== 'data' || !source.mediaType.startsWith('text/')) return source
    return { ...source, base64: this.whole(source.base64) }
  }

  /** A value whose JSON becomes a text, with what was left out of its texts. */
  wholeValue(value: unknown): unknown {
    if (this.#document.lean === null) return value
    if (typeof value === 'string') return this.whole(value)
    if (Array.isArray(value)) return value.map((each) => this.wholeValue(each))
    if (!isRecord(value) || isKeptNumber(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.wholeValue(each)]))
  }

  /** Members of an object other than these, noted as `path.name`; null for none. Those that say nothing do not count. */
  rest(wire: Wire, known: ReadonlySet<string>, path: string): Wire | null {
    let rest: Record<string, unknown> | null = null
    for (const name in wire) {
      if (known.has(name)) continue
      const value = wire[name]
      if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue
      rest ??= {}
      rest[name] = value
      if (this.own.size < droppedNamesMax) this.own.add(`${path}.${name.slice(0, shownNameLengthMax)}`)
    }
    return rest
  }
}

/** The schema that an answer is to hold to. Throws `invalid_request` where it is none. */
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
 * A list of which every entry is an object, such as the parts of a content. An entry of another kind would be lost, so
 * it throws `invalid_request` that names the entry by its path.
 */
export function objectsOf(list: readonly unknown[], path: string, form: string): readonly Wire[] {
  if (list.every(isRecord)) return list
  throw fieldError(`${path}[${list.findIndex((entry) => !isRecord(entry))}]`, `must be ${form}.`)
}

type ResultContent = ToolResultPart['content']

/** What a tool said, read from the content at this path. Throws `invalid_request` for what only a model or a user says. */
export function resultOf(parts: readonly Part[], path: string): ResultContent {
  if (parts.every(isResultPart)) return parts
  const wrong = parts.findIndex((part) => !isResultPart(part))
  throw fieldError(`${path}[${wrong}]`, 'must be a text, an image or a file, because a tool said it.')
}

function isResultPart(part: Part): part is ResultContent[number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'opaque'
}

/** A caller may name a member as it likes. */
const shownNameLengthMax = 64

/** The same members as a part, turn or tool keeps them. */
export function extrasOf(format: keyof Extras, rest: Wire | null): { extras?: Extras } {
  return rest === null ? {} : { extras: { [format]: rest } }
}

/** How hard to think; a word that formats do not share is noted by its path. */
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

/** How hard to think, where it is one of the words that formats share. */
export function effortOrNull(value: unknown): Effort | null {
  return efforts.has(value) ? (value as Effort) : null
}

/** The level that so many tokens to think with come to. */
export function effortOf(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= 4_096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

/** A document of words, which the format has no part for. */
export function asText(text: string, name: string | null, context: string | null): string {
  const title = name === null ? '' : `${name}\n`
  return `${title}${context === null ? '' : `${context}\n`}${text}`
}
