import type { Usage, UsageSource } from '../../canonical/usage.ts'
import { modelStatsMax } from '../../core/limits/billing.ts'

/** Samples for each model of an organization, and how many are enough. */
const modelSamplesMax = 128
const modelSamplesMin = 20

/** The learned ratio of actual to estimated prompt tokens is trusted within these bounds, in millionths. */
const ratioPpmMin = 250_000
const ratioPpmMax = 4_000_000
/** Changed statistics saved at once, in rows. */
const modelStatsSaveMax = 200

/** One finished call, to learn from. */
export interface LearningSample {
  organizationId: string
  model: string
  estimatedInputTokens: number
  usage: Usage
  source: UsageSource
  ending: 'completed' | 'cancelled' | 'failed'
}

/** A row of the statistics. `organizationId` is `*` in the row of all organizations together. */
export interface ModelStats {
  organizationId: string
  model: string
  sampleCount: number
  /** Actual to estimated prompt tokens, 95th percentile, in millionths; 0 while there are too few samples. */
  ratioPpm: number
  /** 90th percentile of output tokens; 0 while there are too few samples. */
  outputP90: number
}

/** Predictions from past calls. Everything is in memory: no call waits for storage. */
export interface Learning {
  record(sample: LearningSample): void
  /**
   * The factor for an estimated prompt of the model, from this organization's recent calls. While those are too few, the
   * calls of all organizations count; only then, because others' prompts must not change what this one pays. 1 while
   * there are too few calls of either. A percentile, so rather too high than too low.
   */
  promptRatio(organizationId: string, model: string): number
  /** 90th percentile of this organization's recent answers of the model, in tokens; null while there are too few. */
  outputTokens(organizationId: string, model: string): number | null
  /** Figures from before the start, the newest first. Figures learned since the start take precedence. */
  restore(stats: readonly ModelStats[]): void
  /** Figures that changed since the last call, at most `modelStatsSaveMax`. */
  takeChanged(): readonly ModelStats[]
}

const everyone = '*'
const ratioQuantile = 0.95
const outputQuantile = 0.9

/** Learning in memory, bounded in models and samples; the least recently seen model is forgotten first. */
export function createLearning(): Learning {
  return new MemoryLearning()
}

class MemoryLearning implements Learning {
  readonly #entries = new Map<string, Entry>()
  #last: Entry | null = null
  #lastOfAll: Entry | null = null

  record(sample: LearningSample): void {
    // Only complete answers with the provider's own figures are samples; the gateway's estimates would only confirm
    // themselves.
    if (sample.source !== 'provider' || sample.ending !== 'completed') return
    const { organizationId, model, usage } = sample
    if (sample.estimatedInputTokens > 0 && usage.inputTokens > 0) {
      const ratio = Math.round((usage.inputTokens / sample.estimatedInputTokens) * 1_000_000)
      const ratioPpm = Math.min(ratioPpmMax, Math.max(ratioPpmMin, ratio))
      this.#entry(everyone, model).addRatio(ratioPpm)
      this.#entry(organizationId, model).addRatio(ratioPpm)
    }
    if (usage.outputTokens > 0) this.#entry(organizationId, model).addOutput(usage.outputTokens)
  }

  promptRatio(organizationId: string, model: string): number {
    const own = this.#find(organizationId, model)?.ratios.percentile(ratioQuantile)
    const ppm = own ?? this.#find(everyone, model)?.ratios.percentile(ratioQuantile)
    return ppm === null || ppm === undefined ? 1 : ppm / 1_000_000
  }

  outputTokens(organizationId: string, model: string): number | null {
    return this.#find(organizationId, model)?.outputs.percentile(outputQuantile) ?? null
  }

  restore(stats: readonly ModelStats[]): void {
    for (const { organizationId, model, sampleCount, ratioPpm, outputP90 } of stats.toReversed()) {
      if (sampleCount < modelSamplesMin || this.#entries.has(keyOf(organizationId, model))) continue
      const entry = this.#entry(organizationId, model)
      entry.count = sampleCount
      if (ratioPpm > 0) entry.ratios.assume(ratioPpm)
      if (outputP90 > 0) entry.outputs.assume(outputP90)
    }
  }

  takeChanged(): readonly ModelStats[] {
    const changed: ModelStats[] = []
    for (const entry of this.#entries.values()) {
      if (changed.length >= modelStatsSaveMax) break
      if (!entry.isChanged) continue
      entry.isChanged = false
      const ratioPpm = entry.ratios.percentile(ratioQuantile) ?? 0
      const outputP90 = entry.outputs.percentile(outputQuantile) ?? 0
      if (ratioPpm === 0 && outputP90 === 0) continue
      const { organizationId, model, count } = entry
      changed.push({ organizationId, model, sampleCount: count, ratioPpm, outputP90 })
    }
    return changed
  }

  /** The entry that was found last is tried first: joining its names to a key costs more than all else that is done here. */
  #find(organizationId: string, model: string): Entry | undefined {
    const last = organizationId === everyone ? this.#lastOfAll : this.#last
    if (last?.model === model && last.organizationId === organizationId && !last.isForgotten) return last
    const found = this.#entries.get(keyOf(organizationId, model))
    if (found === undefined) return undefined
    if (organizationId === everyone) this.#lastOfAll = found
    else this.#last = found
    return found
  }

  #entry(organizationId: string, model: string): Entry {
    const found = this.#find(organizationId, model)
    if (found) {
      // The order of entries matters only when one must be forgotten.
      if (this.#entries.size >= modelStatsMax) {
        const key = keyOf(organizationId, model)
        this.#entries.delete(key)
        this.#entries.set(key, found)
      }
      return found
    }
    const created = new Entry(organizationId, model)
    this.#entries.set(keyOf(organizationId, model), created)
    if (this.#entries.size > modelStatsMax) {
      for (const [key, oldest] of this.#entries) {
        oldest.isForgotten = true
        this.#entries.delete(key)
        break
      }
    }
    return created
  }
}

function keyOf(organizationId: string, model: string): string {
  return `${organizationId} ${model}`
}

/** The figures of a model, from the calls of one organization or of all. */
class Entry {
  readonly organizationId: string
  readonly model: string
  readonly ratios = new Samples()
  readonly outputs = new Samples()
  /** Calls seen, those before the start included. */
  count = 0
  isChanged = false
  isForgotten = false

  constructor(organizationId: string, model: string) {
    this.organizationId = organizationId
    this.model = model
  }

  addRatio(ratioPpm: number): void {
    this.ratios.add(ratioPpm)
    this.#note(this.ratios.count)
  }

  addOutput(tokens: number): void {
    this.outputs.add(tokens)
    this.#note(this.outputs.count)
  }

  #note(count: number): void {
    this.count = Math.max(this.count, count)
    this.isChanged = true
  }
}

/** The last samples of one figure; a percentile is computed on demand and kept for eight samples. */
class Samples {
  count = 0
  readonly #ring: number[] = []
  #next = 0
  #assumed: number | null = null
  #known: { quantile: number; value: number } | null = null

  add(value: number): void {
    this.#ring[this.#next] = value
    this.#next = (this.#next + 1) % modelSamplesMax
    this.count += 1
    // Sorting at every call would cost more than the newer figure is worth: every eighth sample is often enough.
    if (this.count % 8 === 0) this.#known = null
  }

  assume(value: number): void {
    this.#assumed = value
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
