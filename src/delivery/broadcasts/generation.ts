import type { AskedFor } from '../../canonical/call.ts'
import { type Usage, usageColumns } from '../../canonical/usage.ts'
import { toCredits } from '../../core/money.ts'

/** The longest text of a caller's own that is told, and the most members of its `trace`. */
const toldTextMax = 1_024
const toldTraceMembersMax = 64

/** What a broadcast needs of a captured call. */
export interface CapturedCall {
  readonly generationId: string
  readonly organizationId: string
  readonly keyId: string
  readonly batchId: string | null
  readonly customId: string | null
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly endpointId: string
  readonly status: string
  readonly usage: Usage
  readonly source: string
  readonly isUnpriced: boolean
  readonly costNanocredits: bigint
  readonly upstreamId: string | null
  readonly finishReason: string | null
  readonly nativeFinishReason: string | null
  readonly streamed: boolean
  readonly latencyMs: number | null
  readonly generationMs: number | null
  readonly sessionId: string | null
  readonly userId: string | null
  readonly requestId: string | null
  readonly createdAtMs: number
  readonly details: {
    readonly attempts?: number
    readonly service_tier?: string
    readonly http_referer?: string
    readonly app_title?: string
    readonly tries?: readonly { readonly latency?: number }[]
  }
  readonly asked?: AskedFor
}

/** A generation as it waits for its destination; the members of a webhook's `data`. Content is in none of them. */
export interface Generation {
  id: string
  organization_id: string
  api_key_id: string
  operation: string
  /** The model that was asked for, and the one that answered. */
  requested_model: string
  model: string
  provider: string
  endpoint: string
  /** `completed`, `cancelled` when the caller left, `failed`. */
  status: string
  finish_reason: string | null
  native_finish_reason: string | null
  streamed: boolean
  /** When the call began and ended, in Unix milliseconds; `latency` is the time to the first output. */
  started_at_ms: number
  ended_at_ms: number
  latency: number | null
  /** In credits; null when no used unit has a price. */
  cost: number | null
  /** The same, exactly: a whole number of nanocredits as a text. */
  cost_nanocredits: string
  is_estimated: boolean
  /** The counts of the ledger that are not zero. */
  usage: Record<string, number>
  attempts: number
  service_tier?: string
  upstream_id?: string
  request_id?: string
  batch_id?: string
  custom_id?: string
  /** The caller's own words; left out for a call under zero data retention. */
  user?: string
  session_id?: string
  app_title?: string
  http_referer?: string
  trace?: Record<string, unknown>
  /** The call was to be served under zero data retention only. */
  zdr?: true
}

type Mutable = { -readonly [Name in keyof Generation]: Generation[Name] }

/** A captured call as it is told. Pure, so that every destination of a call gets the same text. */
export function toGeneration(call: CapturedCall): Generation {
  const { details, asked } = call
  const generation: Mutable = {
    id: call.generationId,
    organization_id: call.organizationId,
    api_key_id: call.keyId,
    operation: call.operation,
    requested_model: asked?.model ?? call.model,
    model: call.model,
    provider: call.provider,
    endpoint: call.endpointId,
    status: call.status,
    finish_reason: call.finishReason,
    native_finish_reason: call.nativeFinishReason,
    streamed: call.streamed,
    started_at_ms: call.createdAtMs,
    ended_at_ms: call.createdAtMs + durationOf(call),
    latency: call.latencyMs === null ? null : Math.round(call.latencyMs),
    cost: call.isUnpriced && call.costNanocredits === 0n ? null : toCredits(call.costNanocredits),
    cost_nanocredits: call.costNanocredits.toString(),
    is_estimated: call.source === 'estimated',
    usage: countsOf(call.usage),
    attempts: details.attempts ?? 1,
  }
  if (details.service_tier !== undefined) generation.service_tier = details.service_tier
  if (call.upstreamId !== null) generation.upstream_id = call.upstreamId
  if (call.requestId !== null) generation.request_id = call.requestId
  if (call.batchId !== null) generation.batch_id = call.batchId
  if (asked?.isZdr === true) generation.zdr = true
  else addWords(generation, call)
  return generation
}

/** What the caller wrote itself, each text cut to `toldTextMax`. */
function addWords(generation: Mutable, { customId, userId, sessionId, details, asked }: CapturedCall): void {
  if (customId !== null) generation.custom_id = customId
  if (userId !== null) generation.user = cut(userId)
  if (sessionId !== null) generation.session_id = cut(sessionId)
  if (details.app_title !== undefined) generation.app_title = cut(details.app_title)
  if (details.http_referer !== undefined) generation.http_referer = cut(details.http_referer)
  const trace = asked?.trace ?? null
  if (trace !== null) generation.trace = toldTrace(trace)
}

/** The members of a caller's `trace`: numbers, booleans and texts as they are, what has members of its own as JSON text. */
function toldTrace(trace: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const told: Record<string, unknown> = {}
  let members = 0
  for (const [name, value] of Object.entries(trace)) {
    if (value === null || value === undefined) continue
    if (members === toldTraceMembersMax) break
    members += 1
    told[cut(name)] = toldValue(value)
  }
  return told
}

function toldValue(value: unknown): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return cut(typeof value === 'string' ? value : JSON.stringify(value))
}

function cut(text: string): string {
  return text.length <= toldTextMax ? text : text.slice(0, toldTextMax)
}

/** The last attempt began when its first output came less its latency, and took `generationMs`. */
function durationOf({ latencyMs, generationMs, details }: CapturedCall): number {
  const first = latencyMs ?? 0
  const last = details.tries?.at(-1)?.latency
  const beganMs = last === undefined ? 0 : Math.max(0, first - last)
  return Math.round(Math.max(first, beganMs + (generationMs ?? 0)))
}

function countsOf(usage: Usage): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [column, count] of Object.entries(usageColumns))
    if (usage[count] !== 0) counts[column] = usage[count]
  return counts
}
