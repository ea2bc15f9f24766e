import type { StoredFile } from '../../canonical/file.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { filesPageMax } from '../../core/limits/files.ts'
import { toFileObject } from '../../formats/batch/file-object.ts'
import { errorLine } from '../../formats/batch/result-files.ts'
import { readUploadForm } from '../../formats/batch/upload-form.ts'
import { findMember } from '../../json/scan.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { bodyOf, refusedEncoding } from '../request-body.ts'

const openBrace = 0x7b

/** OpenAI's files: upload, list, read, download and delete. */
export function fileRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { files } = dependencies
  const common = { group: 'inference', access: 'inference' } as const
  return [
    {
      ...common,
      method: 'POST',
      path: '/files',
      name: 'file_create',
      handle: withPrincipal((exchange) => upload(exchange, dependencies)),
    },
    {
      ...common,
      method: 'GET',
      path: '/files',
      name: 'file_list',
      handle: withPrincipal(async ({ principal, query }) => {
        const page = await files.list(principal, pageOf(query()))
        const data = page.files.map(toFileObject)
        const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
        return jsonResponse({ object: 'list', data, ...ends, has_more: page.hasMore })
      }),
    },
    {
      ...common,
      method: 'GET',
      path: '/files/:id',
      name: 'file_get',
      handle: withPrincipal(async (exchange) =>
        jsonResponse(toFileObject(await files.load(exchange.principal, idOf(exchange)))),
      ),
    },
    {
      ...common,
      method: 'GET',
      path: '/files/:id/content',
      name: 'file_content',
      handle: withPrincipal((exchange) => download(exchange, dependencies)),
    },
    {
      ...common,
      method: 'DELETE',
      path: '/files/:id',
      name: 'file_delete',
      handle: withPrincipal(async (exchange) => {
        const { id } = await files.delete(exchange.principal, idOf(exchange))
        return jsonResponse({ id, object: 'file', deleted: true })
      }),
    },
  ]
}

function idOf(exchange: Authenticated): string {
  return exchange.params['id'] ?? ''
}

async function upload({ request, principal }: Authenticated, { files }: HttpDependencies): Promise<Response> {
  const refusal = refusedEncoding(request)
  if (refusal) throw refusal
  const contentType = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data/i.test(contentType))
    throw new GatewayError('invalid_request', 'Send the file as multipart/form-data.', {
      param: 'content-type',
    })
  const { stored, ...facts } = await readUploadForm(bodyOf(request), contentType, files)
  return jsonResponse(toFileObject(await files.create(principal, stored, facts)))
}

async function download(exchange: Authenticated, dependencies: HttpDependencies): Promise<Response> {
  const { principal } = exchange
  const file = await dependencies.files.load(principal, idOf(exchange))
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${file.name.replace(/[^\w.-]/g, '_')}"`,
  }
  if (file.batchId === null) return new Response(dependencies.files.open(file), { headers })
  const lines = await dependencies.batches.converted(principal, file.batchId, convertFor(file))
  return new Response(lines, { headers })
}

/** The lines of an output file are the answers, those of an error file the failures. */
function convertFor({ id }: StoredFile): (line: Buffer) => Uint8Array | null {
  const isOutput = id.startsWith('hrfile_out_')
  return (line) => {
    const isAnswer = findMember(line, 'response').value?.[0] === openBrace
    if (isAnswer !== isOutput) return null
    return isOutput ? line : errorLine(line)
  }
}

function pageOf(query: URLSearchParams) {
  const text = query.get('limit') ?? String(filesPageMax)
  const limit = Number(text)
  if (!/^\d{1,5}$/.test(text) || limit < 1) throw fieldError('limit', 'must be a whole number from 1.')
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw fieldError('order', 'must be asc or desc.')
  return { purpose: query.get('purpose'), after: query.get('after'), order, limit } as const
}
