import { GatewayError } from '../../core/errors.ts'

/** A data URL's prefix: a MIME type with parameters. */
const dataUrlPrefixBytesMax = 256

const whitespace = /[\t\n\f\r ]+/g
const wrongCharacter = /[^A-Za-z0-9+/=\t\n\f\r ]/

/**
 * Decodes base64 that arrives in pieces, cut anywhere. The prefix of a data URL is removed and remembered. White space
 * is skipped; any other invalid character throws `invalid_request` with its place, counted in characters of the value.
 */
export class Base64Stream {
  readonly #param: string
  /** Up to three characters of an incomplete group; before the prefix is known, the beginning of the value. */
  #carry = ''
  #charactersSeen = 0
  #isPrefixDone = false
  #isPadded = false
  /** The MIME type of a data URL; null for plain base64. */
  mimeType: string | null = null

  constructor(param: string) {
    this.#param = param
  }

  push(text: string): Uint8Array {
    let rest = this.#carry + text
    if (!this.#isPrefixDone) {
      const start = this.#skipPrefix(rest)
      if (start === null) {
        this.#carry = rest
        return new Uint8Array(0)
      }
      rest = rest.slice(start)
      this.#charactersSeen += start
    }
    return this.#decode(rest)
  }

  /** Decodes the last bytes. A value that ends inside a group is refused unless only its padding is missing. */
  end(): Uint8Array {
    if (!this.#isPrefixDone && this.#carry.toLowerCase().startsWith('data:')) throw this.#badPrefix()
    const last = this.#carry
    this.#carry = ''
    if (last === '') return new Uint8Array(0)
    try {
      return Uint8Array.fromBase64(last)
    } catch {
      throw this.#wrong(last)
    }
  }

  /** The position where the base64 begins; null while it is unknown. */
  #skipPrefix(text: string): number | null {
    const marker = 'data:'
    if (!marker.startsWith(text.slice(0, marker.length).toLowerCase())) {
      this.#isPrefixDone = true
      return 0
    }
    const comma = text.indexOf(',')
    if (comma < 0 && text.length <= dataUrlPrefixBytesMax) return null
    const prefix = text.slice(marker.length, Math.max(comma, 0)).toLowerCase()
    if (comma < 0 || !prefix.endsWith(';base64')) throw this.#badPrefix()
    this.mimeType = prefix.split(';')[0] || null
    this.#isPrefixDone = true
    return comma + 1
  }

  #decode(text: string): Uint8Array {
    if (this.#isPadded && text.replace(whitespace, '') !== '') throw this.#wrong(text, 0)
    const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3)
    let read: number
    let written: number
    try {
      ;({ read, written } = bytes.setFromBase64(text, { lastChunkHandling: 'stop-before-partial' }))
    } catch {
      throw this.#wrong(text)
    }
    this.#isPadded ||= text.slice(0, read).includes('=')
    this.#charactersSeen += read
    this.#carry = text.slice(read).replace(whitespace, '')
    return bytes.subarray(0, written)
  }

  #wrong(text: string, at: number = Math.max(0, text.search(wrongCharacter))): GatewayError {
    return new GatewayError(
      'invalid_request',
      `\`${this.#param}\` is not valid base64 at or after character ${this.#charactersSeen + at}. Encode the audio file's bytes with standard base64.`,
      { param: this.#param },
    )
  }

  #badPrefix(): GatewayError {
    return new GatewayError(
      'invalid_request',
      `\`${this.#param}\` begins like a data URL but is not one with base64. Send plain base64, or \`data:<type>;base64,…\`.`,
      { param: this.#param },
    )
  }
}
