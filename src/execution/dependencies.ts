import type { Mp3Codec } from '../audio/mp3-codec.ts'
import type { RateGate } from '../access/rates.ts'
import type { AudioIntake } from '../canonical/audio.ts'
import type { Billing } from '../billing/billing.ts'
import type { Learning } from '../billing/metering/learning.ts'
import type { Clock } from '../core/clock.ts'
import type { SharedTurns } from '../core/shared-turns.ts'
import type { Files } from '../files/file-store.ts'
import type { Health } from '../routing/health.ts'
import type { Limiter } from '../routing/limiter.ts'
import type { Quotas } from '../routing/quotas.ts'
import type { StickyRoutes } from '../routing/sticky.ts'
import type { Transport } from '../transport/exchange.ts'
import type { Serving } from './serving.ts'
import type { PublicFetch } from '../transport/public-fetch.ts'
import type { UpstreamResources } from './resources/upstream-resources.ts'
import type { StreamWatch } from './streams/stream-watch.ts'

/** What the one path is built from. */
export interface ExecutionDependencies {
  /** What is served now. A call asks once and keeps the value. */
  serving: () => Serving
  /**
   * Reads the providers' listings that were not read lately, for a call of an unknown model, until `isEnough` is true.
   * Bounded in time; never rejects.
   */
  readListings: (isEnough: () => boolean) => Promise<unknown>
  billing: Billing
  /** Counts the tokens of a live call for the limits of tokens a minute. */
  spendTokens: RateGate['spendTokens']
  learning: Learning
  health: Health
  limiter: Limiter
  /** What the operator says that providers allow a minute. */
  quotas: Quotas
  sticky: StickyRoutes
  transport: Transport
  /** The only way to fetch an address that a caller names. */
  publicFetch: PublicFetch
  /** Where the files are that calls name by their ids. */
  files: Pick<Files, 'load' | 'open'>
  /** Keeps and recognizes audio that is received. */
  audioIntake: AudioIntake
  /**
   * Longest time of a transcription in milliseconds, from when the gateway has its audio; null for the operation's
   * `deadlineMs`.
   */
  transcriptionMs: number | null
  /** Surcharges of unknown amount are refused on prepaid and limited accounts, like other units without a price. */
  refusesUnknownPrices: boolean
  /** Tokens that are set aside for input that only its provider can count. */
  uncountedInputTokens: number
  streamWatch: StreamWatch
  /** Converts speech whose provider does not make mp3, or makes only mp3. */
  mp3Codec: Mp3Codec
  /** The share of each turn of the event loop that all speech of this process gets together. */
  speechTurns: SharedTurns
  /** The jobs and files that calls make at providers. */
  resources: UpstreamResources
  clock: Clock
  /** Uniform numbers from 0 to 1 for weighted choice; seeded in tests. */
  random: () => number
  /** Logs a mishap that the caller is not told of. */
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void
}
