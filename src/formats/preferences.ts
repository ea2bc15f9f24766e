import { z } from 'zod'
import { defaultPreferences, type Preferences } from '../canonical/call.ts'
import type { Percentiles } from '../canonical/endpoint.ts'
import { parseCredits } from '../core/money.ts'
import { parseField } from './field-error.ts'
import { fieldError } from '../core/errors.ts'

const slugs = z.array(z.string().min(1).max(128)).max(200)
const percentiles = z.strictObject({
  p50: z.number().nonnegative().nullish(),
  p75: z.number().nonnegative().nullish(),
  p90: z.number().nonnegative().nullish(),
  p99: z.number().nonnegative().nullish(),
})
const quantization = z.enum([
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
])
const sortKey = z.enum(['price', 'throughput', 'latency', 'exacto'])
const amount = z.union([z.number(), z.string().max(40)])

/**
 * The contract's `provider` object. Unknown members are refused, so that a misspelt restriction is not silently
 * ignored.
 */
export const preferencesSchema = z
  .strictObject({
    order: slugs.nullish().describe('Providers to try first, in this order.'),
    only: slugs.nullish().describe('Only these providers.'),
    ignore: slugs.nullish().describe('Never these providers.'),
    allow_fallbacks: z.boolean().nullish().describe('Whether other providers may be tried; true by default.'),
    require_parameters: z.boolean().nullish().describe('Only endpoints that honour every parameter sent.'),
    data_collection: z
      .enum(['allow', 'deny'])
      .nullish()
      .describe('`deny`: only endpoints that neither store nor train.'),
    zdr: z.boolean().nullish().describe('Only endpoints with zero data retention.'),
    enforce_distillable_text: z
      .boolean()
      .nullish()
      .describe('Only models whose author allows distillation; none is known to.'),
    quantizations: z.array(quantization).max(20).nullish().describe('Only these weight formats.'),
    sort: z
      .union([
        sortKey,
        z.strictObject({ by: sortKey.nullish(), partition: z.enum(['model', 'none']).nullish() }),
      ])
      .nullish()
      .describe('Order endpoints by this instead of balancing the load.'),
    preferred_min_throughput: z
      .union([z.number().nonnegative(), percentiles])
      .nullish()
      .describe(
        'Tokens a second, of half the calls or by percentile; endpoints that miss it are tried last.',
      ),
    preferred_max_latency: z
      .union([z.number().nonnegative(), percentiles])
      .nullish()
      .describe('Seconds to the first output, likewise.'),
    max_price: z
      .strictObject({
        prompt: amount.nullish(),
        completion: amount.nullish(),
        image: amount.nullish(),
        audio: amount.nullish(),
        request: amount.nullish(),
      })
      .nullish()
      .describe('Dearest price to accept, in USD per million tokens, or per request.'),
    options: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .nullish()
      .describe('Members passed on to a provider, by its slug; audio only.'),
  })
  .meta({ id: 'ProviderPreferences', description: 'How a request is routed.' })

/** The decoded preferences, and the names of preferences that the gateway accepts but does not act on. */
export interface DecodedPreferences {
  preferences: Preferences
  dropped: readonly string[]
}

/** Reads a request's `provider` member; absent and null mean the defaults. Throws `invalid_request` naming the member. */
export function parsePreferences(value: unknown): DecodedPreferences {
  if (value === undefined || value === null) return { preferences: defaultPreferences, dropped: [] }
  const wire = parseField(preferencesSchema, 'provider', value)
  const sort = typeof wire.sort === 'string' ? wire.sort : (wire.sort?.by ?? null)
  const dropped: string[] = []
  if (sort === 'exacto') dropped.push('provider.sort')
  if (typeof wire.sort === 'object' && wire.sort?.partition === 'none')
    dropped.push('provider.sort.partition')
  return {
    dropped,
    preferences: {
      order: wire.order ?? null,
      only: wire.only ?? null,
      ignore: wire.ignore ?? [],
      allowFallbacks: wire.allow_fallbacks ?? true,
      requireParameters: wire.require_parameters ?? false,
      denyDataCollection: wire.data_collection === 'deny',
      requireZdr: wire.zdr ?? false,
      quantizations: wire.quantizations ?? null,
      sort: sort === 'exacto' ? null : sort,
      requireDistillable: wire.enforce_distillable_text ?? false,
      preferredThroughputMin: readLimits(wire.preferred_min_throughput, 1),
      preferredLatencyMaxMs: readLimits(wire.preferred_max_latency, 1000),
      maxPrice: wire.max_price ? parseMaxPrice(wire.max_price) : null,
      options: wire.options ?? {},
    },
  }
}

type WireLimits = z.output<typeof percentiles> | number | null | undefined

/** A plain number limits the median. Null when the request sets no limit. */
function readLimits(wire: WireLimits, factor: number): Preferences['preferredLatencyMaxMs'] {
  const given = typeof wire === 'number' ? { p50: wire } : (wire ?? {})
  const limits: Partial<Percentiles> = {}
  for (const name of ['p50', 'p75', 'p90', 'p99'] as const) {
    const value = given[name]
    if (value !== undefined && value !== null) limits[name] = value * factor
  }
  return Object.keys(limits).length === 0 ? null : limits
}

type WireMaxPrice = NonNullable<z.output<typeof preferencesSchema>['max_price']>

/** USD per million tokens equals credits per million tokens; the catalog keeps prices as nanocredits per million. */
function parseMaxPrice(wire: WireMaxPrice): NonNullable<Preferences['maxPrice']> {
  const limits: NonNullable<Preferences['maxPrice']> = {}
  // No endpoint has a price per image: an image costs its tokens. So this limit is always met.
  if (wire.image !== undefined && wire.image !== null) parseAmount('provider.max_price.image', wire.image)
  for (const name of ['prompt', 'completion', 'audio', 'request'] as const) {
    const value = wire[name]
    if (value !== undefined && value !== null) limits[name] = parseAmount(`provider.max_price.${name}`, value)
  }
  return limits
}

function parseAmount(param: string, value: string | number): bigint {
  const nanocredits = readCredits(value)
  if (nanocredits === null || nanocredits < 0n) {
    throw fieldError(param, 'must be a decimal amount of USD from 0, such as 2.5 or "0.15".')
  }
  return nanocredits
}

function readCredits(value: string | number): bigint | null {
  try {
    return parseCredits(value)
  } catch {
    return null
  }
}
