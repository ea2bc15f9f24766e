/** The direction of a conversion: the contract's samples to mp3, or mp3 to such samples. */
export type Mp3Direction = 'encode' | 'decode'

/** Messages to the converting thread. Each stream has its own id; all messages but `close` are answered, in order. */
export type ToMp3Thread =
  | { kind: 'bytes'; id: number; direction: Mp3Direction; bytes: Uint8Array }
  | { kind: 'end'; id: number }
  | { kind: 'close'; id: number }

/** From the thread: the converted bytes, or why the conversion failed. */
export type FromMp3Thread = { id: number; converted: Uint8Array } | { id: number; failure: string }
