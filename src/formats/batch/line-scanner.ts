import { batchItemBytesMax, batchItemValuesBytesMax } from '../../core/limits/batches.ts'
import { leanTextBytesMin } from '../../core/limits/text.ts'
import { isSpace } from '../../json/bytes.ts'
import type { TextPlace } from '../../json/faults.ts'
import { hasFewValues } from '../../json/json-body.ts'
import type { ScannerHandler } from './byte-scanner.ts'
import type { ItemForm } from './item-form.ts'
import { ItemWalk } from './item-walk.ts'

const newline = 0x0a
const initialBytes = 1 << 18
const itemBounds = { textBytesMin: leanTextBytesMin, bytesMax: batchItemValuesBytesMax }

/**
 * Finds the items of a file of lines that arrives in chunks with any boundaries. It holds at most one line; every byte is
 * copied once. Lines of white space are skipped, but count.
 */
export class LineScanner {
  readonly #handler: Pick<ScannerHandler, 'item' | 'oversizedItem'>
  readonly #walk: ItemWalk
  #buffer = Buffer.allocUnsafe(initialBytes)
  #used = 0
  #lines = 0
  #items = 0
  /** The rest of the present line is left out, because the line is too large. */
  #isSkipping = false

  constructor(handler: Pick<ScannerHandler, 'item' | 'oversizedItem'>, form: ItemForm) {
    this.#handler = handler
    this.#walk = new ItemWalk(form)
  }

  /** As in `ByteScanner`; nothing stops this scanner. */
  readonly isPaused = false
  resume(): void {}

  /** Items seen so far. */
  get itemCount(): number {
    return this.#items
  }

  /** The number of the line that the handler was just given, from 1. */
  get line(): number {
    return this.#lines
  }

  /** The line and column of a byte of the item that the handler was just given. */
  placeInValue(offset: number): TextPlace {
    return { line: this.#lines, column: offset + 1 }
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(newline, start)
      const end = found < 0 ? bytes.length : found
      this.#append(bytes.subarray(start, end))
      if (found >= 0) this.#endLine()
      start = end + 1
    }
  }

  /** The last line may have no line break. */
  end(): void {
    if (this.#used > 0 || this.#isSkipping) this.#endLine()
  }

  #append(bytes: Buffer): void {
    if (this.#isSkipping) return
    if (this.#used + bytes.length > batchItemBytesMax + 1) {
      const room = Math.max(0, Math.min(bytes.length, initialBytes - this.#used))
      if (room > 0) bytes.copy(this.#buffer, this.#used, 0, room)
      this.#used += room
      this.#isSkipping = true
      return
    }
    if (this.#used + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#used + bytes.length, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#used)
      this.#buffer = larger
    }
    bytes.copy(this.#buffer, this.#used)
    this.#used += bytes.length
  }

  #endLine(): void {
    this.#lines++
    const { start, end } = this.#content()
    const isOversized = this.#isSkipping
    this.#used = 0
    this.#isSkipping = false
    if (start === end) return
    const value = this.#buffer.subarray(start, end)
    const index = this.#items++
    if (isOversized || !hasFewValues(value, itemBounds)) return this.#handler.oversizedItem(index, value)
    const walked = this.#walk.prove(this.#buffer, start, end)
    this.#handler.item(index, value, walked?.length === value.length ? walked : null)
  }

  /** The line without the white space around it, and without the mark at the beginning of a file. */
  #content(): { start: number; end: number } {
    let start = 0
    let end = this.#used
    const hasMark = this.#lines === 1 && this.#buffer.readUIntBE(0, 3) === 0xefbbbf && end >= 3
    if (hasMark) start = 3
    while (start < end && isSpace(this.#buffer[start])) start++
    while (end > start && isSpace(this.#buffer[end - 1])) end--
    return { start, end }
  }
}
