import { unreadable } from '../upstream-json.ts'

/** How sound is encoded inside a text. */
export type SoundEncoding = 'base64' | 'hex'

const nothing = new Uint8Array(0)
const whitespace = /[\t\n\f\r ]+/g

/** Decodes a text of sound that arrives in pieces, cut anywhere. Throws `provider_failed` for invalid text. */
export class SoundDecoder {
  readonly #encoding: SoundEncoding
  /** Characters that are not yet a whole group. */
  #rest = ''

  constructor(encoding: SoundEncoding) {
    this.#encoding = encoding
  }

  push(text: string): Uint8Array {
    const all = this.#rest + text
    return this.#encoding === 'hex' ? this.#decodeHex(all) : this.#decodeBase64(all)
  }

  /** Decodes the last bytes of base64 without padding. */
  end(): Uint8Array {
    const last = this.#rest.replace(whitespace, '')
    this.#rest = ''
    if (last === '') return nothing
    if (this.#encoding === 'hex') throw unreadable('its hexadecimal sound ends within a byte')
    try {
      return Uint8Array.fromBase64(last)
    } catch (cause) {
      throw unreadable('its sound is not base64', cause)
    }
  }

  #decodeBase64(text: string): Uint8Array {
    const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3)
    try {
      const { read, written } = bytes.setFromBase64(text, { lastChunkHandling: 'stop-before-partial' })
      // White space is dropped, because any amount of it would never complete a group.
      this.#rest = text.slice(read).replace(whitespace, '')
      return bytes.subarray(0, written)
    } catch (cause) {
      throw unreadable('its sound is not base64', cause)
    }
  }

  #decodeHex(text: string): Uint8Array {
    const even = text.length - (text.length % 2)
    this.#rest = text.slice(even)
    try {
      return Uint8Array.fromHex(text.slice(0, even))
    } catch (cause) {
      throw unreadable('its sound is not hexadecimal', cause)
    }
  }
}
