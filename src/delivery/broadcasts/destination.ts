/** Where generations are told, as the operator configured it. */
export interface Destination {
  /** Unique; the rows that wait for it have this name, also after its address has changed. */
  readonly name: string
  readonly kind: 'webhook' | 'otlp'
  readonly url: string
  /** Sent with every post; may hold secrets, and is never shown. */
  readonly headers: Readonly<Record<string, string>>
  /** What the posts of a webhook are signed with; null for OTLP, whose receivers know no signature. */
  readonly secret: string | null
  /** Ids of the organizations and of the keys whose generations it gets; null for all. */
  readonly organizations: readonly string[] | null
  readonly keys: readonly string[] | null
  /** The part of the generations that it gets, above 0 and at most 1; all of a session or none. */
  readonly sampling: number
  /** What it gets of calls under zero data retention: their figures without a word of the caller, or nothing. */
  readonly zdrCalls: 'figures' | 'skip'
}
