import { BadAnswer, isTokenByte, isValueByte, readAnswerHead, type AnswerHead } from './answer-head.ts'

/** Largest head of an answer; the largest that were seen have about 8 kB, most of it cookies and policies. */
const answerHeadBytesMax = 65_536
/** First memory for a head that arrives in parts. */
const answerHeadBytesUsual = 4_096
/** Heads of status 100 to 199 before the answer's own; 103 may come several times. */
const interimHeadsMax = 8
/** Trailers after a chunked body; nobody reads them. */
const trailerBytesMax = 8_192
/** Digits of a chunk's size, which allow 4 GB. */
const chunkSizeDigitsMax = 8
/** Extensions behind one chunk's size; nobody reads them. */
const chunkExtensionBytesMax = 1_024

/** Parts of a read up to this size are copied: for a view the runtime first gives the read a buffer, which takes as long as copying this. */
const copiedBytesMax = 4_096

/** Takes an answer as it is read. Of each read it gets at most one head and one piece of the body, in this order. */
export interface AnswerSink {
  onHead(head: AnswerHead): void
  onBody(bytes: Buffer): void
}

/** `head` to `untilClose` are the places in an answer; `ended` comes after its last byte. */
type State = 'head' | 'length' | 'size' | 'chunk' | 'chunkEnd' | 'trailers' | 'untilClose' | 'ended'

const cr = 13
const lf = 10
const semicolon = 59
const equals = 61
const colon = 58
/** Headers that would say something else about an answer whose end is already here. */
const framingPattern = /^(?:content-length|transfer-encoding)$/i
const headEnd = Buffer.from('\r\n\r\n')
const protocol = Buffer.from('HTTP/1.')

const hexDigit = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit += 1) {
  const text = digit.toString(16)
  hexDigit[text.charCodeAt(0)] = digit
  hexDigit[text.toUpperCase().charCodeAt(0)] = digit
}

/**
 * Parses answers of HTTP/1.1, one at a time, and refuses what two readers might read differently. Work is linear in the
 * bytes, however they are split into reads. It changes the reads that it is given: the chunks of one read are moved
 * together, so that its reader gets one piece.
 */
export class AnswerParser {
  #state: State = 'ended'
  #sink: AnswerSink | null = null
  /** The beginning of a head that has not arrived whole. */
  #held: Buffer | null = null
  #heldLength = 0
  #interimHeads = 0
  /** Bytes until the body or the chunk ends. */
  #left = 0
  #digits = 0
  #lineBytes = 0
  /** Name of the trailer that is being read. */
  #trailer = ''
  /** Inside a line of a chunked body: which byte may come next. */
  #line: Line = 'start'
  /** The head of this answer; null until it has arrived. */
  head: AnswerHead | null = null

  /** Whether an answer has ended, or none is expected. */
  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Whether not one byte of the expected answer has arrived. */
  get isUntouched(): boolean {
    return this.#state === 'head' && this.#heldLength === 0 && this.#interimHeads === 0
  }

  begin(sink: AnswerSink): void {
    this.#sink = sink
    this.#state = 'head'
    this.#interimHeads = 0
    this.head = null
  }

  /** Nothing more is given to the sink. */
  stop(): void {
    this.#state = 'ended'
    this.#sink = null
    this.#held = null
    this.#heldLength = 0
  }

