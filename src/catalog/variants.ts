import type { Endpoint, Model } from '../canonical/endpoint.ts'
import { modalityRow } from '../canonical/operation.ts'
import { isFree } from './prices/compared-price.ts'
import { splitVariant, type Variant } from './model-ids.ts'

/**
 * Variants that exist elsewhere. Those of long context and of reasoning are models of their own and one searches the web;
 * serving the plain model instead would be another answer.
 */
export const unservedVariants: ReadonlySet<Variant> = new Set<Variant>(['online', 'thinking', 'extended'])

/**
 * The variants under which a model of this gateway can be asked for, besides its plain id. A model whose own id is a
 * variant, as `deepseek/deepseek-r1:free` of OpenRouter, has no second name for batches: they take its id.
 */
export function variantsOf({ id, modality, endpoints }: Model): Variant[] {
  const variants: Variant[] = ['floor', 'nitro', 'exacto']
  if (endpoints.some(isFree)) variants.unshift('free')
  const runsInBatches = modalityRow(modality).isBatchable
  const isVariant = splitVariant(id).variant !== null
  if (runsInBatches && !isVariant && batchableOf(endpoints).length > 0) variants.unshift('batch')
  return variants
}

/** The endpoints that batches may use. */
export function batchableOf(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.filter(({ batch }) => batch !== 'none')
}
