import type { JobEndpoint, JobItemFailure, JobItems, JobPlace } from './job-contract.ts'
import { native } from '../native.ts'
import type { Endpoint } from '../../../canonical/endpoint.ts'
import type { UpstreamErrorResponse } from '../../../canonical/upstream.ts'
import type { CatalogView } from '../../../catalog/catalog.ts'
import { GatewayError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { ExecutionDependencies } from '../../../execution/dependencies.ts'
import { noFacts } from '../../../execution/call/scope.ts'
import { operationOfBatchEndpoint } from '../../../execution/operations.ts'
import type { AttemptLine, CallLine } from '../../../telemetry/call-line.ts'
import type { ItemRequest } from '../../item-contract.ts'
import { chargeJobItem, encodeJobItem, type JobTarget } from '../../../execution/items/job-item.ts'
import { routeBatch } from '../../../execution/items/route-batch.ts'
import { readUpstreamFailure } from '../../../formats/upstream-errors.ts'
import { batchJobsOf } from '../../../providers/deployments.ts'
import type { PublicFetch } from '../../../transport/public-fetch.ts'
import type { UpstreamResponse } from '../../../transport/exchange.ts'

/** Bytes that are read of a refusal; the important part is at its beginning. */
const refusalBytesMax = 65_536

/**
 * Reads what the log keeps of an item of a job, and returns what puts it there. The reading is at once, because the facts
 * hold the item's body.
 */
export type LogJobItem = (
  item: Pick<ItemRequest, 'principal' | 'batchId'>,
  ended: { requestId: string; facts: CallLine },
) => () => void

/** What jobs of providers' batch services need of the live path and of the configuration. */
export function createJobItems(execution: ExecutionDependencies, log: LogJobItem): JobItems {
  const endpoints = new WeakMap<CatalogView, ReadonlyMap<string, Endpoint>>()

  function endpointOf(id: string): Endpoint | null {
    const { catalog } = execution.serving()
    let byId = endpoints.get(catalog)
    if (byId === undefined) {
      const all = catalog.models().flatMap((model) => model.endpoints)
      byId = new Map(all.map((endpoint) => [endpoint.id, endpoint]))
      endpoints.set(catalog, byId)
    }
    return byId.get(id) ?? null
  }

  function pricedEndpoint({ endpointId, price }: JobEndpoint): Endpoint {
    const endpoint = endpointOf(endpointId)
    if (endpoint === null)
      throw new GatewayError('storage_unavailable', `The endpoint ${endpointId} is not served at present.`)
    const { tierPrices: _, ...rest } = endpoint
    return { ...rest, upstreamModel: endpoint.batchUpstream ?? endpoint.upstreamModel, ...price }
  }

  function targetOf(at: JobEndpoint): JobTarget {
    const endpoint = pricedEndpoint(at)
    return { endpoint, formats: batchJobsOf(endpoint.deployment)?.formats }
  }

  return {
    placeOf(endpointId) {
      const endpoint = endpointOf(endpointId)
      return endpoint === null ? null : placeOf(endpoint, execution)
    },
    endpointFor({ principal, endpoint, model, providerOnly }) {
      try {
        const route = routeBatch({ principal, endpoint, model, providerOnly }, execution)
        const [first] = native.offers(route.endpoints, endpoint)
        if (first === undefined) return null
        return { endpointId: first.id, price: { price: first.price, longPrices: first.longPrices } }
      } catch (error) {
        if (error instanceof GatewayError) return null
        throw error
      }
    },
    encode: (item, at) => encodeJobItem(item, targetOf(at), execution),
    async charge(item, at, answer) {
      const facts = noFacts()
      const requestId = newId('req', execution.clock.nowMs())
      const outcome = await chargeJobItem(
        { ...item, requestId },
        { ...targetOf(at), answer },
        execution,
        facts,
      )
      return { ...outcome, noteDurable: log(item, { requestId, facts }) }
    },
    noteOfFailure: (item, at, failure) =>
      log(item, {
        requestId: newId('req', execution.clock.nowMs()),
        facts: factsOfFailure(item, endpointOf(at.endpointId), failure),
      }),
  }
}

/** What is known of an item without an answer: where its job was to ask for it, if one had it. */
function factsOfFailure(
  { endpoint: path, model }: ItemRequest,
  endpoint: Endpoint | null,
  { error, isSent }: JobItemFailure,
): CallLine {
  const operation = operationOfBatchEndpoint(path)?.name ?? null
  const facts: CallLine = { ...noFacts(), operation, model, errorType: error.type }
  if (!isSent || endpoint === null) return facts
  const line: AttemptLine = {
    deployment: endpoint.deployment.id,
    model: endpoint.model,
    status: null,
    outcome: 'failed',
    errorType: error.type,
    said: null,
  }
  const none = { headersMs: null, firstTokenMs: null, endedMs: null, status: null }
  const attempts = [{ endpoint, startedMs: 0, ...none, line }]
  const call = { sessionId: null, userId: null }
  return {
    ...facts,
    model: endpoint.model,
    attempts: 1,
    tried: [line],
    story: { call, attempts, excluded: [], prepared: null },
  }
}

function placeOf(
  { deployment }: Endpoint,
  { serving, transport, publicFetch }: ExecutionDependencies,
): JobPlace | null {
  const jobs = batchJobsOf(deployment)
  if (jobs === null) return null
  const own = serving().credentialOf(deployment)
  const target = { baseUrl: deployment.baseUrl, client: deployment.client, credential: own }
  return {
    deploymentId: deployment.id,
    providerName: deployment.providerName,
    credentialId: own.reference.id,
    jobs,
    async send(request, { signal, deadlineMs }) {
      const takesRedirect = request.answersRedirect === true ? { takesRedirect: true as const } : {}
      const options = { signal, deadlineMs, firstByteTimeoutMs: deadlineMs, ...takesRedirect }
      if (request.at === undefined) return transport.send(request, target, options)
      const { origin, pathname, search } = await checkedPlace(request.at, deployment.baseUrl, publicFetch)
      const credential = { reference: own.reference, auth: { type: 'none' as const } }
      return transport.send(
        { ...request, path: pathname + search },
        { ...target, baseUrl: origin, credential },
        options,
      )
    },
    readFailure: async (response) => readUpstreamFailure(await refusalOf(response)),
  }
}

/**
 * An address that a provider's answer has named for an upload. It must be a public one with TLS, or at the deployment's own
 * host: a provider must not have the gateway post callers' texts into the operator's network.
 */
async function checkedPlace(address: string, baseUrl: string, publicFetch: PublicFetch): Promise<URL> {
  const place = URL.parse(address)
  if (place === null) throw new GatewayError('provider_failed', 'The provider named no address for the file.')
  if (place.origin === new URL(baseUrl).origin) return place
  if (place.protocol !== 'https:')
    throw new GatewayError('provider_failed', 'The provider named an address without TLS for the file.')
  await publicFetch.check(place.href, 'file', { what: 'file' })
  return place
}

async function refusalOf(response: UpstreamResponse): Promise<UpstreamErrorResponse> {
  const { status, headers } = response
  const body = await response.readAll(refusalBytesMax).catch(() => new Uint8Array(0))
  return { status, headers, body, requestedModel: '', parameterNames: [] }
}
