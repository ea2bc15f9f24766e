import { z } from 'zod'

/** The most of each list of a question. */
const metricsMax = 20
const dimensionsMax = 4
const filtersMax = 20
const filterValuesMax = 100
export const analyticsRowsMax = 10_000
export const analyticsRowsUsual = 1_000

/**
 * What can be measured: `isRate` says that it cannot be added. Requests are those that the ledger charged; errors failed
 * or were refused, and are not among them. The rate is of all calls that ended.
 */
export const analyticsMetrics = {
  usage: { label: 'Spend', format: 'currency', isRate: false },
  request_count: { label: 'Charged requests', format: 'number', isRate: false },
  tokens_prompt: { label: 'Prompt tokens', format: 'number', isRate: false },
  tokens_completion: { label: 'Completion tokens', format: 'number', isRate: false },
  tokens_total: { label: 'Tokens', format: 'number', isRate: false },
  tokens_reasoning: { label: 'Reasoning tokens', format: 'number', isRate: false },
  audio_seconds: { label: 'Audio seconds', format: 'number', isRate: false },
  characters: { label: 'Characters', format: 'number', isRate: false },
  error_count: { label: 'Failed and refused calls', format: 'number', isRate: false },
  error_rate: { label: 'Error rate of all calls', format: 'percent', isRate: true },
  latency_p50: { label: 'Median time', format: 'latency', isRate: true },
  latency_p95: { label: '95th percentile of times', format: 'latency', isRate: true },
} as const
/** The name of a figure that analytics can be asked for. */
export type AnalyticsMetric = keyof typeof analyticsMetrics

/** What can be grouped and filtered by, and its column. */
export const analyticsDimensions = {
  model: { label: 'Model', column: 'model' },
  provider: { label: 'Provider', column: 'provider' },
  api_key_id: { label: 'Key', column: 'key_id' },
  workspace: { label: 'Workspace', column: 'workspace_id' },
  user: { label: 'Member', column: 'member_id' },
} as const

export const analyticsGranularities = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } as const
export const analyticsOperators = { eq: 'scalar', neq: 'scalar', in: 'array', not_in: 'array' } as const

function namesOf<T extends string>(of: Readonly<Record<T, unknown>>): [T, ...T[]] {
  return Object.keys(of) as [T, ...T[]]
}

const metric = z.enum(namesOf(analyticsMetrics))
const dimension = z.enum(namesOf(analyticsDimensions))
const scalar = z.union([z.string().max(512), z.number()])
const time = z.iso.datetime({ offset: true })

/** Body of `POST /analytics/query`. */
export const analyticsQuerySchema = z.strictObject({
  metrics: z.array(metric).min(1).max(metricsMax),
  dimensions: z.array(dimension).max(dimensionsMax).optional(),
  granularity: z.enum(namesOf(analyticsGranularities)).optional(),
  time_range: z.strictObject({ start: time, end: time }).optional().describe('The last 30 days when absent.'),
  filters: z
    .array(
      z.strictObject({
        field: dimension,
        operator: z.enum(namesOf(analyticsOperators)),
        value: z.union([scalar, z.array(scalar).min(1).max(filterValuesMax)]),
        include_unset: z.boolean().optional(),
      }),
    )
    .max(filtersMax)
    .optional(),
  order_by: z
    .strictObject({ field: z.string().max(64), direction: z.enum(['asc', 'desc']) })
    .optional()
    .describe('A metric of the question, one of its dimensions, or `date`.'),
  limit: z.int().min(1).max(analyticsRowsMax).optional().describe(`${analyticsRowsUsual} when absent.`),
  group_limit: z.int().min(1).max(analyticsRowsMax).optional(),
  headrace: z
    .strictObject({
      time_zone: z
        .string()
        .max(64)
        .optional()
        .describe('The zone of days, weeks and months; UTC when absent.'),
      format: z.enum(['json', 'csv']).optional(),
    })
    .optional(),
})

const named = z.object({ name: z.string(), display_label: z.string() })

/** Answer of `GET /analytics/meta`. */
export const analyticsMetaSchema = z.object({
  data: z.object({
    metrics: z.array(
      named.extend({
        display_format: z.enum(['number', 'currency', 'percent', 'latency', 'throughput']),
        is_rate: z.boolean(),
      }),
    ),
    dimensions: z.array(named),
    granularities: z.array(named),
    operators: z.array(z.object({ name: z.string(), value_type: z.enum(['scalar', 'array']) })),
  }),
})

/** Answer of `POST /analytics/query`. */
export const analyticsAnswerSchema = z.object({
  data: z.object({
    data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
    metadata: z.object({ query_time_ms: z.number(), row_count: z.int(), truncated: z.boolean() }),
    warnings: z.array(z.string()),
  }),
})
