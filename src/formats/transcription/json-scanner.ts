import { fieldError, GatewayError } from '../../core/errors.ts'
import { audioFieldsBytesMax, audioFieldsDepthMax } from '../../core/limits/audio.ts'
import { KeptBytes, positionOf, toLatin1 } from '../../json/kept-bytes.ts'
import { requireUniqueNames } from '../../json/scan.ts'
import { describeFault, describePlace, findSyntaxFault, notJson, placeOf } from '../../json/faults.ts'
import { Base64Stream } from './base64-stream.ts'

const quote = 0x22
const backslash = 0x5c

/** Where the scanner stands between two bytes. */
type State = 'outside' | 'string' | 'audio'

/**
 * Splits a transcription request into its audio and everything else, byte by byte as it comes, so that memory stays
 * flat whatever the size and the order of members. The string at `input_audio.data` is decoded; all other bytes are
 * kept, bounded, and parsed as ordinary JSON at the end, where that string reads as `""`.
 */
export class AudioJsonScanner {
  #state: State = 'outside'
  #isEscaped = false
  /** Object keys from the top to where we are; null inside an array, and before a key. */
  readonly #path: (string | null)[] = []
  readonly #isArray: boolean[] = []
  #isKey = false
  #stringStart = 0
  readonly #kept = new KeptBytes(audioFieldsBytesMax, tooManyFields)
  #escape = ''
  /** Text of the audio in this chunk, its escapes read, that is not decoded yet. */
  #text = ''
  #audio: Base64Stream | null = null
  /** Where the audio was taken out of what is kept, -1 before it, and how many bytes it took there. */
  #audioAt = -1
  #audioBytes = 0

