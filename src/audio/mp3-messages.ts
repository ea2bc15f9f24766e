/** To the thread that encodes. Each stream has an id of its own; all but `close` are answered, in their order. */
export type ToMp3Thread =
  | { kind: 'samples'; id: number; samples: Uint8Array }
  | { kind: 'end'; id: number }
  | { kind: 'close'; id: number }

/** From it: what was encoded, or why it was not. */
export type FromMp3Thread = { id: number; encoded: Uint8Array } | { id: number; failure: string }
