/**
 * What each transcription provider must make of a call, written by hand from the mapping of requests and of answers in the provider's
 * documents. The simulator hears `heardText` in six seconds of sound: twelve words of half a second each, the first eight by one
 * speaker and the rest by another, where the provider tells speakers apart.
 */
export interface Transcriber {
  preset: string
  /** The base URL below the mount. */
  path: string
  /** Query members of every URL, which the configuration adds. */
  query?: Record<string, string>
  /** The provider's name for the model. */
  upstream: string
  /** The suffix of the preset's slug, for an additional row with another of its models. */
  variant?: string
  /** The text, with sentences or plain. */
  text: string
  /** The shown `language` when the caller names none. */
  language: string | null
  /** Present when the provider reports its certainty. */
  languageConfidence?: number
  confidence?: number
  wordConfidence?: number
  /** The begin and end of each segment. */
  segments: readonly (readonly [number, number])[]
  /** Whether words can be requested. */
  words: boolean
  /** Labels of the speakers by first appearance: of words under `diarize`, of segments without it, or neither. */
  speakers: { of: 'words' | 'segments'; labels: readonly string[] } | null
  /** How terms are sent; null when `keyterms` is refused. */
  keyterms: readonly Sent[] | null
  /** The other fields that are sent for these; null when the field is left out and listed. */
  sends: {
    language: Sent | Told
    temperature: Sent | null
    /** For `provider.zdr` or `data_collection: deny`, if the provider has an option for it. */
    privacy?: { wish: Record<string, unknown>; sent: Sent }
  }
  /** The part or member with a URL; null when the gateway fetches it. */
  url: string | null
  /** How headerless samples are sent. */
  pcm: 'wav' | readonly Sent[]
  /** The `provider.options` that ask for entities; absent when the provider finds none. */
  entities?: { options: Record<string, unknown>; types: readonly [string, string] }
  /** How a job is created: JSON whose members count as fields, and an upload before it. */
  job?: { path: string; upload: string }
  /**
   * The field whose JSON has what is asked, or no name where that JSON is the whole body, and its member in which most of it
   * stands, where it has such a one.
   */
  config?: readonly [field: string, member?: string]
  /** The model's capabilities in the configuration, when its name does not imply them. */
  audio?: Record<string, unknown>
  /** Whether the text comes in pieces for a caller that wants events. */
  streams?: true
  /** The caller's statuses for the provider's, when they are not the usual ones. */
  statuses?: Readonly<Record<number, number>>
}

/** A field of a form or a query parameter, as it must arrive. */
export type Sent = readonly [name: string, value: string]

/** An instruction inside a member that has further text. */
export interface Told {
  within: string
  words: string
}

/** The text that the simulator hears. */
export const heardText = 'we met Anna in New York last week again they said no'
/** The same text with punctuation, as some providers write it. */
export const sentences = 'We met Anna in New York last week. Again they said no.'

/** Groups of eight words, as the simulator makes them. */
export const utterances = [
  [0, 4],
  [4, 6],
] as const
/** The whole text as one segment, for providers with sentences. */
export const whole = [[0, 6]] as const

/** The field of the language at most providers. */
export const languageSent: Sent = ['language', 'de']
/** The field of the temperature at most providers. */
export const temperatureSent: Sent = ['temperature', '0.3']
/** The fields that most providers get. */
export const usual = { language: languageSent, temperature: temperatureSent }