  /** Bytes of audio decoded from this chunk, in order. Throws `invalid_request` or `payload_too_large`. */
  push(chunk: Uint8Array): Uint8Array[] {
    const decoded: Uint8Array[] = []
    let offset = 0
    while (offset < chunk.length) {
      if (this.#state === 'audio') offset = this.#scanAudio(chunk, offset, decoded)
      else this.#scanByte(chunk[offset++] ?? 0)
    }
    this.#decode(decoded)
    return decoded
  }

  /**
   * What is not audio, parsed, and the MIME type of a data URL. Throws `invalid_request` when it is not JSON, or an object of
   * it has a member twice.
   */
  end(): { fields: unknown; hasAudio: boolean; mimeType: string | null } {
    const bytes = this.#kept.view()
    const audio = { hasAudio: this.#audio !== null, mimeType: this.#audio?.mimeType ?? null }
    let fields: unknown
    try {
      fields = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    } catch (cause) {
      throw notJson(this.#describeFault(bytes), cause)
    }
    requireUniqueNames(bytes)
    return { fields, ...audio }
  }

  /** What is wrong with the fields, by its place in the whole: the audio stood in one line with what follows it. */
  #describeFault(bytes: Uint8Array): string {
    const fault = findSyntaxFault(bytes)
    if (!fault) return describeFault(bytes)
    const { line, column } = placeOf(bytes, fault.offset)
    const isBehindAudio = this.#audioAt !== -1 && fault.offset > this.#audioAt
    const isInItsLine = isBehindAudio && line === placeOf(bytes, this.#audioAt).line
    const place = describePlace({ line, column: column + (isInItsLine ? this.#audioBytes : 0) })
    return `${fault.problem} (${place})`
  }

  /** From here to the quote that ends the audio, or to the end of the chunk. */
  #scanAudio(chunk: Uint8Array, start: number, decoded: Uint8Array[]): number {
    let offset = start
    // Not looked for again after every escape: some encoders write one for every 64 characters.
    let end = -1
    let escape = -1
    while (offset < chunk.length) {
      if (this.#escape !== '') {
        this.#scanEscape(chunk[offset] ?? 0)
        offset += 1
        continue
      }
      if (end < offset) end = positionOf(quote, chunk, offset)
      if (escape < offset) escape = positionOf(backslash, chunk, offset)
      const plainEnd = Math.min(end, escape)
      if (plainEnd > offset) this.#text += toLatin1(chunk, offset, plainEnd)
      offset = plainEnd + 1
      if (escape < end) this.#escape = '\\'
      else if (end < chunk.length) {
        this.#audioBytes += offset - 1 - start
        this.#endAudio(decoded)
        return offset
      }
    }
    this.#audioBytes += chunk.length - start
    return chunk.length
  }

  /** One byte of an escape inside the audio: some encoders write `\/`, and wrapped base64 has `\n`. */
  #scanEscape(byte: number): void {
    this.#escape += String.fromCharCode(byte)
    const length = this.#escape[1] === 'u' ? 6 : 2
    if (this.#escape.length < length) return
    this.#text += this.#escape === '\\/' ? '/' : readEscape(this.#escape)
    this.#escape = ''
  }

  #endAudio(decoded: Uint8Array[]): void {
    this.#decode(decoded)
    const last = this.#audio?.end()
    if (last && last.length > 0) decoded.push(last)
    this.#state = 'outside'
    this.#kept.add(quote)
  }

  /** In one piece for each chunk, because every piece is a write of its own. */
  #decode(decoded: Uint8Array[]): void {
    if (this.#text === '') return
    const bytes = this.#audio?.push(this.#text)
    this.#text = ''
    if (bytes && bytes.length > 0) decoded.push(bytes)
  }

  #scanByte(byte: number): void {
    this.#kept.add(byte)
    if (this.#state === 'string') return this.#scanStringByte(byte)
    if (byte === quote) return this.#openString()
    if (byte === 0x7b || byte === 0x5b) return this.#descend(byte === 0x5b)
    if (byte === 0x7d || byte === 0x5d) {
      this.#path.pop()
      this.#isArray.pop()
    } else if (byte === 0x2c) {
      this.#isKey = this.#isArray.at(-1) === false
    } else if (byte === 0x3a) {
      this.#isKey = false
    }
  }

  #scanStringByte(byte: number): void {
    if (this.#isEscaped) {
      this.#isEscaped = false
    } else if (byte === backslash) {
      this.#isEscaped = true
    } else if (byte === quote) {
      this.#state = 'outside'
      if (this.#isKey) this.#path[this.#path.length - 1] = this.#keptString()
    }
  }

  #openString(): void {
    if (!this.#isKey && this.#isAtAudio()) {
      if (this.#audio) {
        throw new GatewayError(
          'invalid_request',
          '`input_audio.data` appears more than once. Send it once.',
          {
            param: 'input_audio.data',
          },
        )
      }
      this.#audio = new Base64Stream('input_audio.data')
      this.#state = 'audio'
      this.#audioAt = this.#kept.length - 1
      return
    }
    this.#stringStart = this.#kept.length - 1
    this.#state = 'string'
  }

  #isAtAudio(): boolean {
    return (
      this.#path.length === 2 &&
      this.#path[0] === 'input_audio' &&
      this.#path[1] === 'data' &&
      !this.#isArray[1]
    )
  }

  #descend(isArray: boolean): void {
    if (this.#path.length === audioFieldsDepthMax) {
      throw new GatewayError(
        'invalid_request',
        `The request body is nested deeper than ${audioFieldsDepthMax} levels. Flatten it.`,
      )
    }
    this.#path.push(null)
    this.#isArray.push(isArray)
    this.#isKey = !isArray
  }

  #keptString(): string {
    const bytes = this.#kept.view(this.#stringStart)
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) as string
    } catch (cause) {
      throw notJson(this.#describeFault(this.#kept.view()), cause)
    }
  }
}

function tooManyFields(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The fields besides \`input_audio.data\` are larger than ${audioFieldsBytesMax} bytes. Shorten them.`,
  )
}

function readEscape(escape: string): string {
  try {
    return JSON.parse(`"${escape}"`) as string
  } catch {
    throw fieldError('input_audio.data', `has ${JSON.stringify(escape)}, an escape that JSON does not have.`)
  }
}
