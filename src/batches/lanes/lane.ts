import type { BatchEndpoint, LaneName } from '../../canonical/batch.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { GatewayError } from '../../core/errors.ts'

/**
 * One way in which the items of a batch reach a provider. A lane is data and pure functions: it says what is possible and
 * what an item does next, and never calls a provider itself. docs/adr/0014-lanes.md has the picture.
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
}
