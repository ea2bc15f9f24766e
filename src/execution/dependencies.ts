import type { Mp3Codec } from '../audio/mp3-codec.ts'
import type { RateGate } from '../access/rates.ts'
import type { AudioIntake } from '../canonical/audio.ts'
import type { Billing } from '../billing/billing.ts'
import type { Learning } from '../billing/metering/learning.ts'
import type { Clock } from '../core/clock.ts'
import type { SharedTurns } from '../core/shared-turns.ts'
import type { Health } from '../routing/health.ts'
import type { Limiter } from '../routing/limiter.ts'
import type { StickyRoutes } from '../routing/sticky.ts'
import type { Transport } from '../transport/exchange.ts'
import type { Serving } from './serving.ts'
import type { PublicFetch } from '../transport/public-fetch.ts'
import type { UpstreamResources } from './resources/upstream-resources.ts'
import type { StreamWatch } from './streams/stream-watch.ts'

/** What the one path is built from. */
export interface ExecutionDependencies {
  /** What is served now; a call asks once. */
  serving: () => Serving
  /** Reads listings that were not read lately, for a model nobody knows, until it is enough. Bounded in time; never rejects. */
  readListings: (isEnough: () => boolean) => Promise<unknown>
  billing: Billing
  /** Counts the tokens of a live call for the limits of tokens a minute. */
  spendTokens: RateGate['spendTokens']
  learning: Learning
  health: Health
  limiter: Limiter
  sticky: StickyRoutes
  transport: Transport
  /** The one way to what a caller names by address. */
  publicFetch: PublicFetch
  /** Keeps and recognizes audio that is received. */
  audioIntake: AudioIntake
  /** Longest time of a transcription from when its audio is here, in milliseconds; null for the operation's own. */
  transcriptionMs: number | null
  /** Surcharges of unknown amount are refused on prepaid and limited accounts, like other units without a price. */
  refusesUnknownPrices: boolean
  /** Tokens that are set aside for input that only its provider can count. */
  uncountedInputTokens: number
  streamWatch: StreamWatch
  /** For speech whose provider has no mp3, or nothing else. */
  mp3Codec: Mp3Codec
  /** What all speech of this process shares of each turn of the event loop. */
  speechTurns: SharedTurns
  /** What calls make at providers and leave there. */
  resources: UpstreamResources
  clock: Clock
  /** Uniform numbers from 0 to 1 for weighted choice; seeded in tests. */
  random: () => number
  /** A mishap that the caller need not hear of. */
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void
}
