import type { LongPrice } from '../canonical/endpoint.ts'
import type { Price } from '../canonical/usage.ts'

/** How the price package recognises a model by the name its provider knows; the package's own language of rules. */
export type NameRule =
  | { equals: string }
  | { starts_with: string }
  | { ends_with: string }
  | { contains: string }
  | { regex: string }
  | { and: readonly NameRule[] }
  | { or: readonly NameRule[] }

/** One model of the package. Prices by the hour are reduced to the dearest hour. */
export interface PackageModel {
  /** The package's own name of it, unique within a provider. */
  id: string
  /** A name the provider takes, or null when only a pattern is known. */
  upstream: string | null
  name: string | null
  contextLength: number | null
  match: NameRule
  /** By rising start; the last one that has begun applies. */
  prices: readonly DatedPrice[]
}

/** What a model costs from a moment on. */
export interface DatedPrice {
  /** Unix milliseconds. */
  fromMs: number
  price: Price
  /** By rising bound; absent when long prompts cost what others do. */
  long?: readonly LongPrice[]
}

/** Models by the package's provider id. */
export type PricePackage = Readonly<Record<string, readonly PackageModel[]>>
