import type { StoredFile, UploadPurpose } from '../../canonical/file.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { filesPageMax } from '../../core/limits/files.ts'
import { ContentTypeReader } from '../../files/content-type.ts'
import type { ListFiles, StoredBytes } from '../../files/file-store.ts'
import { toContractFile, toFileObject } from '../../formats/batch/file-object.ts'
import { errorLine } from '../../formats/batch/result-files.ts'
import { readUploadForm, type UploadForm } from '../../formats/batch/upload-form.ts'
import { findMember } from '../../json/scan.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type Authenticated, type HttpRoute } from '../pipeline.ts'
import { bodyOf, refusedEncoding } from '../request-body.ts'
import { requireOwnWorkspace } from './keys.ts'

const openBrace = 0x7b
/** Bytes of a file that is uploaded after the contract; OpenAI's clients may send larger ones to their own address. */
const contractFileBytesMax = 100_000_000

/** What differs between the contract's files and OpenAI's, which are the same files. */
interface FileDialect {
  upload(exchange: Authenticated): Promise<UploadForm<StoredBytes>>
  show(file: StoredFile): object
  query(query: URLSearchParams): ListFiles
  list(page: { files: StoredFile[]; hasMore: boolean }): object
  deleted(id: string): object
  /** Whether an upload can be read back. */
  givesUploads: boolean
  check(exchange: Authenticated): void
}

/** The contract's files: the type is told by the content, and uploads are used and not read back. */
export function contractFileRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return routesOf(dependencies, {
    upload: (exchange) => uploadByContent(exchange, dependencies),
    show: toContractFile,
    query: contractPageOf,
    list({ files, hasMore }) {
      const data = files.map(toContractFile)
      const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
      const cursor = hasMore ? last : null
      return { _shape: 'openrouter', data, cursor, first_id: first, last_id: last, has_more: hasMore }
    },
    deleted: (id) => ({ _shape: 'openrouter', id, type: 'file_deleted' }),
    givesUploads: false,
    check({ principal, query }) {
      const asked = query()
      requireOwnWorkspace(asked.get('workspace_id') ?? undefined, principal)
      if (asked.has('provider'))
        throw fieldError('provider', 'is not taken: files are kept here, and go to providers with a call.')
    },
  })
}

/** OpenAI's files: upload, list, read, download and delete. */
export function openAiFileRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return routesOf(dependencies, {
    async upload(exchange) {
      const { form, read } = await readByContent(exchange, dependencies, { ofNone: null })
      return { ...form, mediaType: read.end() ?? form.mediaType }
    },
    show: toFileObject,
    query: openAiPageOf,
    list({ files, hasMore }) {
      const data = files.map(toFileObject)
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      return { object: 'list', data, ...ends, has_more: hasMore }
    },
    deleted: (id) => ({ id, object: 'file', deleted: true }),
    givesUploads: true,
    check: () => {},
  })
}

function routesOf(dependencies: HttpDependencies, dialect: FileDialect): HttpRoute[] {
  const { files } = dependencies
  const common = { group: 'inference', access: 'inference' } as const
  const all = { ...common, path: '/files' } as const
  const one = { ...common, path: '/files/:id' } as const
  const checked = (handle: (exchange: Authenticated) => Promise<Response>) =>
    withPrincipal(async (exchange) => {
      dialect.check(exchange)
      return handle(exchange)
    })
  return [
    {
      ...all,
      method: 'POST',
      name: 'file_create',
      handle: checked(async (exchange) => {
        const { stored, ...facts } = await dialect.upload(exchange)
        return jsonResponse(dialect.show(await files.create(exchange.principal, stored, facts)))
      }),
    },
    {
      ...all,
      method: 'GET',
      name: 'file_list',
      handle: checked(async ({ principal, query }) =>
        jsonResponse(dialect.list(await files.list(principal, dialect.query(query())))),
      ),
    },
    {
      ...one,
      method: 'GET',
      name: 'file_get',
      handle: checked(async (exchange) =>
        jsonResponse(dialect.show(await files.load(exchange.principal, idOf(exchange)))),
      ),
    },
    {
      ...one,
      method: 'GET',
      path: '/files/:id/content',
      name: 'file_content',
      handle: checked((exchange) => download(exchange, dialect, dependencies)),
    },
    {
      ...one,
      method: 'DELETE',
      name: 'file_delete',
      handle: checked(async (exchange) => {
        const { id } = await files.delete(exchange.principal, idOf(exchange))
        return jsonResponse(dialect.deleted(id))
      }),
    },
  ]
}

