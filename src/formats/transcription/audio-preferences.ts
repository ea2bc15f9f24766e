import { z } from 'zod'
import { defaultPreferences, type Preferences } from '../../canonical/call.ts'
import { parseCredits } from '../../core/money.ts'

const slugs = z.array(z.string({ error: 'must be a provider slug' }), {
  error: 'must be an array of provider slugs',
})
const flag = z.boolean({ error: 'must be true or false' })
const price = z
  .union([z.number(), z.string()], { error: 'must be a price in dollars' })
  .refine(isPrice, { error: 'must be a price in dollars, zero or more' })

/**
 * The `provider` object of audio requests: the contract's `zdr`, `data_collection` and `options`, and the preferences
 * of text requests besides. Other members are refused, because a preference that is misspelt must not be ignored.
 */
export const audioPreferencesSchema = z.strictObject(
  {
    zdr: flag.optional(),
    data_collection: z.enum(['allow', 'deny'], { error: 'must be "allow" or "deny"' }).optional(),
    options: z
      .record(z.string(), z.record(z.string(), z.unknown(), { error: 'must be an object' }), {
        error: 'must be an object of objects, by provider slug',
      })
      .optional(),
    order: slugs.optional(),
    only: slugs.optional(),
    ignore: slugs.optional(),
    allow_fallbacks: flag.optional(),
    require_parameters: flag.optional(),
    quantizations: z.array(z.string()).optional(),
    sort: z
      .enum(['price', 'throughput', 'latency'], { error: 'must be "price", "throughput" or "latency"' })
      .optional(),
    max_price: z
      .strictObject(
        {
          prompt: price.optional(),
          completion: price.optional(),
          request: price.optional(),
          audio: price.optional(),
        },
        { error: 'must be an object of prices' },
      )
      .optional(),
  },
  { error: 'must be an object' },
)

type WirePreferences = z.infer<typeof audioPreferencesSchema>

/** The wire object as preferences, with defaults for what is missing. */
export function toPreferences(wire: WirePreferences | undefined): Preferences {
  if (wire === undefined) return defaultPreferences
  return {
    order: wire.order ?? null,
    only: wire.only ?? null,
    ignore: wire.ignore ?? [],
    allowFallbacks: wire.allow_fallbacks ?? true,
    requireParameters: wire.require_parameters ?? false,
    denyDataCollection: wire.data_collection === 'deny',
    requireZdr: wire.zdr ?? false,
    quantizations: wire.quantizations ?? null,
    sort: wire.sort ?? null,
    maxPrice: wire.max_price ? toMaxPrice(wire.max_price) : null,
    options: wire.options ?? {},
  }
}

function toMaxPrice(wire: NonNullable<WirePreferences['max_price']>): NonNullable<Preferences['maxPrice']> {
  const prices: NonNullable<Preferences['maxPrice']> = {}
  for (const unit of ['prompt', 'completion', 'request', 'audio'] as const) {
    const value = wire[unit]
    if (value !== undefined) prices[unit] = parseCredits(value)
  }
  return prices
}

function isPrice(value: string | number): boolean {
  try {
    return parseCredits(value) >= 0n
  } catch {
    return false
  }
}
