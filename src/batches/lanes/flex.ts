import { atCheaperTier } from '../../catalog/prices/cheaper-tier.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Lane } from './lane.ts'

const tier = 'flex'

/**
 * Two hours before the deadline what is left goes to the usual tier: four times the half hour that one call may take, so
 * that every item has its tries there, and a hundred thousand short items fit into the places of one process.
 */
const flexLeavesBeforeMs = 2 * 3_600_000

/**
 * Every item asks the live endpoint for a tier that is slower and cheaper, and waits while the provider has no room for
 * it. Nothing stays at the provider. Only tiers that a price list states as cheaper count: a tier of that name at the
 * usual price, as Groq has one, would be waited for without a gain.
 */
export const flex: Lane = {
  name: 'flex',
  offers(endpoints, operation) {
    // Requests for embeddings have no member for a tier.
    if (operation === '/v1/embeddings') return []
    return endpoints.flatMap((endpoint) => atCheaperTier(endpoint, tier) ?? [])
  },
  refuse: (model) =>
    new GatewayError(
      'invalid_request',
      `headrace.lane: no provider of ${model} has a flex tier with a lower listed price for this endpoint. Use "auto" or "emulated", or another model.`,
      { param: 'headrace.lane' },
    ),
  tier,
  waitsFor: {
    type: 'provider_overloaded',
    message: 'The flex tier of this model has no room at present. The batch waits and asks again.',
  },
  leavesBeforeMs: flexLeavesBeforeMs,
  automaticFrom: 1,
}