  /** The connection was closed properly. True when this ends the answer. */
  close(): boolean {
    if (this.#state !== 'untilClose') return false
    this.#state = 'ended'
    return true
  }

  /** Takes the next bytes and returns how many of them belong to the answer. Throws BadAnswer. */
  feed(read: Buffer): number {
    let at = 0
    while (this.#state === 'head' && at < read.length) {
      at = this.#takeHead(read, at)
    }
    if (at === read.length) return at
    switch (this.#state) {
      case 'length':
        return this.#takeLength(read, at)
      case 'untilClose':
        this.#sink?.onBody(at === 0 ? read : read.subarray(at))
        return read.length
      case 'head':
      case 'ended':
        return at
      default:
        return this.#takeChunks(read, at)
    }
  }

  /** Returns the place after the head, or the end of the read when the head is not whole. */
  #takeHead(read: Buffer, start: number): number {
    const held = this.#heldLength
    if (held === 0) {
      const end = read.indexOf(headEnd, start)
      if (end !== -1 && end - start <= answerHeadBytesMax) {
        this.#onHead(readAnswerHead(read, start, end + 2))
        return end + 4
      }
    }
    const room = answerHeadBytesMax + headEnd.length - held
    const more = Math.min(read.length - start, room)
    const buffer = this.#hold(read, start, more)
    const end = buffer.subarray(0, held + more).indexOf(headEnd, Math.max(0, held - 3))
    if (end === -1) {
      this.#checkBeginning(buffer, held)
      if (more === room) throw new BadAnswer('long head')
      return read.length
    }
    this.#held = null
    this.#heldLength = 0
    this.#onHead(readAnswerHead(buffer, 0, end + 2))
    return start + end + 4 - held
  }

  /** Puts bytes of a head behind those before; the memory doubles, so that many small reads do not copy it each time. */
  #hold(read: Buffer, start: number, length: number): Buffer {
    const needed = this.#heldLength + length
    let held = this.#held ?? Buffer.allocUnsafe(Math.max(needed, answerHeadBytesUsual))
    if (held.length < needed) {
      const larger = Buffer.allocUnsafe(Math.max(needed, held.length * 2))
      held.copy(larger, 0, 0, this.#heldLength)
      held = larger
    }
    read.copy(held, this.#heldLength, start, start + length)
    this.#held = held
    this.#heldLength = needed
    return held
  }

  /** Refuses at once what can become no head; otherwise its end would be waited for until the time is over. */
  #checkBeginning(held: Buffer, from: number): void {
    const length = this.#heldLength
    const known = Math.min(length, protocol.length)
    if (from < known && held.compare(protocol, 0, known, 0, known) !== 0) throw new BadAnswer('version')
    for (let at = held.indexOf(lf, from); at !== -1 && at < length; at = held.indexOf(lf, at + 1))
      if (held[at - 1] !== cr) throw new BadAnswer('character in a head')
  }

  #onHead(head: AnswerHead): void {
    if (head.status < 200) {
      this.#interimHeads += 1
      if (this.#interimHeads > interimHeadsMax) throw new BadAnswer('many interim heads')
      return
    }
    this.head = head
    this.#left = head.contentLength
    this.#startLine('size')
    if (head.framing === 'none') this.#state = 'ended'
    else if (head.framing === 'length') this.#state = 'length'
    else if (head.framing === 'close') this.#state = 'untilClose'
    this.#sink?.onHead(head)
  }

  #takeLength(read: Buffer, at: number): number {
    const end = Math.min(read.length, at + this.#left)
    this.#left -= end - at
    if (this.#left === 0) this.#state = 'ended'
    this.#sink?.onBody(at === 0 && end === read.length ? read : partOf(read, at, end))
    return end
  }

  #takeChunks(read: Buffer, start: number): number {
    let at = start
    let bodyStart = -1
    let bodyEnd = -1
    while (at < read.length && this.#state !== 'ended') {
      if (this.#state !== 'chunk') {
        at = this.#takeLine(read, at)
        continue
      }
      const end = Math.min(read.length, at + this.#left)
      this.#left -= end - at
      if (bodyStart === -1) {
        bodyStart = at
        bodyEnd = end
      } else {
        read.copyWithin(bodyEnd, at, end)
        bodyEnd += end - at
      }
      at = end
      if (this.#left === 0) this.#startLine('chunkEnd')
    }
    if (bodyStart !== -1) this.#sink?.onBody(partOf(read, bodyStart, bodyEnd))
    return at
  }

  #startLine(state: State): void {
    this.#state = state
    this.#line = 'start'
    this.#digits = 0
    this.#lineBytes = 0
  }

  /** Reads bytes that are no body, until the state changes or the read ends. */
  #takeLine(read: Buffer, start: number): number {
    const state = this.#state
    let at = start
    while (at < read.length && this.#state === state) {
      const byte = read[at] ?? 0
      at += 1
      if (state === 'size') this.#takeSizeByte(byte)
      else if (state === 'chunkEnd') this.#takeChunkEndByte(byte)
      else this.#takeTrailerByte(byte)
    }
    return at
  }

