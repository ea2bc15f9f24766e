import type { Batch } from '../../canonical/batch.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { messagesForm } from '../../formats/batch/item-form.ts'
import { type MessageBatch, messageResultLine, toMessageBatch } from '../../formats/batch/message-batch.ts'
import { readBetas } from '../../formats/text/messages/read-request.ts'
import { messages } from '../../formats/text/text-operations.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { originOf } from '../request-address.ts'
import { createFromBody } from './admitted-batch.ts'

/** Batches per page of Anthropic's list. */
const messageBatchListDefault = 20
const messageBatchListMax = 1_000

const common = { group: 'batches', access: 'inference', convention: messages.convention } as const
const path = '/messages/batches'
const own = `${path}/:id`

/** Anthropic's message batches: batches whose endpoint is `/v1/messages`, in Anthropic's words. */
export function messageBatchRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const route = (
    [method, at]: readonly [HttpRoute['method'], string],
    name: string,
    handle: (exchange: Authenticated, dependencies: HttpDependencies) => Promise<Response>,
  ): HttpRoute => ({
    ...common,
    method,
    path: at,
    name: `message_batch_${name}`,
    handle: withPrincipal((exchange) => handle(exchange, dependencies)),
  })
  return [
    route(['POST', path], 'create', create),
    route(['GET', path], 'list', list),
    route(['GET', own], 'get', async (exchange) =>
      jsonResponse(show(exchange, await load(exchange, dependencies), dependencies)),
    ),
    route(['GET', `${own}/results`], 'results', results),
    route(['POST', `${own}/cancel`], 'cancel', cancel),
    route(['DELETE', own], 'delete', remove),
  ]
}

async function load({ principal, params }: Authenticated, { batches }: HttpDependencies): Promise<Batch> {
  const batch = await batches.read(principal, params['id'] ?? '')
  if (batch.endpoint !== messagesForm.endpoint) throw notOfMessages(batch)
  return batch
}

function show(exchange: Authenticated, batch: Batch, dependencies: HttpDependencies): MessageBatch {
  return toMessageBatch(batch, resultsAddress(exchange, batch, dependencies))
}

async function create(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const how = { form: messagesForm, isDryRun: false, betas: betasOf(exchange) }
  const created = await createFromBody(exchange, how, dependencies)
  assert(created.kind === 'batch', 'only a dry run is answered with an estimate')
  const response = jsonResponse(show(exchange, created.batch, dependencies))
  if (created.isReplayed) response.headers.set('idempotent-replayed', 'true')
  return response
}

async function list(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const page = await dependencies.batches.page(exchange.principal, pageOf(exchange.query()))
  const data = page.batches.map((batch) => show(exchange, batch, dependencies))
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
  return jsonResponse({ data, has_more: page.hasMore, ...ends })
}

async function results(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const { id } = await load(exchange, dependencies)
  const lines = await dependencies.batches.converted(exchange.principal, id, messageResultLine)
  const headers = {
    'content-type': 'application/x-jsonl',
    'content-disposition': `attachment; filename="${id}_results.jsonl"`,
  }
  return new Response(lines, { headers })
}

async function cancel(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const { id } = await load(exchange, dependencies)
  await dependencies.batches.cancel(exchange.principal, id)
  return jsonResponse(show(exchange, await load(exchange, dependencies), dependencies))
}

async function remove(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const { id } = await load(exchange, dependencies)
  await dependencies.batches.delete(exchange.principal, id)
  return jsonResponse({ id, type: 'message_batch_deleted' })
}

function notOfMessages({ id, endpoint }: Batch): GatewayError {
  return new GatewayError('not_found', `Batch ${id} is a batch of ${endpoint}; read it at /v1/batches/${id}.`)
}

/** What Anthropic's older clients send with every batch; it says nothing about the messages. */
const batchBeta = 'message-batches-2024-09-24'

/** The betas of the request, for each of its messages. */
function betasOf({ request: { headers } }: Authenticated): string | null {
  const { betas = '' } = readBetas(headers.get('anthropic-beta') ?? headers.get('x-anthropic-beta'))
  const names = betas.split(',').map((name) => name.trim())
  const left = names.filter((name) => name !== '' && name !== batchBeta)
  return left.length === 0 ? null : left.join(',')
}

/** Clients follow this address with their key, so it is where they are already. */
function resultsAddress({ request }: Authenticated, { id }: Batch, dependencies: HttpDependencies): string {
  const { pathname } = new URL(request.url)
  const base = `${dependencies.basePath}${pathname.startsWith(`${dependencies.basePath}/api/`) ? '/api' : ''}`
  return `${originOf(request)}${base}/v1/messages/batches/${id}/results`
}

function pageOf(query: URLSearchParams) {
  const after = query.get('after_id')
  const before = query.get('before_id')
  if (after !== null && before !== null) throw invalid('before_id', 'and after_id exclude each other')
  const text = query.get('limit') ?? String(messageBatchListDefault)
  const limit = Number(text)
  if (!/^\d{1,4}$/.test(text) || limit < 1 || limit > messageBatchListMax)
    throw invalid('limit', `must be a whole number from 1 to ${messageBatchListMax}`)
  return { endpoint: messagesForm.endpoint, after, before, limit }
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}.`, { param })
}
