import type { Usage, UsageSource } from '../canonical/usage.ts'
import {
  modelSamplesMax,
  modelSamplesMin,
  modelStatsMax,
  modelStatsSaveMax,
  ratioPpmMax,
  ratioPpmMin,
} from '../core/limits.ts'

/** One finished call, to learn from. */
export interface LearningSample {
  organizationId: string
  model: string
  estimatedInputTokens: number
  usage: Usage
  source: UsageSource
  ending: 'completed' | 'cancelled' | 'failed'
}

/** A row of the statistics. `organizationId` is `*` where a figure belongs to the model itself. */
export interface ModelStats {
  organizationId: string
  model: string
  sampleCount: number
  /** Actual to estimated prompt tokens, 95th percentile, in millionths. */
  ratioPpm: number
  /** 90th percentile of output tokens. */
  outputP90: number
}

/** What past calls say about future ones. Memory first: nothing here waits for storage. */
export interface Learning {
  record(sample: LearningSample): void
  /** Factor for an estimated prompt of the model; 1 until enough was seen. Rather high than low. */
  promptRatio(model: string): number
  /** 90th percentile of this organization's recent answers of the model in tokens, or null until enough was seen. */
  outputTokens(organizationId: string, model: string): number | null
  /** Figures from before the start, the newest first; what was learned since counts first. */
  restore(stats: readonly ModelStats[]): void
  /** Figures that changed since the last call, at most `modelStatsSaveMax`. */
  takeChanged(): readonly ModelStats[]
}

const everyone = '*'

/** Learning in memory, bounded in models and samples; the least recently seen model is forgotten first. */
export function createLearning(): Learning {
  return new MemoryLearning()
}

class MemoryLearning implements Learning {
  readonly #entries = new Map<string, Samples>()

  record(sample: LearningSample): void {
    // Only a whole answer with the provider's own figures teaches; our own estimates would only confirm themselves.
    if (sample.source !== 'provider' || sample.ending !== 'completed') return
    const { usage } = sample
    if (sample.estimatedInputTokens > 0 && usage.inputTokens > 0) {
      const ratio = (usage.inputTokens / sample.estimatedInputTokens) * 1_000_000
      this.#entry(everyone, sample.model).add(Math.min(ratioPpmMax, Math.max(ratioPpmMin, Math.round(ratio))))
    }
    if (usage.outputTokens > 0) this.#entry(sample.organizationId, sample.model).add(usage.outputTokens)
  }

  promptRatio(model: string): number {
    const ppm = this.#entries.get(keyOf(everyone, model))?.percentile(0.95)
    return ppm === null || ppm === undefined ? 1 : ppm / 1_000_000
  }

  outputTokens(organizationId: string, model: string): number | null {
    return this.#entries.get(keyOf(organizationId, model))?.percentile(0.9) ?? null
  }

  restore(stats: readonly ModelStats[]): void {
    for (const { organizationId, model, sampleCount, ratioPpm, outputP90 } of stats.toReversed()) {
      if (sampleCount < modelSamplesMin || this.#entries.has(keyOf(organizationId, model))) continue
      this.#entry(organizationId, model).assume(
        organizationId === everyone ? ratioPpm : outputP90,
        sampleCount,
      )
    }
  }

  takeChanged(): readonly ModelStats[] {
    const changed: ModelStats[] = []
    for (const entry of this.#entries.values()) {
      if (changed.length >= modelStatsSaveMax) break
      if (!entry.isChanged) continue
      entry.isChanged = false
      const value = entry.percentile(entry.organizationId === everyone ? 0.95 : 0.9)
      if (value === null) continue
      const { organizationId, model, count } = entry
      const isRatio = organizationId === everyone
      const figures = { ratioPpm: isRatio ? value : 1_000_000, outputP90: isRatio ? 0 : value }
      changed.push({ organizationId, model, sampleCount: count, ...figures })
    }
    return changed
  }

  #entry(organizationId: string, model: string): Samples {
    const key = keyOf(organizationId, model)
    const found = this.#entries.get(key)
    if (found) {
      // The order matters to nobody as long as nothing has to be forgotten.
      if (this.#entries.size >= modelStatsMax) {
        this.#entries.delete(key)
        this.#entries.set(key, found)
      }
      return found
    }
    const created = new Samples(organizationId, model)
    this.#entries.set(key, created)
    if (this.#entries.size > modelStatsMax) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    return created
  }
}

function keyOf(organizationId: string, model: string): string {
  return `${organizationId} ${model}`
}

/** The last samples of one figure; percentiles are sorted only when asked for after enough has changed. */
class Samples {
  readonly organizationId: string
  readonly model: string
  count = 0
  isChanged = false
  readonly #ring: number[] = []
  #next = 0
  #assumed: number | null = null
  #known: { quantile: number; value: number } | null = null

  constructor(organizationId: string, model: string) {
    this.organizationId = organizationId
    this.model = model
  }

  add(value: number): void {
    this.#ring[this.#next] = value
    this.#next = (this.#next + 1) % modelSamplesMax
    this.count += 1
    this.isChanged = true
    // A sort per call would cost more than it tells: every eighth sample is often enough.
    if (this.count % 8 === 0) this.#known = null
  }

  assume(value: number, count: number): void {
    this.#assumed = value
    this.count = Math.max(this.count, count)
  }

  percentile(quantile: number): number | null {
    if (this.#ring.length < modelSamplesMin) return this.#assumed
    if (this.#known?.quantile === quantile) return this.#known.value
    const sorted = this.#ring.toSorted((first, second) => first - second)
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? 0
    this.#known = { quantile, value }
    return value
  }
}
