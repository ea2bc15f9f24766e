import { expect, test } from 'bun:test'
import { failureOf, text } from './blob-store.case.ts'
import { S3BlobStore } from './s3-blob-store.ts'
import type { S3Answer, S3Request } from './s3-requests.ts'
import { s3PartBytes } from './s3-upload.ts'

const settings = {
  endpoint: 'http://store.example:9000',
  region: 'eu-west-1',
  bucket: 'payloads',
  prefix: 'one',
  addressing: 'path',
  accessKeyId: 'AKTEST',
  secretAccessKey: 'the-secret-of-the-key',
  sessionToken: null,
} as const

function answer(status: number, body = '', headers: Record<string, string> = {}): S3Answer {
  return {
    status,
    headers: { get: (name) => headers[name] ?? null },
    readAll: () => Promise.resolve(text(body)),
  }
}

const refusal = (status: number, code: string): S3Answer =>
  answer(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)

/** What a request is, in a word. */
function nameOf({ method, url }: S3Request): string {
  if (url.searchParams.has('uploads')) return 'begin'
  if (url.searchParams.has('partNumber')) return `part ${url.searchParams.get('partNumber')}`
  if (!url.searchParams.has('uploadId')) return method.toLowerCase()
  return method === 'POST' ? 'complete' : 'abort'
}

/** A store whose server answers as a test says, else as a server without faults; `asked` has what it was asked. */
function scripted(script: (name: string, request: S3Request) => S3Answer | Promise<S3Answer> | null): {
  store: S3BlobStore
  asked: string[]
} {
  const asked: string[] = []
  const usual = (name: string): S3Answer => {
    if (name === 'begin') return answer(200, '<UploadId>u-1</UploadId>')
    return name.startsWith('part') ? answer(200, '', { etag: '"e"' }) : answer(name === 'abort' ? 204 : 200)
  }
  const send = async (request: S3Request): Promise<S3Answer> => {
    const name = nameOf(request)
    asked.push(name)
    return (await script(name, request)) ?? usual(name)
  }
  return { asked, store: new S3BlobStore(settings, { send, pause: () => Promise.resolve() }) }
}

const twoParts = new Uint8Array(s3PartBytes + 1)

test('an upload is given up when a part of it fails for good, and only after its parts have ended', async () => {
  const { store, asked } = scripted((name) => (name === 'part 2' ? refusal(403, 'AccessDenied') : null))
  expect(await failureOf(store.put('a', twoParts))).toMatchObject({
    type: 'storage_unavailable',
    cause: { code: 'AccessDenied' },
  })
  expect(asked).toEqual(['begin', 'part 1', 'part 2', 'abort'])
})

test('an upload whose completion fails inside a success is a failure, and given up', async () => {
  const { store, asked } = scripted((name) => (name === 'complete' ? refusal(200, 'InternalError') : null))
  expect(await failureOf(store.put('a', twoParts))).toMatchObject({ type: 'storage_unavailable' })
  expect(asked.filter((name) => name === 'complete').length).toBeGreaterThan(1)
  expect(asked.at(-1)).toBe('abort')
})

test('a refused key is no missing object', async () => {
  for (const code of ['NoSuchBucket', 'UnknownAccessKey']) {
    const { store } = scripted(() => refusal(404, code))
    expect(await failureOf(store.get('a'))).toMatchObject({ type: 'storage_unavailable', cause: { code } })
    expect(await failureOf(store.delete('a'))).toMatchObject({ type: 'storage_unavailable' })
  }
  const { store } = scripted(() => refusal(404, 'NoSuchKey'))
  expect(await failureOf(store.get('a'))).toMatchObject({ type: 'not_found' })
  await store.delete('a')
})

test('a part of an object that is shorter than promised, or another one, is not given to its reader', async () => {
  for (const range of ['bytes 0-9/10', 'bytes 3-5/10', null]) {
    const { store } = scripted(() => answer(206, 'abc', range === null ? {} : { 'content-range': range }))
    expect(await failureOf(store.get('a'))).toMatchObject({ type: 'storage_unavailable' })
  }
})

test('an object whose bytes are not those that were written is not given to its reader', async () => {
  const headers = { 'content-range': 'bytes 0-2/3', 'x-amz-meta-headrace-sha256': 'ba78' }
  const { store } = scripted(() => answer(206, 'abc', headers))
  expect(await failureOf(store.get('a'))).toMatchObject({ type: 'storage_unavailable' })
})

test('a name that is in use is refused, also where the same put had to ask twice', async () => {
  let puts = 0
  const { store } = scripted((name) => {
    if (name !== 'put')
      return answer(206, 'x', { 'content-range': 'bytes 0-0/1', 'x-amz-meta-headrace-put': 'other' })
    puts += 1
    return puts === 1 ? refusal(503, 'SlowDown') : refusal(412, 'PreconditionFailed')
  })
  expect(await failureOf(store.put('a', text('x')))).toMatchObject({ type: 'conflict' })
})

test('requests are signed, say that only new objects are written, and show no secret', async () => {
  const seen: S3Request[] = []
  const { store } = scripted((_, request) => {
    seen.push(request)
    return null
  })
  await store.put('segments/b/1', text('x'))
  const [{ url, headers }] = seen as [S3Request]
  expect(url.href).toBe('http://store.example:9000/payloads/one/segments/b/1')
  expect(headers['authorization']).toStartWith('AWS4-HMAC-SHA256 Credential=AKTEST/')
  expect(headers['authorization']).toContain('/eu-west-1/s3/aws4_request')
  expect(headers['if-none-match']).toBe('*')
  expect(JSON.stringify(headers)).not.toContain(settings.secretAccessKey)
})

test('what the log says names the store, the request and the remedy, and no secret', async () => {
  const { store } = scripted(() => refusal(403, 'SignatureDoesNotMatch'))
  const { cause } = (await failureOf(store.list(''))) as Error & { cause: Error & { remedy: string } }
  expect(cause.message).toBe(
    's3://payloads/one at http://store.example:9000: listing: the server answered 403 SignatureDoesNotMatch',
  )
  expect(cause.remedy).toContain('AWS_SECRET_ACCESS_KEY')
})

test('a server that says nothing is asked a few times and then given up', async () => {
  const { store, asked } = scripted(() => Promise.reject(new Error('the connection broke')))
  expect(await failureOf(store.put('a', text('x')))).toMatchObject({
    type: 'storage_unavailable',
    cause: { message: expect.stringContaining('writing a: no answer') as unknown },
  })
  expect(asked).toEqual(['put', 'put', 'put', 'put', 'put'])
})
