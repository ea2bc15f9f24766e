import { parseCredits, toCredits } from '../../core/money.ts'

type Details = Record<string, number | null>

/** The contract's usage object of a batch, and of one of its items. Counts are whole; `cost` is in credits. */
export interface BatchUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  completion_tokens_details?: Details | null
  prompt_tokens_details?: Details | null
  server_tool_use?: Details | null
  cost?: number | null
  cost_details?: Details | null
  is_byok?: boolean
  service_tier?: string | null
  cache_creation?: Details | null
  speed?: string | null
}

/**
 * A sum of usages that more usages can be added to. `serviceTiers` and `speeds` keep up to two distinct values: the
 * final object shows a value only when all items agree on it.
 */
export interface UsageSum {
  usage: BatchUsage
  serviceTiers: (string | null)[]
  speeds: (string | null)[]
  /**
   * The cost of at least one item is unknown, so `cost` is a lower bound. Absent in sums that were stored before this
   * member existed.
   */
  hasUnknownCost?: boolean
}

/** The sum of nothing. */
export function emptyUsageSum(): UsageSum {
  return {
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost: 0, is_byok: false },
    serviceTiers: [],
    speeds: [],
  }
}

/** The sum that one item contributes. */
export function usageSumOf(usage: BatchUsage): UsageSum {
  return {
    usage,
    serviceTiers: [usage.service_tier ?? null],
    speeds: [usage.speed ?? null],
    ...(usage.cost === null ? { hasUnknownCost: true } : {}),
  }
}

/** Adds two sums; the order does not matter. */
export function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  const a = left.usage
  const b = right.usage
  const usage: BatchUsage = {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    cost: addCredits(a.cost, b.cost),
    is_byok: a.is_byok === true || b.is_byok === true,
  }
  for (const name of [
    'completion_tokens_details',
    'prompt_tokens_details',
    'server_tool_use',
    'cache_creation',
  ] as const) {
    const sum = addDetails(a[name], b[name], (x, y) => x + y)
    if (sum) usage[name] = sum
  }
  const costDetails = addDetails(a.cost_details, b.cost_details, (x, y) => addCredits(x, y) ?? 0)
  if (costDetails) usage.cost_details = costDetails
  return {
    usage,
    serviceTiers: distinct(left.serviceTiers, right.serviceTiers),
    speeds: distinct(left.speeds, right.speeds),
    ...(left.hasUnknownCost || right.hasUnknownCost ? { hasUnknownCost: true } : {}),
  }
}

/** The object that callers see. As for a single item, its cost is null when no part of it is known. */
export function shownUsage(sum: UsageSum): BatchUsage {
  const { service_tier: _tier, speed: _speed, ...usage } = sum.usage
  const [tier] = sum.serviceTiers
  const [speed] = sum.speeds
  const isUnknown = sum.hasUnknownCost === true && !usage.cost
  return {
    ...usage,
    ...(isUnknown
      ? { cost: null, cost_details: { ...usage.cost_details, upstream_inference_cost: null } }
      : {}),
    ...(sum.serviceTiers.length === 1 && tier != null ? { service_tier: tier } : {}),
    ...(sum.speeds.length === 1 && speed != null ? { speed } : {}),
  }
}

/** Sums of doubles drift, so amounts are added as whole nanocredits. */
function addCredits(left: number | null | undefined, right: number | null | undefined): number | null {
  if (left == null) return right ?? null
  if (right == null) return left
  return toCredits(parseCredits(left) + parseCredits(right))
}

/** A null or absent count adds nothing and is not shown. */
function addDetails(
  left: Details | null | undefined,
  right: Details | null | undefined,
  add: (left: number, right: number) => number,
): Details | null {
  const sum: Details = {}
  for (const details of [left, right]) {
    for (const [name, count] of Object.entries(details ?? {})) {
      if (count === null) continue
      const before = sum[name]
      sum[name] = before == null ? count : add(before, count)
    }
  }
  return Object.keys(sum).length === 0 ? null : sum
}

function distinct(left: (string | null)[], right: (string | null)[]): (string | null)[] {
  return [...new Set([...left, ...right])].slice(0, 2)
}
