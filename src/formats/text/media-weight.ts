/** What media in a conversation weigh: bytes to leave out of the text estimate, and tokens to add instead. */
export interface MediaWeight {
  bytes: number
  tokens: number
  /** Those of them that are of audio, which has a price of its own. */
  audioTokens: number
  /** Pictures that were sent themselves. */
  images: number
  /** There is something whose bytes are not here, or do not tell how long it is. */
  isUncounted: boolean
}

/** Of a conversation without any. */
export const noMedia: Readonly<MediaWeight> = Object.freeze({
  bytes: 0,
  tokens: 0,
  audioTokens: 0,
  images: 0,
  isUncounted: false,
})

/** Whether a text is media that was sent; anything else is an address, or a name that its provider alone knows. */
export function isMediaItself(text: unknown): boolean {
  return typeof text === 'string' && /^data:/i.test(text)
}
