import type { Billing } from '../billing/billing.ts'
import type { Learning } from '../billing/metering/learning.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Clock } from '../core/clock.ts'
import type { Preset } from '../providers/define-provider.ts'
import type { Health } from '../routing/health.ts'
import type { Limiter } from '../routing/limiter.ts'
import type { StickyRoutes } from '../routing/sticky.ts'
import type { Transport } from '../transport/http-client.ts'
import type { StreamWatch } from './stream-watch.ts'

/** What the one path is built from. */
export interface ExecutionParts {
  catalog: Catalog
  billing: Billing
  learning: Learning
  health: Health
  limiter: Limiter
  sticky: StickyRoutes
  transport: Transport
  /** The adapters of a provider, by the preset its deployments name. */
  presetOf: (slug: string) => Preset
  streamWatch: StreamWatch
  clock: Clock
  /** Uniform numbers from 0 to 1 for weighted choice; seeded in tests. */
  random: () => number
  /** A mishap that the caller need not hear of. */
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void
}
