import { audioFieldsDepthMax, speechFieldsBytesMax } from '../../core/limits/audio.ts'
import { KeptBytes, positionOf, toLatin1 } from '../../json/kept-bytes.ts'
import { unreadable } from '../upstream-json.ts'
import { SoundDecoder, type SoundEncoding } from './sound-decoder.ts'

const quote = 0x22
const backslash = 0x5c

/** Where sound is in a JSON document, and how it is written there. */
export interface SoundPlace {
  /** Names of members from the top; `*` is any place of a list. */
  at: readonly string[]
  encoding: SoundEncoding
}

/**
 * Splits JSON documents of an answer into their sound and everything else, byte by byte as they come, so that memory stays
 * flat whatever the size and the order of members. Each string at the place is decoded as sound; all other bytes are kept,
 * bounded, and given as text at the end of the document, where such a string reads as `""`.
 */
export class SoundScanner {
  readonly #place: SoundPlace
  #isInSound = false
  #isInString = false
  #isEscaped = false
  /** Names of members from the top to where we are; null inside a list, and before a name. */
  #path: (string | null)[] = []
  #isList: boolean[] = []
  #isName = false
  #stringStart = 0
  readonly #kept = new KeptBytes(speechFieldsBytesMax, () => unreadable('it has too much besides its sound'))
  /** An escape inside the sound that is not whole yet. */
  #escape = ''
  #decoder: SoundDecoder | null = null

  constructor(place: SoundPlace) {
    this.#place = place
  }

  /** Sound in this piece of a document, in order. Throws `provider_failed` for what cannot be read. */
  push(piece: Uint8Array, sound: Uint8Array[]): void {
    for (let offset = 0; offset < piece.length;) {
      if (this.#isInSound) offset = this.#scanSound(piece, offset, sound)
      else this.#scanByte(piece[offset++] ?? 0)
    }
  }

  /** The document's text without its sound. The next piece begins another document. Throws when it ended within its sound. */
  end(): string {
    if (this.#isInSound) throw unreadable('it ended within its sound')
    const text = new TextDecoder().decode(this.#kept.view())
    this.#isInString = false
    this.#isEscaped = false
    this.#isName = false
    this.#path = []
    this.#isList = []
    this.#kept.clear()
    return text
  }

  /** From here to the quote that ends the sound, or to the end of the piece. */
  #scanSound(piece: Uint8Array, start: number, sound: Uint8Array[]): number {
    let offset = start
    while (offset < piece.length) {
      if (this.#escape !== '') {
        this.#scanEscape(piece[offset] ?? 0, sound)
        offset += 1
        continue
      }
      const end = positionOf(quote, piece, offset)
      const escape = positionOf(backslash, piece.subarray(0, end), offset)
      if (escape > offset) this.#decode(toLatin1(piece, offset, escape), sound)
      if (escape === piece.length) return escape
      offset = escape + 1
      if (escape === end) {
        this.#endSound(sound)
        return offset
      }
      this.#escape = '\\'
    }
    return offset
  }

  /** One byte of an escape: some encoders write `\/`, and wrapped base64 has `\n`. */
  #scanEscape(byte: number, sound: Uint8Array[]): void {
    this.#escape += String.fromCharCode(byte)
    if (this.#escape.length < (this.#escape[1] === 'u' ? 6 : 2)) return
    const escape = this.#escape
    this.#escape = ''
    try {
      this.#decode(JSON.parse(`"${escape}"`) as string, sound)
    } catch (cause) {
      throw unreadable('its sound has an escape that JSON does not have', cause)
    }
  }

  #decode(text: string, sound: Uint8Array[]): void {
    const bytes = this.#decoder?.push(text)
    if (bytes && bytes.length > 0) sound.push(bytes)
  }

  #endSound(sound: Uint8Array[]): void {
    const last = this.#decoder?.end()
    if (last && last.length > 0) sound.push(last)
    this.#isInSound = false
    this.#kept.add(quote)
  }

  #scanByte(byte: number): void {
    this.#kept.add(byte)
    if (this.#isInString) return this.#scanStringByte(byte)
    if (byte === quote) return this.#openString()
    if (byte === 0x7b || byte === 0x5b) return this.#descend(byte === 0x5b)
    if (byte === 0x7d || byte === 0x5d) {
      this.#path.pop()
      this.#isList.pop()
      this.#isName = false
    } else if (byte === 0x2c) {
      this.#isName = this.#isList.at(-1) === false
    } else if (byte === 0x3a) {
      this.#isName = false
    }
  }

  #scanStringByte(byte: number): void {
    if (this.#isEscaped) {
      this.#isEscaped = false
    } else if (byte === backslash) {
      this.#isEscaped = true
    } else if (byte === quote) {
      this.#isInString = false
      if (this.#isName) this.#path[this.#path.length - 1] = this.#keptString()
    }
  }

  #openString(): void {
    if (!this.#isName && this.#isAtSound()) {
      this.#decoder = new SoundDecoder(this.#place.encoding)
      this.#isInSound = true
      return
    }
    this.#stringStart = this.#kept.length - 1
    this.#isInString = true
  }

  #isAtSound(): boolean {
    const { at } = this.#place
    if (this.#path.length !== at.length) return false
    return at.every((name, depth) => (name === '*' ? this.#isList[depth] : this.#path[depth] === name))
  }

  #descend(isList: boolean): void {
    if (this.#path.length === audioFieldsDepthMax) throw unreadable('it is nested too deep')
    this.#path.push(null)
    this.#isList.push(isList)
    this.#isName = !isList
  }

  #keptString(): string {
    const text = new TextDecoder().decode(this.#kept.view(this.#stringStart))
    try {
      return JSON.parse(text) as string
    } catch (cause) {
      throw unreadable('it is not JSON', cause)
    }
  }
}
