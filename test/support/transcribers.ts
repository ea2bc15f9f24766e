/**
 * What each transcription provider must make of a call, written by hand from the mapping of requests and of answers in the provider's
 * documents. The simulator hears `heardText` in six seconds of sound: twelve words of half a second each, the first eight by one
 * speaker and the rest by another, where the provider tells speakers apart.
 */
export interface Transcriber {
  preset: string
  /** The base URL below the mount. */
  path: string
  /** Members of every address, which the configuration adds. */
  query?: Record<string, string>
  /** The name that the provider knows. */
  upstream: string
  /** Behind the slug of the preset, where a row more is for another of its models. */
  variant?: string
  /** The text: with sentences, or plain. */
  text: string
  /** What `language` is where the caller names none. */
  language: string | null
  /** Where the provider tells how sure it is. */
  languageConfidence?: number
  confidence?: number
  wordConfidence?: number
  /** Begin and end of each segment. */
  segments: readonly (readonly [number, number])[]
  /** Whether words can be asked for. */
  words: boolean
  /** Labels of the speakers by first appearance: of words under `diarize`; of segments alone, without it; or neither. */
  speakers: { of: 'words' | 'segments'; labels: readonly string[] } | null
  /** How terms are sent; null where `keyterms` is refused. */
  keyterms: readonly Sent[] | null
  /** What else is sent for these; null where the field is left out and listed. */
  sends: {
    language: Sent | Told
    temperature: Sent | null
    /** With `provider.zdr` or `data_collection: deny`, where the provider can be asked. */
    privacy?: { wish: Record<string, unknown>; sent: Sent }
  }
  /** Which part or member has an address; null where the gateway fetches it. */
  url: string | null
  /** How samples without a header go. */
  pcm: 'wav' | readonly Sent[]
  /** What `provider.options` asks for entities with; absent where the provider finds none. */
  entities?: { options: Record<string, unknown>; types: readonly [string, string] }
  /** How a job is made: JSON whose members count as fields, and the bytes of an upload before it. */
  job?: { path: string; upload: string }
  /**
   * The field whose JSON has what is asked, or no name where that JSON is the whole body, and its member in which most of it
   * stands, where it has such a one.
   */
  config?: readonly [field: string, member?: string]
  /** What the configuration says of the model, where its name does not tell what it can do. */
  audio?: Record<string, unknown>
  /** The text comes piece by piece where a caller wants events. */
  streams?: true
  /** What the provider says with a status, where it is not the usual. */
  statuses?: Readonly<Record<number, number>>
}

/** A field of a form or a member of the address, as it must arrive. */
export type Sent = readonly [name: string, value: string]

/** What a model is told in words, in a member that has more of them. */
export interface Told {
  within: string
  words: string
}

/** What the simulator is told to hear. */
export const heardText = 'we met Anna in New York last week again they said no'
/** The same as a provider writes it that sets marks. */
export const sentences = 'We met Anna in New York last week. Again they said no.'

/** Groups of eight words, as the simulator makes them. */
export const utterances = [
  [0, 4],
  [4, 6],
] as const
/** Sentences, which begin and end where those do. */
export const whole = [[0, 6]] as const

/** Fields as most providers have them. */
export const languageSent: Sent = ['language', 'de']
/** As most providers are sent it. */
export const temperatureSent: Sent = ['temperature', '0.3']
/** What most providers are sent. */
export const usual = { language: languageSent, temperature: temperatureSent }
