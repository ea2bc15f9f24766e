import type { DeploymentSource } from './deployment-source.ts'
import { slugOf, toPublicId } from './model-ids.ts'
import { tableNames, type PriceTable } from './prices/price-table.ts'
import type { Snapshot } from './snapshot.ts'

interface Question {
  /** A model's id or a name of the operator's own, without a variant. */
  base: string
  snapshot: Pick<Snapshot, 'operatorNames'>
  /** Deployments whose listing has not been read since the start. */
  unread: readonly DeploymentSource[]
  table: PriceTable
}

/**
 * Display names of the providers that may have a model that nothing serves: those whose listing has not been read yet
 * and that are the model's author, or have it in their price list. For a name of the operator's own, any model behind
 * it counts.
 */
export function awaitedProviders({ base, snapshot, unread, table }: Question): string[] {
  const { operatorNames } = snapshot
  const name = Object.hasOwn(operatorNames, base) ? operatorNames[base] : undefined
  const ids = name ? name.groups.flat().map(({ model }) => model) : [base]
  const awaited = unread.filter((source) => ids.some((id) => mayHave(source, id, table)))
  return [...new Set(awaited.map(({ deployment }) => deployment.providerName))]
}

function mayHave(source: DeploymentSource, id: string, table: PriceTable): boolean {
  const { author, pricesProviderId: providerId, prices, publicName } = source
  if (id.startsWith(`${author}/`)) return true
  return [...tableNames({ table, providerId }), ...prices.names].some((name) => {
    const publicId = toPublicId(author, publicName(name))
    return publicId === id || slugOf(publicId) === id
  })
}
