import type { BatchEndpoint, BatchModel } from '../../canonical/batch.ts'
import { assert } from '../../core/assert.ts'
import { ItemDemands } from '../../execution/items/item-demand.ts'
import type { WalkedItem } from '../../formats/batch/item-walk.ts'
import type { ValuePlace } from '../../json/proof.ts'
import type { SegmentDraft } from '../running/segment-repository.ts'
import { JobGroups } from './job-groups.ts'
import type { SegmentWriter } from './segment-writer.ts'

/** The sum of the items' demands, under the assumption that the batch has this endpoint. */
interface Measure {
  endpoint: BatchEndpoint
  demands: ItemDemands
  groups: JobGroups
}

/** The items of one model: the segments that they fill, and what they demand. */
export class ModelShare {
  /** As the items name it; null where the batch names the model of all items. */
  readonly model: string | null
  readonly writer: SegmentWriter
  items = 0
  /** One measure, or one for every endpoint that the batch may still turn out to have. */
  readonly #measures: readonly Measure[]

  constructor(model: string | null, writer: SegmentWriter, endpoints: readonly BatchEndpoint[]) {
    this.model = model
    this.writer = writer
    this.#measures = endpoints.map((endpoint) => ({
      endpoint,
      demands: new ItemDemands(endpoint),
      groups: new JobGroups(),
    }))
  }

  /** Counts an item with what it demands; `body` says where in its bytes its body lies. */
  measure(bytes: Buffer, body: ValuePlace, walked: WalkedItem | null): void {
    this.items += 1
    for (const { demands, groups } of this.#measures) {
      const demand = demands.of(bytes, body, walked)
      groups.add(demands.lastFrame, demand, bytes.subarray(body.start, body.end))
    }
  }

  /** Counts an item that cannot be read. */
  count(): void {
    this.items += 1
  }

  /** What the items demand of the endpoint that the batch turned out to have. */
  groupsFor(endpoint: BatchEndpoint): JobGroups {
    const measure = this.#measures.find((candidate) => candidate.endpoint === endpoint)
    assert(measure, 'items were measured for the endpoint that they turned out to have')
    return measure.groups
  }
}

/**
 * The items of an upload by model: a segment has items of one model, so that its lane and its jobs are those of the model.
 * Where the batch itself names the model, all items are in one share.
 */
export class ModelShares {
  readonly #createWriter: () => SegmentWriter
  readonly #shares = new Map<string | null, ModelShare>()
  #endpoints: readonly BatchEndpoint[] = []
  #last: ModelShare | null = null

  constructor(createWriter: () => SegmentWriter) {
    this.#createWriter = createWriter
  }

  /** Items come now, for one of these endpoints. */
  begin(endpoints: readonly BatchEndpoint[]): void {
    this.#endpoints = endpoints
  }

  /** The share of the items that name this model. */
  of(model: string | null): ModelShare {
    let share = this.#shares.get(model)
    if (share === undefined) {
      share = new ModelShare(model, this.#createWriter(), this.#endpoints)
      this.#shares.set(model, share)
    }
    this.#last = share
    return share
  }

  /** The share that the last item belongs to. */
  get last(): ModelShare {
    return this.#last ?? this.of(null)
  }

  /** In the order of their first items. */
  get all(): readonly ModelShare[] {
    return [...this.#shares.values()]
  }

  /** Waits until there is room for more items; throws when a segment could not be written. */
  async room(): Promise<void> {
    for (const { writer } of this.#shares.values()) await writer.room()
  }

  /** Makes everything durable; the segments of one share follow those of the share before. */
  async finish(models: readonly BatchModel[], batchLane: BatchModel['lane']): Promise<SegmentDraft[]> {
    const drafts: SegmentDraft[] = []
    let firstItem = 0
    for (const [place, share] of this.all.entries()) {
      const beside = batchLane === 'native' && models[place]?.lane !== 'native'
      const ordinal = drafts.length
      for (const draft of await share.writer.finish())
        drafts.push({
          ...draft,
          ordinal: draft.ordinal + ordinal,
          firstItem: draft.firstItem + firstItem,
          ...(beside ? { lane: 'emulated' as const } : {}),
        })
      firstItem += share.items
    }
    return drafts
  }

  /** Removes what was written; never rejects. */
  async discard(): Promise<void> {
    for (const { writer } of this.#shares.values()) await writer.discard()
  }
}