function idOf(exchange: Authenticated): string {
  return exchange.params['id'] ?? ''
}

type Sink = Parameters<typeof readUploadForm<StoredBytes>>[2]

async function readForm({ request }: Authenticated, into: Sink): Promise<UploadForm<StoredBytes>> {
  const refusal = refusedEncoding(request)
  if (refusal) throw refusal
  const contentType = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data/i.test(contentType))
    throw new GatewayError('invalid_request', 'Send the file as multipart/form-data.', {
      param: 'content-type',
    })
  return readUploadForm(bodyOf(request), contentType, into)
}

/** Reads the form, and its file by what it has. */
async function readByContent(
  exchange: Authenticated,
  { files }: HttpDependencies,
  { ofNone, bytesMax }: { ofNone: UploadPurpose | null; bytesMax?: number },
): Promise<{ form: UploadForm<StoredBytes>; read: ContentTypeReader }> {
  const read = new ContentTypeReader()
  const sink: Sink['sink'] = {
    store: (content) => files.store(through(content, read, bytesMax)),
    discard: (stored) => files.discard(stored),
  }
  return { form: await readForm(exchange, { sink, ofNone }), read }
}

async function uploadByContent(
  exchange: Authenticated,
  dependencies: HttpDependencies,
): Promise<UploadForm<StoredBytes>> {
  const asked = { ofNone: 'user_data', bytesMax: contractFileBytesMax } as const
  const { form, read } = await readByContent(exchange, dependencies, asked)
  const mediaType = read.end()
  if (read.bytes > 0 && mediaType !== null) return { ...form, mediaType }
  await dependencies.files.discard(form.stored)
  const problem =
    read.bytes === 0
      ? 'is empty.'
      : 'must be a PDF, a PNG, JPEG, GIF or WebP image, a DOCX, XLSX or PPTX document, MP3, WAV, FLAC or OGG audio, or UTF-8 text.'
  throw fieldError('file', problem)
}

async function* through(
  content: AsyncIterable<Uint8Array>,
  read: ContentTypeReader,
  bytesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    read.push(piece)
    if (read.bytes > bytesMax) {
      const message = `The file is larger than ${bytesMax} bytes; send less.`
      throw new GatewayError('payload_too_large', message, { param: 'file' })
    }
    yield piece
  }
}

async function download(
  exchange: Authenticated,
  { givesUploads }: FileDialect,
  dependencies: HttpDependencies,
): Promise<Response> {
  const { principal } = exchange
  const file = await dependencies.files.load(principal, idOf(exchange))
  if (file.batchId === null && !givesUploads) {
    const message =
      'An uploaded file is not downloadable here; name its id in a call, or read it below /openai/v1.'
    throw new GatewayError('invalid_request', message, { param: 'file_id' })
  }
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

function openAiPageOf(query: URLSearchParams): ListFiles {
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw fieldError('order', 'must be asc or desc.')
  return { purpose: query.get('purpose'), after: query.get('after'), order, limit: limitOf(query) }
}

/** The oldest first; a cursor is the id of the last file that was seen. */
function contractPageOf(query: URLSearchParams): ListFiles {
  if ((query.get('order') ?? 'asc') !== 'asc') throw fieldError('order', 'must be asc.')
  if (query.has('before_id')) throw fieldError('before_id', 'is not taken; page forward with cursor.')
  const after = query.get('cursor') ?? query.get('after') ?? query.get('after_id')
  return { purpose: null, after, order: 'asc', limit: limitOf(query) }
}

function limitOf(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(filesPageMax)
  const limit = Number(text)
  if (!/^\d{1,5}$/.test(text) || limit < 1) throw fieldError('limit', 'must be a whole number from 1.')
  return limit
}
