import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { batchItemBytesMax, batchItemValuesBytesMax } from '../../core/limits/batches.ts'
import {
  jsonDepthMax,
  jsonMembersMax,
  leanTextBytesMin,
  memberParseBytesMax,
} from '../../core/limits/text.ts'
import { hasFewValues } from '../../json/json-body.ts'
import { columnOf, countLines, describePlace, type TextPlace } from '../../json/faults.ts'
import { contractForm, type ItemForm } from './item-form.ts'
import type { WalkedItem } from './item-walk.ts'
import { ItemWalk } from './item-walk.ts'
import { isSpace } from '../../json/bytes.ts'
import { isEscaped, stringEnd } from '../../json/scan.ts'

const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** The bounds of one item. Longer texts in it are copied without being parsed. */
const itemBounds = { textBytesMin: leanTextBytesMin, bytesMax: batchItemValuesBytesMax }

/**
 * Receives what the scanner finds, in the order of the body. The scanner overwrites the bytes after the call returns,
 * so a handler copies the bytes that it keeps.
 */
export interface ScannerHandler {
  /** A member of the top-level object other than `requests`. `value` is null when it was too large to be kept. */
  member(name: string, value: Buffer | null): void
  /** `requests` has begun. */
  requestsBegin(): void
  /**
   * One item of `requests`, from its first byte to its last; `walked` is null when the item could not be proven to be
   * valid JSON.
   */
  item(index: number, value: Buffer, walked: WalkedItem | null): void
  /**
   * An item larger than `batchItemBytesMax`, or with more than `batchItemValuesBytesMax` of values. `head` is only its
   * beginning.
   */
  oversizedItem(index: number, head: Buffer): void
}

/** What the scanner expects at the current byte. */
type State =
  | 'body'
  | 'key_or_end'
  | 'key'
  | 'colon'
  | 'value'
  | 'comma_or_end'
  | 'item_or_end'
  | 'item'
  | 'item_comma_or_end'
  | 'done'

/** The kind of value that the scanner is inside. */
type Walk = 'none' | 'start' | 'container' | 'string' | 'scalar'

const initialWindowBytes = 1 << 18

/**
 * Finds the members of the top-level object and the items of `requests`, in any key order, in a body that arrives in
 * chunks with any boundaries. It holds at most one value: the current one. Every byte is copied once into a window and
 * looked at once. Within a value the scanner looks only at brackets and strings; `JSON.parse` judges the rest.
 */
export class ByteScanner {
  readonly #handler: ScannerHandler
  readonly #itemWalk: ItemWalk
  #window: Buffer = Buffer.allocUnsafe(initialWindowBytes)
  /**
   * The number of bytes that have left the window. The next two fields are the lines that ended in them, and the bytes
   * of the last line, which has not ended.
   */
  #dropped = 0
  #droppedLines = 0
  #droppedLineBytes = 0
  #position = 0
  #end = 0
  /** Offset of the value that is being kept; -1 for none. */
  #pin = -1
  /** Offset of the last value that the handler was given. */
  #valueStart = 0
  #state: State = 'body'
  #walk: Walk = 'none'
  #depth = 0
  #isEscaped = false
  #key = ''
  #names = new Set<string>()
  #items = 0
  #isPaused = false

  constructor(handler: ScannerHandler, form: ItemForm = contractForm) {
    this.#handler = handler
    this.#itemWalk = new ItemWalk(form)
  }

  /** Items of `requests` seen so far. */
  get itemCount(): number {
    return this.#items
  }