  #takeSizeByte(byte: number): void {
    const line = this.#line
    if (line === 'cr') {
      if (byte !== lf) throw new BadAnswer('chunk size')
      if (this.#left === 0) this.#startLine('trailers')
      else this.#state = 'chunk'
      return
    }
    if (line === 'start') {
      const digit = hexDigit[byte] ?? -1
      if (digit >= 0) {
        this.#digits += 1
        if (this.#digits > chunkSizeDigitsMax) throw new BadAnswer('chunk size')
        this.#left = this.#digits === 1 ? digit : this.#left * 16 + digit
        return
      }
      if (this.#digits === 0) throw new BadAnswer('chunk size')
    }
    this.#takeExtensionByte(byte)
  }

  /** Extensions are `;name` or `;name=value`, without blanks and quotes, which readers treat differently. */
  #takeExtensionByte(byte: number): void {
    const line = this.#line
    this.#lineBytes += 1
    if (this.#lineBytes > chunkExtensionBytesMax) throw new BadAnswer('chunk extension')
    const isComplete = line === 'start' || line === 'name' || line === 'value'
    if (byte === cr && isComplete) this.#line = 'cr'
    else if (byte === semicolon && isComplete) this.#line = 'beforeName'
    else if (byte === equals && line === 'name') this.#line = 'beforeValue'
    else if (isTokenByte[byte] === 1 && line !== 'start')
      this.#line = line === 'beforeName' || line === 'name' ? 'name' : 'value'
    else throw new BadAnswer('chunk extension')
  }

  #takeChunkEndByte(byte: number): void {
    if (byte !== (this.#line === 'start' ? cr : lf)) throw new BadAnswer('end of a chunk')
    if (this.#line === 'start') this.#line = 'cr'
    else this.#startLine('size')
  }

  #takeTrailerByte(byte: number): void {
    this.#lineBytes += 1
    if (this.#lineBytes > trailerBytesMax) throw new BadAnswer('long trailers')
    switch (this.#line) {
      case 'start':
        if (byte === cr) this.#line = 'lastCr'
        else if (isTokenByte[byte] === 1) {
          this.#line = 'name'
          this.#trailer = String.fromCharCode(byte)
        } else throw new BadAnswer('trailer')
        return
      case 'name':
        if (isTokenByte[byte] === 1) this.#trailer += String.fromCharCode(byte)
        else if (byte === colon && !framingPattern.test(this.#trailer)) this.#line = 'value'
        else throw new BadAnswer('trailer')
        return
      case 'value':
        if (byte === cr) this.#line = 'cr'
        else if (isValueByte[byte] !== 1) throw new BadAnswer('trailer')
        return
      default:
        if (byte !== lf) throw new BadAnswer('trailer')
        if (this.#line === 'lastCr') this.#state = 'ended'
        else this.#line = 'start'
    }
  }
}

/** What a line of a chunked body had last. `cr` and `lastCr` are followed by a line feed, the second by the end. */
type Line = 'start' | 'beforeName' | 'name' | 'beforeValue' | 'value' | 'cr' | 'lastCr'

function partOf(read: Buffer, start: number, end: number): Buffer {
  if (end - start > copiedBytesMax) return read.subarray(start, end)
  const part = Buffer.allocUnsafeSlow(end - start)
  read.copy(part, 0, start, end)
  return part
}
