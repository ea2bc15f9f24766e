import { holdAmountOf } from '../../billing/metering/hold-amount.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { LiveRequest } from '../../canonical/batch-jobs.ts'
import type { TextFormat } from '../../canonical/operation.ts'
import type { TextCall } from '../../canonical/call.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import { assert } from '../../core/assert.ts'
import { joinPieces } from '../../core/body.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { modelNamesOf } from '../../catalog/model-ids.ts'
import { onOneLine } from '../../formats/batch/result-line.ts'
import type { CallLine } from '../../telemetry/call-line.ts'
import { isUnsuited } from '../call/failures.ts'
import { hasMember, memberValue } from '../../json/document.ts'
import { CallHold } from '../call/call-hold.ts'
import type { Begun, Run } from '../call/call-hooks.ts'
import { CallState } from '../call/call-state.ts'
import type { Candidate, Prepared } from '../call/prepared.ts'
import { type DeferredCapture, noFacts, type RequestScope } from '../call/scope.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { mayNeedGuard, withCheckedAddresses } from '../fetched/guarded-addresses.ts'
import { withNamedFiles } from '../fetched/named-files.ts'
import { type WholeText, wholeText } from '../modalities/text-call.ts'
import { candidateOf } from '../preparing/prepare.ts'
import { routeCall, routedCallOf } from '../preparing/route-model.ts'
import { askingAt } from '../preparing/suited-route.ts'
import { settle } from '../settling/settle.ts'
import { answeredItem, type BatchItem, type BatchItemOutcome, failedItem, readItem } from './batch-item.ts'

/** No headers: a line of a job's results has none. */
const noHeaders = new Headers()

/** Where a job sends an item. */
export interface JobTarget {
  endpoint: Endpoint
  /** As `BatchJobs.formats`. */
  formats?: readonly TextFormat[] | undefined
}

/** An item as a job could have it. */
export interface EncodedJobItem extends LiveRequest {
  /** One line of JSON. */
  body: Uint8Array
  /** How many texts it has, of which only items to embed have more than one. */
  texts: number
  /** The most that it can cost at the job's price, in nanocredits. */
  worstNanocredits: bigint
}

/**
 * An item as a live call would send it to the endpoint, in a format that the job can have. Where none of those can carry it,
 * it is encoded as a live call, so that the job's service can tell that it does not run it.
 */
export async function encodeJobItem(
  item: BatchItem,
  { endpoint, formats }: JobTarget,
  dependencies: ExecutionDependencies,
): Promise<EncodedJobItem> {
  if (formats === undefined) return encodedAt(item, { endpoint }, dependencies)
  try {
    return await encodedAt(item, { endpoint, formats }, dependencies)
  } catch (error) {
    if (!isUnsuited(error)) throw error
    return encodedAt(item, { endpoint }, dependencies)
  }
}

async function encodedAt(
  item: BatchItem,
  target: JobTarget,
  dependencies: ExecutionDependencies,
): Promise<EncodedJobItem> {
  const { endpoint } = target
  const asked = await askFor(item, target, { dependencies, facts: noFacts(), requestId: 'req_job' })
  const { step, begun, candidate } = asked
  assert(step.type === 'send', 'an item that is not streamed is sent whole')
  const { request } = step.exchange
  assert(Array.isArray(request.body), 'a call of text has its body in memory')
  const { path, headers } = request
  const body = onOneLine(joinPieces(request.body))
  const { demand } = begun.call
  const { hasUncountedInput = false, images = 0, audioInputTokens = 0 } = demand
  const hasMedia = hasUncountedInput || images > 0 || audioInputTokens > 0
  const media = hasMedia ? { hasMedia: true as const } : {}
  const { promptRatio } = candidate
  const worstNanocredits = holdAmountOf(demand, endpoint, promptRatio, dependencies.uncountedInputTokens)
  const texts = textsOf(begun.call)
  return { path, headers, model: endpoint.upstreamModel, ...media, body, texts, worstNanocredits }
}

/** A list of numbers is one text in tokens. */
function textsOf({ document }: TextCall): number {
  const input = hasMember(document, 'input') ? memberValue(document, 'input') : null
  const isList = Array.isArray(input) && (typeof input[0] === 'string' || Array.isArray(input[0]))
  return isList ? input.length : 1
}

/**
 * Decodes, meters, prices and covers the answer that a job has for an item, as the live path does with its own. The same
 * hours later and in another process: what was asked is worked out anew from the item. The capture is deferred to the part
 * that stores the result. Rejects only with `storage_unavailable`.
 */