  /** Takes the next bytes; throws `invalid_request` where the body breaks the syntax. The chunk is copied. */
  push(chunk: Uint8Array): void {
    assert(!this.#isPaused, 'a paused scanner is resumed before it gets more')
    this.#append(chunk)
    this.#scan()
  }

  /**
   * For the handler: the scanner stops at the current byte, so that the handler's caller can await something before
   * `resume`.
   */
  pause(): void {
    this.#isPaused = true
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Continues with the bytes in the window. */
  resume(): void {
    this.#isPaused = false
    this.#scan()
  }

  #scan(): void {
    while (this.#position < this.#end && !this.#isPaused) {
      if (this.#walk === 'none') this.#structure()
      else if (!this.#walkValue()) break
    }
    this.#boundValue()
  }

  /** The caller calls this once after the last chunk. Throws when the body is cut off. */
  end(): void {
    if (this.#state === 'done') return
    if (this.#state === 'body')
      throw new GatewayError('invalid_request', 'The body must be a JSON object; it is empty.')
    const place = describePlace(this.#placeAt(this.#end))
    throw new GatewayError('invalid_request', `The body ends before its JSON object is complete (${place}).`)
  }

  /** The line and column, in the body, of a byte of the value that the handler was just given. */
  placeInValue(offset: number): TextPlace {
    return this.#placeAt(this.#valueStart + offset)
  }

  /** When a line began before the window, the column counts the bytes of that part, not its characters. */
  #placeAt(offset: number): TextPlace {
    const { count, lastEnd } = countLines(this.#window.subarray(0, offset))
    const column = columnOf(this.#window.subarray(lastEnd, offset)) + 1
    return {
      line: this.#droppedLines + count + 1,
      column: count > 0 ? column : this.#droppedLineBytes + column,
    }
  }

  #drop(bytes: number): void {
    const { count, lastEnd } = countLines(this.#window.subarray(0, bytes))
    this.#dropped += bytes
    this.#droppedLines += count
    this.#droppedLineBytes = count > 0 ? bytes - lastEnd : this.#droppedLineBytes + bytes
  }

  #append(chunk: Uint8Array): void {
    const keepFrom = this.#pin < 0 ? this.#position : this.#pin
    const kept = this.#end - keepFrom
    if (this.#end + chunk.length > this.#window.length) {
      const needed = kept + chunk.length
      this.#drop(keepFrom)
      const target = needed > this.#window.length ? this.#grown(needed) : this.#window
      this.#window.copy(target, 0, keepFrom, this.#end)
      this.#window = target
      this.#position -= keepFrom
      if (this.#pin >= 0) this.#pin = 0
      this.#end = kept
    }
    this.#window.set(chunk, this.#end)
    this.#end += chunk.length
  }

  #grown(needed: number): Buffer {
    return Buffer.allocUnsafe(
      Math.max(needed, Math.min(this.#window.length * 2, batchItemBytesMax + initialWindowBytes)),
    )
  }

  /** One byte of the structure between values. */
  #structure(): void {
    const byte = this.#window[this.#position] ?? 0
    if (isSpace(byte)) {
      this.#position++
      return
    }
    switch (this.#state) {
      case 'body':
        return this.#beginObject(byte)
      case 'key_or_end':
        if (byte === closeBrace) return this.#step('done')
        return this.#beginKey(byte)
      case 'key':
        return this.#beginKey(byte)
      case 'colon':
        if (byte !== colon) throw this.#unexpected('":" after a member name')
        return this.#step('value')
      case 'value':
        return this.#beginMemberValue(byte)
      case 'comma_or_end':
        if (byte === comma) return this.#step('key')
        if (byte === closeBrace) return this.#step('done')
        throw this.#unexpected('"," or "}"')
      case 'item_or_end':
        if (byte === closeBracket) return this.#step('comma_or_end')
        return this.#beginItem()
      case 'item':
        return this.#beginItem()
      case 'item_comma_or_end':
        if (byte === comma) return this.#step('item')
        if (byte === closeBracket) return this.#step('comma_or_end')
        throw this.#unexpected(`"," or "]" after requests[${this.#items - 1}]`)
      case 'done':
        throw this.#unexpected('nothing after the JSON object')
    }
  }

  #step(state: State): void {
    this.#state = state
    this.#position++
  }

  /** A byte order mark is accepted: editors on Windows write one. */
  #beginObject(byte: number): void {
    const offset = this.#dropped + this.#position
    const isMark = offset < 3 && byte === [0xef, 0xbb, 0xbf][offset]
    if (isMark) this.#position++
    else if (byte === openBrace) this.#step('key_or_end')
    else throw new GatewayError('invalid_request', 'The body must be a JSON object.')
  }

  #beginKey(byte: number): void {
    if (byte !== quote) throw this.#unexpected('a member name in quotes')
    this.#state = 'key'
    this.#beginValue()
  }

  #beginMemberValue(byte: number): void {
    if (this.#key !== 'requests') return this.#beginValue()
    if (byte !== openBracket) {
      throw new GatewayError('invalid_request', 'requests must be an array of items.', { param: 'requests' })
    }
    this.#step('item_or_end')
    this.#handler.requestsBegin()
  }

  /** Most items lie in the window as a whole, so the walk that proves an item also finds its end. */
  #beginItem(): void {
    const start = this.#position
    const walked = this.#itemWalk.prove(this.#window, start, this.#end)
    if (walked === null || walked.length > batchItemBytesMax) return this.#beginValue()
    this.#position += walked.length
    this.#valueStart = start
    this.#state = 'item_comma_or_end'
    this.#handler.item(this.#items++, this.#window.subarray(start, this.#position), walked)
  }

  #beginValue(): void {
    this.#pin = this.#position
    this.#walk = 'start'
  }

  /** Continues through the current value; false when the window ends before the value does. */
  #walkValue(): boolean {
    switch (this.#walk) {
      case 'start':
        return this.#walkStart()
      case 'string':
        return this.#walkString()
      case 'container':
        return this.#walkContainer()
      default:
        return this.#walkScalar()
    }
  }

  #walkStart(): boolean {
    const byte = this.#window[this.#position] ?? 0
    this.#depth = 0
    if (byte === quote) {
      this.#position++
      this.#walk = 'string'
    } else if (byte === openBrace || byte === openBracket) {
      this.#walk = 'container'
    } else if (endsScalar(byte)) {
      throw this.#unexpected('a value')
    } else {
      this.#walk = 'scalar'
    }
    return true
  }

