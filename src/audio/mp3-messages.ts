/** What becomes of a stream: samples of the contract made mp3, or mp3 made such samples. */
export type Mp3Direction = 'encode' | 'decode'

/** To the thread that converts. Each stream has an id of its own; all but `close` are answered, in their order. */
export type ToMp3Thread =
  | { kind: 'bytes'; id: number; direction: Mp3Direction; bytes: Uint8Array }
  | { kind: 'end'; id: number }
  | { kind: 'close'; id: number }

/** From the thread: the converted bytes, or why the conversion failed. */
export type FromMp3Thread = { id: number; converted: Uint8Array } | { id: number; failure: string }
