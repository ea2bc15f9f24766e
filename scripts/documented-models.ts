import { tableNames } from '../src/catalog/prices/price-table.ts'
import { createProviderPrices } from '../src/catalog/prices/provider-prices.ts'
import { pricePackage } from '../src/catalog/prices/price-package.gen.ts'
import type { Preset } from '../src/providers/define-provider.ts'

/** The provider's models that can be asked for without having seen its listing. */
export function namesOf({ pricesProviderId, prices, documentedModels }: Preset): Set<string> {
  const inPackage = tableNames({ table: pricePackage, providerId: pricesProviderId })
  return new Set([...inPackage, ...createProviderPrices(prices, documentedModels).names])
}
