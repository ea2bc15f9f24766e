import { GatewayError } from '../../core/errors.ts'
import { modelIdLengthMax } from '../../core/limits/http.ts'
import { formatCredits, parseCredits } from '../../core/money.ts'
import { requireUniqueNames } from '../../json/scan.ts'
import type { Batch, BatchEndpoint, LaneChoice } from '../../canonical/batch.ts'
import { type PlaceOf, valueNotJson } from '../../json/faults.ts'
import { batchEndpoints, laneChoices } from '../../canonical/batch.ts'
import { isRecord } from '../../json/values.ts'
import { contractForm, type ItemForm } from './item-form.ts'

/** Names of ignored members that an answer lists. */
const droppedMembersMax = 50
/** Entries of a batch's `provider.only`; there are fewer providers. */
const providersOnlyMax = 500

/** The members of a batch besides its requests; null where the caller sent none. */
export interface RequestHead {
  endpoint: BatchEndpoint | null
  model: string | null
  providerOnly: readonly string[] | null
  /** The most that the batch may cost, in nanocredits. */
  maxCostNanocredits: bigint | null
  laneChoice: LaneChoice
  /** Where the end of the batch is to be told. */
  callbackUrl: string | null
  /** Members that were ignored. */
  dropped: string[]
}

/** A head before any member was read. */
export function emptyHead({ endpoint }: ItemForm = contractForm): RequestHead {
  return {
    endpoint,
    model: null,
    providerOnly: null,
    maxCostNanocredits: null,
    laneChoice: 'auto',
    callbackUrl: null,
    dropped: [],
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads one top-level member into the head; `bytes` is null when the value was too large to be kept. Throws
 * `invalid_request` (400) and `unprocessable` (422).
 */
export function readMember(
  head: RequestHead,
  name: string,
  bytes: Uint8Array | null,
  { placeOf, form = contractForm }: { placeOf: PlaceOf; form?: ItemForm },
): void {
  const read = form.members.has(name) ? readers[name] : undefined
  if (read && bytes === null) throw invalid(name, 'is far too long')
  const value = bytes === null ? null : parseMember(name, bytes, placeOf)
  if (read && bytes !== null) requireUniqueNames(bytes)
  if (read) read(head, value)
  else if (head.dropped.length < droppedMembersMax) head.dropped.push(name)
}

/** Takes the model that the items name for that of the batch. Throws as `readMember` does. */
export function takeModel(head: RequestHead, model: string): void {
  readers['model']?.(head, model)
}

function parseMember(name: string, bytes: Uint8Array, placeOf: PlaceOf): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw valueNotJson(name, bytes, placeOf)
  }
}

const readers: Record<string, (head: RequestHead, value: unknown) => void> = {
  endpoint(head, value) {
    const endpoint = batchEndpoints.find((known) => known === value)
    if (!endpoint) throw invalid('endpoint', `must be one of ${batchEndpoints.join(', ')}`)
    head.endpoint = endpoint
  },
  model(head, value) {
    if (typeof value !== 'string' || value === '')
      throw invalid('model', 'must be a model id, such as "openai/gpt-4o"')
    if (value.length > modelIdLengthMax)
      throw invalid('model', `must have at most ${modelIdLengthMax} characters`)
    if (value.endsWith(':online')) {
      const message = `model ${JSON.stringify(value)} cannot be batched: the variant :online searches the web live. Drop it.`
      throw new GatewayError('unprocessable', message, { param: 'model' })
    }
    head.model = value
  },
  completion_window(_head, value) {
    if (value !== '24h') throw invalid('completion_window', 'must be "24h"')
  },
  callback_url(head, value) {
    if (value !== null && typeof value !== 'string')
      throw invalid('callback_url', 'must be an address that begins with https://')
    head.callbackUrl = value
  },
  provider(head, value) {
    head.providerOnly = readProvider(value)
  },
  headrace(head, value) {
    Object.assign(head, readOwnOptions(value))
  },
}

/** The members of a request for another batch like this one, besides its requests. */
export function writeHead(batch: Batch): object {
  const {
    endpoint,
    model,
    models,
    providerOnly,
    completionWindow,
    callbackUrl,
    laneChoice,
    maxCostNanocredits,
  } = batch
  return {
    endpoint,
    // Items of several models name them.
    ...(models === null ? { model } : {}),
    completion_window: completionWindow,
    ...(providerOnly === null ? {} : { provider: { only: providerOnly } }),
    ...(callbackUrl === null ? {} : { callback_url: callbackUrl }),
    headrace: {
      lane: laneChoice,
      ...(maxCostNanocredits === null ? {} : { max_cost: formatCredits(maxCostNanocredits) }),
    },
  }
}

function readProvider(value: unknown): readonly string[] | null {
  if (value === null) return null
  if (!isRecord(value)) throw invalid('provider', 'must be an object or null')
  const stranger = Object.keys(value).find((name) => name !== 'only')
  if (stranger !== undefined)
    throw invalid(`provider.${stranger}`, 'is not allowed in a batch; only provider.only is')
  const { only = null } = value
  if (only === null) return null
  if (!Array.isArray(only) || !only.every((slug) => typeof slug === 'string')) {
    throw invalid('provider.only', 'must be an array of provider slugs or null')
  }
  if (only.length > providersOnlyMax)
    throw invalid('provider.only', `must have at most ${providersOnlyMax} entries`)
  return only
}

function readOwnOptions(value: unknown): Pick<RequestHead, 'maxCostNanocredits' | 'laneChoice'> {
  if (value === null) return { maxCostNanocredits: null, laneChoice: 'auto' }
  if (!isRecord(value)) throw invalid('headrace', 'must be an object or null')
  const stranger = Object.keys(value).find((name) => name !== 'lane' && name !== 'max_cost')
  if (stranger !== undefined) throw invalid(`headrace.${stranger}`, 'is unknown; lane and max_cost are not')
  const { lane = null, max_cost: maxCost = null } = value
  return {
    maxCostNanocredits: maxCost === null ? null : readMaxCost(maxCost),
    laneChoice: lane === null ? 'auto' : readLane(lane),
  }
}

function readLane(value: unknown): LaneChoice {
  const choice = laneChoices.find((known) => known === value)
  if (choice === undefined) throw invalid('headrace.lane', `must be one of ${laneChoices.join(', ')}`)
  return choice
}

function readMaxCost(value: unknown): bigint {
  const problem = 'must be an amount of credits above 0, such as 2.5'
  if (typeof value !== 'number' && typeof value !== 'string') throw invalid('headrace.max_cost', problem)
  try {
    const amount = parseCredits(value)
    if (amount > 0n) return amount
  } catch {
    // Said below, with the remedy.
  }
  throw invalid('headrace.max_cost', problem)
}

function invalid(field: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${field} ${problem}.`, { param: field })
}
