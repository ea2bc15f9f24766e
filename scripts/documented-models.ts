import { packageNames } from '../src/catalog/package-prices.ts'
import { createPriceOverlay } from '../src/catalog/price-overlay.ts'
import { pricePackage } from '../src/catalog/price-package.gen.ts'
import type { Preset } from '../src/providers/define-provider.ts'

/** The provider's models that can be asked for without having seen its listing. */
export function namesOf({ pricesProviderId, prices, documentedModels }: Preset): Set<string> {
  const inPackage = packageNames({ table: pricePackage, providerId: pricesProviderId })
  return new Set([...inPackage, ...createPriceOverlay(prices, documentedModels).names])
}