  #walkScalar(): boolean {
    while (this.#position < this.#end) {
      if (endsScalar(this.#window[this.#position])) {
        this.#finishValue()
        return true
      }
      this.#position++
    }
    return false
  }

  #walkString(): boolean {
    const after = this.#stringEnd(this.#position)
    if (after < 0) return false
    this.#position = after
    if (this.#depth > 0) this.#walk = 'container'
    else this.#finishValue()
    return true
  }

  /** The hot loop: it counts brackets and skips strings. */
  #walkContainer(): boolean {
    const window = this.#window
    const end = this.#end
    let position = this.#position
    let depth = this.#depth
    while (position < end) {
      const byte = window[position] ?? 0
      if (byte === quote) {
        const after = this.#stringEnd(position + 1)
        if (after < 0) {
          this.#depth = depth
          this.#walk = 'string'
          return false
        }
        position = after
        continue
      }
      position++
      if ((byte | 0x20) === openBrace) {
        if (++depth > jsonDepthMax) throw this.#tooDeep()
      } else if ((byte | 0x20) === closeBrace) {
        if (--depth > 0) continue
        this.#position = position
        this.#depth = 0
        this.#finishValue()
        return true
      }
    }
    this.#position = position
    this.#depth = depth
    return false
  }

  /**
   * Like `stringEnd`, but remembers between chunks whether the next byte is escaped. -1: the string goes on beyond the
   * window.
   */
  #stringEnd(from: number): number {
    let start = from
    if (this.#isEscaped && start < this.#end) {
      this.#isEscaped = false
      start++
    }
    const after = stringEnd(this.#window, start, this.#end)
    if (after >= 0) return after
    if (start < this.#end) this.#isEscaped = isEscaped(this.#window, this.#end, start)
    this.#position = this.#end
    return -1
  }

  /** The current value is complete and ends before `#position`. */
  #finishValue(): void {
    const value = this.#pin < 0 ? null : this.#window.subarray(this.#pin, this.#position)
    this.#valueStart = this.#pin
    this.#walk = 'none'
    this.#pin = -1
    if (this.#state === 'key') return this.#finishKey(value)
    if (this.#state === 'value') {
      this.#state = 'comma_or_end'
      const isKept = value !== null && value.length <= memberParseBytesMax
      return this.#handler.member(this.#key, isKept ? value : null)
    }
    this.#state = 'item_comma_or_end'
    const index = this.#items++
    if (value === null) return
    if (value.length > batchItemBytesMax || !hasFewValues(value, itemBounds))
      this.#handler.oversizedItem(index, value)
    else this.#handler.item(index, value, this.#itemWalk.prove(value, 0, value.length))
  }

  #finishKey(value: Buffer | null): void {
    assert(value !== null, 'a key is bounded before it is dropped')
    if (value.length > memberParseBytesMax) throw this.#nameTooLong()
    this.#key = this.#parseName(value)
    this.#state = 'colon'
    if (this.#names.has(this.#key)) {
      throw new GatewayError(
        'invalid_request',
        `The member ${JSON.stringify(this.#key)} appears twice in the body.`,
        {
          param: this.#key,
        },
      )
    }
    if (this.#names.size === jsonMembersMax) {
      throw new GatewayError('invalid_request', `The body has more than ${jsonMembersMax} members.`)
    }
    this.#names.add(this.#key)
  }

  /** Stops keeping a value that has grown beyond its bound; the scanner still looks for its end. */
  #boundValue(): void {
    if (this.#pin < 0) return
    const length = this.#end - this.#pin
    if (this.#state === 'key' && length > memberParseBytesMax) throw this.#nameTooLong()
    if (this.#state === 'value' && length > memberParseBytesMax) this.#pin = -1
    if (length <= batchItemBytesMax || this.#pin < 0) return
    this.#handler.oversizedItem(this.#items, this.#window.subarray(this.#pin, this.#end))
    this.#pin = -1
  }

  #unexpected(expected: string): GatewayError {
    const place = describePlace(this.#placeAt(this.#position))
    return new GatewayError('invalid_request', `The body is not valid JSON: expected ${expected} (${place}).`)
  }

  #parseName(value: Buffer): string {
    try {
      return String(JSON.parse(value.toString('utf8')))
    } catch {
      const place = describePlace(this.placeInValue(0))
      throw new GatewayError(
        'invalid_request',
        `A member name of the body is not a valid JSON string (${place}).`,
      )
    }
  }

  #tooDeep(): GatewayError {
    const where = this.#state === 'value' ? this.#key : `requests[${this.#items}]`
    return new GatewayError('invalid_request', `${where} is nested more than ${jsonDepthMax} levels deep.`)
  }

  #nameTooLong(): GatewayError {
    return new GatewayError('invalid_request', `A member name is longer than ${memberParseBytesMax} bytes.`)
  }
}

/** Whether this byte ends a number, `true`, `false` or `null`. */
function endsScalar(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)
}
