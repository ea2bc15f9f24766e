import type { BatchEndpoint, LaneName } from '../../canonical/batch.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { WaitingReason } from '../../canonical/waiting.ts'
import type { GatewayError } from '../../core/errors.ts'

/**
 * One way in which the items of a batch reach a provider. A lane is data and pure functions: it says what is possible and
 * what an item asks for, and never calls a provider itself. docs/adr/0014-lanes.md has the picture.
 */
export interface Lane {
  readonly name: LaneName
  /**
   * Of the endpoints that may serve the batch, those that the lane uses, each with the price that it pays there. Empty:
   * the batch cannot have this lane.
   */
  offers(endpoints: readonly Endpoint[], operation: BatchEndpoint): readonly Endpoint[]
  /** The 400 for a caller who asks by name for a lane that the batch cannot have: it says so and names the remedy. */
  refuse(model: string): GatewayError
  /** The service tier that an item asks for on the live path; null: it is served as its own body says. */
  readonly tier: string | null
  /** What items wait for while the provider has no room for this lane; null for a lane that is never full. */
  readonly waitsFor: WaitingReason | null
  /**
   * How long before the deadline the unfinished items of an `auto` batch leave the lane for the emulated one; null: they
   * never do.
   */
  readonly leavesBeforeMs: number | null
  /** The number of items from which `auto` may take the lane. */
  readonly automaticFrom: number
}
