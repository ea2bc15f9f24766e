import { atCheaperTier, batchTier } from '../../catalog/prices/cheaper-tier.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Lane } from './lane.ts'

/**
 * A job takes about ten requests of its own, whatever its size, and shows nothing until it ends: for fewer items its half
 * price is not worth the wait.
 */
export const jobPaysFrom = 100

/**
 * The items become lines of the provider's own batch jobs, which take up to a day and cost less. Only endpoints whose batch
 * price is known count: a job at an unknown price could cost more than what is set aside.
 */
export const native: Lane = {
  name: 'native',
  offers: (endpoints) =>
    endpoints.flatMap((endpoint) =>
      endpoint.batch === 'native' ? (atCheaperTier(endpoint, batchTier) ?? []) : [],
    ),
  refuse: (model) =>
    new GatewayError(
      'invalid_request',
      `headrace.lane: no provider of ${model} has a batch service of its own with a known price here. Use "auto" or "emulated", or another model.`,
      { param: 'headrace.lane' },
    ),
  // Items are lines of a job, and do not wait for the live path.
  tier: null,
  waitsFor: null,
  // Items leave with the end of their job, which is cancelled in time.
  leavesBeforeMs: null,
  automaticFrom: jobPaysFrom,
}
