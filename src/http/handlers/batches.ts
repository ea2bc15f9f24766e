import type { Created } from '../../batches/ingest/create.ts'
import type { PolledBatch } from '../../batches/batches.ts'
import { GatewayError } from '../../core/errors.ts'
import { contractForm } from '../../formats/batch/item-form.ts'
import { streamHeaders } from '../stream-headers.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { admitted, createFromBody } from './admitted-batch.ts'

/** Create, list, read, watch, cancel and delete batches, and how their ends were told. */
export function batchRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [...lifeRoutes(dependencies), ...eventRoutes(dependencies)]
}

const common = { group: 'batches', access: 'inference' } as const

function lifeRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    {
      ...common,
      method: 'POST',
      path: '/batches',
      name: 'batch_create',
      handle: withPrincipal((exchange) => create(exchange, dependencies)),
    },
    {
      ...common,
      method: 'GET',
      path: '/batches',
      name: 'batch_list',
      handle: withPrincipal(async ({ principal, query }) =>
        jsonResponse(await dependencies.batches.list(principal, query())),
      ),
    },
    {
      ...common,
      method: 'GET',
      path: '/batches/:id',
      name: 'batch_get',
      handle: withPrincipal(async (exchange) =>
        renderPolled(await dependencies.batches.get(exchange.principal, idOf(exchange))),
      ),
    },
    {
      ...common,
      method: 'GET',
      path: '/batches/:id/results',
      name: 'batch_results',
      handle: withPrincipal(async (exchange) => {
        const cursor = exchange.query().get('cursor')
        const lines = await dependencies.batches.results(exchange.principal, idOf(exchange), cursor)
        return new Response(lines, { headers: { 'content-type': 'application/x-ndjson' } })
      }),
    },
    {
      ...common,
      method: 'POST',
      path: '/batches/:id/cancel',
      name: 'batch_cancel',
      handle: withPrincipal(async (exchange) =>
        jsonResponse(await dependencies.batches.cancel(exchange.principal, idOf(exchange))),
      ),
    },
    {
      ...common,
      method: 'POST',
      path: '/batches/:id/retry',
      name: 'batch_retry',
      handle: withPrincipal((exchange) => retry(exchange, dependencies)),
    },
    {
      ...common,
      method: 'DELETE',
      path: '/batches/:id',
      name: 'batch_delete',
      handle: withPrincipal(async (exchange) =>
        jsonResponse(await dependencies.batches.delete(exchange.principal, idOf(exchange))),
      ),
    },
  ]
}

/** What tells of a batch while it runs and when it has ended. */
function eventRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    {
      ...common,
      method: 'GET',
      path: '/batches/:id/events',
      name: 'batch_events',
      handle: withPrincipal((exchange) => showProgress(exchange, dependencies)),
    },
    {
      ...common,
      method: 'GET',
      path: '/batches/:id/deliveries',
      name: 'batch_deliveries',
      handle: withPrincipal(async (exchange) =>
        jsonResponse(await dependencies.batches.deliveries(exchange.principal, idOf(exchange))),
      ),
    },
    {
      ...common,
      method: 'POST',
      path: '/batches/:id/redeliver',
      name: 'batch_redeliver',
      handle: withPrincipal(async (exchange) =>
        jsonResponse(await dependencies.batches.redeliver(exchange.principal, idOf(exchange)), 202),
      ),
    },
  ]
}

function idOf(exchange: Authenticated): string {
  return exchange.params['id'] ?? ''
}

/** The exchange ends with its stream. A client that has seen the end is told not to come back, by 204. */
async function showProgress(exchange: Authenticated, { batches }: HttpDependencies): Promise<Response> {
  const { request, principal } = exchange
  const lastEventId = request.headers.get('last-event-id')
  const wish = { lastEventId, signal: request.signal }
  const progress = await batches.progress(principal, idOf(exchange), wish)
  if (progress === null) return new Response(null, { status: 204 })
  exchange.ended = progress.ended
  return new Response(progress.body, { headers: { 'content-type': 'text/event-stream', ...streamHeaders } })
}

async function create(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const isDryRun = isOn('dry_run', exchange.query())
  return renderCreated(await createFromBody(exchange, { form: contractForm, isDryRun }, dependencies))
}

/** A batch of the failed items of another one; it counts among the created ones. */
async function retry(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const isDryRun = isOn('dry_run', exchange.query())
  const idempotencyKey = exchange.request.headers.get('idempotency-key')
  const wish = { idempotencyKey, isDryRun }
  const again = () => dependencies.batches.retry(exchange.principal, idOf(exchange), wish)
  return renderCreated(await admitted(exchange, { isDryRun, create: again }, dependencies))
}

/** A flag of the query. An unreadable value is refused, because it decides whether a batch is created. */
function isOn(name: string, query: URLSearchParams): boolean {
  const value = query.get(name)?.toLowerCase() ?? 'false'
  if (['true', '1', ''].includes(value)) return true
  if (['false', '0'].includes(value)) return false
  throw new GatewayError('invalid_request', `${name} must be true or false.`, { param: name })
}

function renderCreated(created: Created): Response {
  const { dropped } = created
  const body = dropped.length > 0 ? withDropped(created.object, dropped) : created.object
  if (created.kind === 'estimate') return jsonResponse(body)
  const response = jsonResponse(body, 202)
  if (created.isReplayed) response.headers.set('idempotent-replayed', 'true')
  return response
}

function renderPolled({ object, results, debt }: PolledBatch): Response {
  if (debt)
    return jsonResponse({ ...object, error: { code: debt.status, message: debt.message } }, debt.status)
  if (!results) return jsonResponse(object)
  return new Response(results(), { headers: { 'content-type': 'application/json' } })
}

function withDropped(object: Created['object'], dropped: readonly string[]): object {
  const own = 'headrace_metadata' in object ? object.headrace_metadata : {}
  return { ...object, headrace_metadata: { ...own, dropped } }
}