export async function chargeJobItem(
  item: BatchItem,
  { endpoint, formats, answer }: JobTarget & { answer: { status: number; body: Uint8Array } },
  dependencies: ExecutionDependencies,
  facts: CallLine = noFacts(),
): Promise<BatchItemOutcome> {
  const requestId = item.requestId ?? newId('req', dependencies.clock.nowMs())
  let capture: DeferredCapture | null = null
  const defer = (deferred: DeferredCapture) => {
    capture = deferred
  }
  try {
    const asked: Asked = { isAnswered: true, dependencies, facts, requestId, defer }
    const { asking, step, begun, candidate } = await askFor(item, { endpoint, formats }, asked)
    assert(step.type === 'send', 'an item that is not streamed is sent whole')
    const { state, call } = begun
    const { adapter, at } = asking
    const attempt = state.beginAttempt(candidate)
    attempt.status = answer.status
    attempt.headersMs = attempt.endedMs = state.elapsedMs()
    if (answer.status >= 300) {
      const { status, body } = answer
      const named = { requestedModel: item.model, modelNames: modelNamesOf(endpoint) }
      const failure = adapter.readError({
        status,
        headers: noHeaders,
        body,
        ...named,
        parameterNames: call.parameters,
      })
      state.noteFailure(attempt, failure, () => wholeText.wordsOf(call))
      throw new AttemptFailed(failure)
    }
    attempt.firstTokenMs = attempt.endedMs
    const next = adapter.next(step.state, { headers: noHeaders, bytes: answer.body }, at)
    assert(next.type === 'answer', 'a whole answer needs no further request')
    const { budgets } = item
    // The batch has had the job's worst case since before the job was sent. What the answer costs is taken from it here.
    const hold = await dependencies.billing.hold({ budgets, amount: 0n })
    const { billing } = dependencies
    const callHold = new CallHold(hold, { billing, scope: state.scope, budgets, place: noPlace })
    state.prepared = preparedFor(call, candidate, state, { amountNanocredits: 0n, budgets })
    const run: Run<WholeText> = { ...begun, prepared: state.prepared, callHold, first: null, answered: null }
    try {
      const answered = { attempt, endpoint, value: next.answer }
      const charge = await settle(run, answered, 'completed')
      assert(charge && wholeText.leaves.type === 'whole', 'a whole answer is settled once')
      return answeredItem(wholeText.leaves.outcome(answered, charge, run), requestId, capture)
    } finally {
      callHold.release()
    }
  } catch (thrown) {
    const error = thrown instanceof AttemptFailed ? thrown.failure.error : toGatewayError(thrown)
    if (error.type === 'storage_unavailable' || error.type === 'shutting_down') throw error
    facts.errorType = error.type
    return failedItem(error, item)
  }
}

interface Asked {
  dependencies: ExecutionDependencies
  facts: CallLine
  requestId: string
  defer?: (capture: DeferredCapture) => void
  /** The job has its answer, which is to be charged. */
  isAnswered?: true
}

/** What the endpoint is asked for the item, and by which adapter. Throws the item's own error. */
async function askFor(
  item: BatchItem,
  { endpoint, formats }: JobTarget,
  { dependencies, facts, requestId, defer, isAnswered }: Asked,
) {
  const read = (await readItem(item)).call
  const named = read.demand.hasUncountedInput
    ? await withNamedFiles(read, item.principal, dependencies, isAnswered)
    : read
  const isChecked = endpoint.deployment.isGuarded === true && mayNeedGuard(named, dependencies)
  // What was answered is not sent again.
  const checked = isChecked && !isAnswered ? await withCheckedAddresses(named, dependencies) : named
  const call: TextCall = { ...checked, stream: false }
  const scope: RequestScope = {
    principal: item.principal,
    requestId,
    signal: item.signal,
    priority: 'batch',
    metadata: 'none',
    batch: {
      batchId: item.batchId,
      customId: item.customId,
      deadlineMs: item.deadlineMs,
      budgets: item.budgets,
      providerOnly: item.providerOnly,
      isJob: true,
      ...(formats === undefined ? {} : { jobFormats: formats }),
      defer: defer ?? (() => {}),
      ...(item.enlarge ? { enlarge: item.enlarge } : {}),
    },
    facts,
  }
  const state = new CallState(call, scope, dependencies)
  requireRoute(call, state, endpoint, dependencies)
  const candidate = candidateOf(endpoint, state, dependencies)
  const begun: Begun<WholeText> = { row: wholeText, state, dependencies, call, asked: [] }
  const asking = askingAt(candidate, begun)
  return { asking, candidate, begun, step: await wholeText.firstStep(asking, begun) }
}

/** The item's own preferences may rule the endpoint out; its health is no reason, because a job waits for hours. */
function requireRoute(
  call: TextCall,
  { scope, serving }: CallState,
  endpoint: Endpoint,
  dependencies: ExecutionDependencies,
): void {
  let ordered: readonly Endpoint[]
  try {
    ordered = routeCall(routedCallOf(call, [], scope, serving), dependencies).ordered
  } catch (error) {
    if (error instanceof GatewayError && error.type === 'no_healthy_endpoint') return
    throw error
  }
  if (ordered.some(({ id }) => id === endpoint.id)) return
  const { providerName } = endpoint.deployment
  throw new GatewayError(
    'no_matching_endpoint',
    `The item's own preferences rule out ${providerName}, whose batches run it.`,
  )
}

/** The call as it is charged: where it went, and what was set aside for it when its answer was there. */
function preparedFor(
  call: TextCall,
  candidate: Candidate,
  state: CallState,
  hold: Prepared['hold'],
): Prepared {
  return {
    generationId: state.generationId,
    operation: call.operation,
    owner: state.owner(),
    attribution: {},
    createdAtMs: state.createdAtMs,
    isStreamed: false,
    demand: call.demand,
    route: [candidate],
    hold,
    request: null,
  }
}

/** An answer of a job occupies nothing at its provider. */
const noPlace = { releasePermit: () => {} }
