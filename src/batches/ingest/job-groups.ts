import type { Demand } from '../../canonical/usage.ts'
import { boundedAmount } from '../../core/money.ts'
import type { EstimateItem, ItemEstimate } from '../item-contract.ts'
import type { FitsJob } from '../lanes/native/job-fit.ts'
import { DemandLog } from './demand-log.ts'

/** Groups of items that differ in one text alone; those of further groups are judged together. */
export const jobGroupsMax = 8
/** The largest request that is kept to be judged; a group with none is taken for one that jobs run. */
const sampleBytesMax = 4_000_000

/** Items of which a provider's jobs run all or none. */
interface Group {
  /** The first request of them. */
  sample: Uint8Array | null
  items: number
  log: DemandLog
  fits: boolean
}

/**
 * What the items of a batch demand, apart for those that a provider's jobs would run and those that they would not. Items
 * that differ in one text alone are one group, whose first item is judged for all of them.
 */
export class JobGroups {
  readonly #groups = new Map<object | null, Group>()

  /** Adds an item; `alike` is the same object for all that differ in one text alone, null where that is not known. */
  add(alike: object | null, demand: Demand | null, body: Uint8Array): void {
    const key = alike !== null && (this.#groups.has(alike) || this.#groups.size < jobGroupsMax) ? alike : null
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = { sample: null, items: 0, log: new DemandLog(), fits: true }
      this.#groups.set(key, group)
    }
    group.items += 1
    group.log.add(demand)
    if (group.sample === null && demand !== null && body.length <= sampleBytesMax)
      group.sample = Uint8Array.from(body)
  }

  /** Judges each group; returns of how many items the jobs would run none. */
  async judge(fitsJob: FitsJob): Promise<number> {
    let elsewhere = 0
    for (const group of this.#groups.values()) {
      group.fits = group.sample === null || (await fitsJob(group.sample))
      if (!group.fits) elsewhere += group.items
    }
    return elsewhere
  }

  /** The cost of all items, at other prices for those that jobs do not run. */
  async price(estimateItem: EstimateItem, elsewhere: EstimateItem = estimateItem): Promise<ItemEstimate> {
    let estimate = 0n
    let worstCase = 0n
    for (const { log, fits } of this.#groups.values()) {
      const price = await log.price(fits ? estimateItem : elsewhere)
      estimate += price.estimate
      worstCase += price.worstCase
    }
    return { estimate: boundedAmount(estimate), worstCase: boundedAmount(worstCase) }
  }
}
