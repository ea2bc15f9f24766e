import type { Endpoint, Model } from '../canonical/endpoint.ts'
import { modalityRow } from '../canonical/operation.ts'
import { atCheaperTier, batchTier } from './prices/cheaper-tier.ts'
import { isFree } from './prices/compared-price.ts'
import { splitVariant, type Variant } from './model-ids.ts'

/**
 * Variants that exist elsewhere. `thinking` and `extended` (long context) are models of their own there, and `online`
 * searches the web; to serve the plain model instead would give a different answer.
 */
export const unservedVariants: ReadonlySet<Variant> = new Set<Variant>(['online', 'thinking', 'extended'])

/**
 * The variants under which callers can ask for a model of this gateway, besides its plain id. A model whose own id is a
 * variant, such as `deepseek/deepseek-r1:free` of OpenRouter, gets no `:batch` id: batches name its own id.
 */
export function variantsOf({ id, modality, endpoints }: Model): Variant[] {
  const variants: Variant[] = ['floor', 'nitro', 'exacto']
  if (endpoints.some(isFree)) variants.unshift('free')
  const runsInBatches = modalityRow(modality).isBatchable
  const isVariant = splitVariant(id).variant !== null
  if (runsInBatches && !isVariant && batchableOf(endpoints).length > 0) variants.unshift('batch')
  return variants
}

/**
 * The endpoints that batches may use, each with the price that it has in its provider's batch service, where that is known.
 * Elsewhere items of batches cost what live calls do.
 */
export function batchableOf(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints
    .filter(({ batch }) => batch !== 'none')
    .map((endpoint) =>
      endpoint.batch === 'native' ? (atCheaperTier(endpoint, batchTier) ?? endpoint) : endpoint,
    )
}
