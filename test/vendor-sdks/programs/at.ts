/** What a program of an SDK is told: where the vendor stands, without a path, and what to send it. */
export interface At {
  url: string
  key: string
  /** Six tenths of a second of WAV, also in a file. */
  sound: Uint8Array<ArrayBuffer>
  soundFile: string
  /** An address of a sound that nobody fetches here. */
  address: string
}

/** What a vendor's SDK does for each intention; what it returns is not looked at. */
export type Intentions = Readonly<Record<string, (at: At) => PromiseLike<unknown>>>
