import { fieldError, GatewayError } from '../../core/errors.ts'
import { linesForm } from '../../formats/batch/item-form.ts'
import { toOpenAiBatch } from '../../formats/batch/openai-batch.ts'
import { emptyHead, readMember, type RequestHead } from '../../formats/batch/request-head.ts'
import { isRecord } from '../../json/values.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { admitted } from './admitted-batch.ts'

/** Batches per page of OpenAI's list. */
const openAiBatchListDefault = 20
const openAiBatchListMax = 100
/** Bytes of the body that makes a batch of a file. */
const openAiBatchBodyBytesMax = 65_536
/** What a caller may note on a batch. */
const metadataPairsMax = 16
const metadataNameLengthMax = 64
const metadataValueLengthMax = 512

/** OpenAI's batches: made of files, read with the files of their results. */
export function openAiBatchRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { batches } = dependencies
  const common = { group: 'batches', access: 'inference' } as const
  const show = async (exchange: Authenticated) =>
    jsonResponse(toOpenAiBatch(await batches.read(exchange.principal, idOf(exchange))))
  return [
    {
      ...common,
      method: 'POST',
      path: '/batches',
      name: 'openai_batch_create',
      handle: withPrincipal((exchange) => create(exchange, dependencies)),
    },
    {
      ...common,
      method: 'GET',
      path: '/batches',
      name: 'openai_batch_list',
      handle: withPrincipal(async ({ principal, query }) => {
        const page = await batches.page(principal, pageOf(query()))
        const data = page.batches.map(toOpenAiBatch)
        const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
        return jsonResponse({ object: 'list', data, ...ends, has_more: page.hasMore })
      }),
    },
    { ...common, method: 'GET', path: '/batches/:id', name: 'openai_batch_get', handle: withPrincipal(show) },
    {
      ...common,
      method: 'POST',
      path: '/batches/:id/cancel',
      name: 'openai_batch_cancel',
      handle: withPrincipal(async (exchange) => {
        await batches.cancel(exchange.principal, idOf(exchange))
        return show(exchange)
      }),
    },
  ]
}

function idOf(exchange: Authenticated): string {
  return exchange.params['id'] ?? ''
}

async function create(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const { principal, request } = exchange
  requireJson(request)
  const bytes = await readBody(request, openAiBatchBodyBytesMax)
  const body = parseObject(bytes)
  const head = headOf(body)
  const inputFileId = body['input_file_id']
  if (typeof inputFileId !== 'string')
    throw fieldError('input_file_id', 'is required: the id of an uploaded file.')
  const callerMetadata = metadataOf(body['metadata'])
  const created = await admitted(
    exchange,
    {
      isDryRun: false,
      create: () =>
        dependencies.batches.create({
          principal,
          form: linesForm,
          betas: null,
          head,
          origin: { inputFileId, callerMetadata },
          // A repetition gets its batch, also after the file was deleted.
          body: async () => {
            const file = await dependencies.files.load(principal, inputFileId)
            if (file.purpose !== 'batch')
              throw fieldError(
                'input_file_id',
                `must be a file with the purpose batch; this one has ${file.purpose}.`,
              )
            return { body: dependencies.files.open(file), contentLength: file.bytes }
          },
          contentEncoding: null,
          contentLength: null,
          idempotencyKey: request.headers.get('idempotency-key'),
          bodySha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
          isDryRun: false,
        }),
    },
    dependencies,
  )
  if (created.kind === 'estimate') throw new GatewayError('internal', 'Internal server error.')
  const response = jsonResponse(toOpenAiBatch(created.batch))
  if (created.isReplayed) response.headers.set('idempotent-replayed', 'true')
  return response
}

const firstPlace = () => ({ line: 1, column: 1 })

/** What the batch says of itself, checked as in a batch whose requests come with it. */
function headOf(body: Record<string, unknown>): RequestHead {
  const head = emptyHead(linesForm)
  for (const name of linesForm.members) {
    const value = body[name]
    if (value === undefined) continue
    readMember(head, name, Buffer.from(JSON.stringify(value)), { placeOf: firstPlace, form: linesForm })
  }
  if (head.endpoint === null) throw fieldError('endpoint', 'is required.')
  if (body['completion_window'] === undefined)
    throw fieldError('completion_window', 'is required; it is "24h".')
  return head
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown = null
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Said below.
  }
  if (!isRecord(value)) throw new GatewayError('invalid_request', 'The body must be a JSON object.')
  return value
}

function metadataOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null
  if (!isRecord(value)) throw fieldError('metadata', 'must be an object.')
  const pairs = Object.entries(value)
  if (pairs.length > metadataPairsMax)
    throw fieldError('metadata', `has more than ${metadataPairsMax} members.`)
  for (const [name, text] of pairs) {
    if (name.length > metadataNameLengthMax)
      throw fieldError('metadata', `has a name of more than ${metadataNameLengthMax} characters.`)
    if (typeof text !== 'string' || text.length > metadataValueLengthMax)
      throw fieldError(
        `metadata.${name}`,
        `must be a string of at most ${metadataValueLengthMax} characters.`,
      )
  }
  return value as Record<string, string>
}

function pageOf(query: URLSearchParams) {
  const text = query.get('limit') ?? String(openAiBatchListDefault)
  const limit = Number(text)
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > openAiBatchListMax)
    throw fieldError('limit', `must be a whole number from 1 to ${openAiBatchListMax}.`)
  return { endpoint: null, after: query.get('after'), before: null, limit }
}
