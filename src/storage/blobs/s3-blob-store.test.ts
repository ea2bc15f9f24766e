import { afterAll, describe, expect, test } from 'bun:test'
import { startS3, type TestS3, whyNoS3 } from '../../../test/support/s3-server.ts'
import { systemClock } from '../../core/clock.ts'
import { createTransport } from '../../transport/http-client.ts'
import { createSignedSend } from '../../transport/signed-send.ts'
import { blobStoreCases, failureOf, inChunks, patterned, text } from './blob-store.case.ts'
import { S3BlobStore } from './s3-blob-store.ts'
import type { S3Answer, S3Request, S3Send } from './s3-requests.ts'
import type { S3Settings } from './s3-settings.ts'

const reason = whyNoS3()
if (reason !== null) console.warn(`skipped: ${reason}`)

const toServer = createSignedSend(createTransport({ clock: systemClock }))
let starting: Promise<TestS3> | null = null
const open = (): Promise<TestS3> => (starting ??= startS3())
afterAll(async () => (await starting)?.stop())

/** A store in a bucket of its own; `tamper` stands between it and the server. */
async function newStore(
  change: Partial<S3Settings> = {},
  tamper: (request: S3Request, pass: () => Promise<S3Answer>) => Promise<S3Answer> = (_, pass) => pass(),
): Promise<{ store: S3BlobStore; settings: S3Settings }> {
  const settings = { ...(await open()).makeBucket(), ...change }
  const send: S3Send = (request, deadlineMs) => tamper(request, () => toServer(request, deadlineMs))
  return { settings, store: new S3BlobStore(settings, { send, pause: () => Promise.resolve() }) }
}

function refusing(status: number, code: string): S3Answer {
  const body = text(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
  return { status, headers: { get: () => null }, readAll: () => Promise.resolve(body) }
}

const large = Buffer.alloc(17 * 1024 * 1024, patterned(251))

describe.skipIf(reason !== null)('a bucket', () => {
  blobStoreCases('s3', async () => (await newStore()).store)

  test('a wrong secret, an unknown key and a missing bucket are refused, and the remedy names the variable', async () => {
    const cases: [Partial<S3Settings>, string][] = [
      [{ secretAccessKey: 'not-the-secret-of-this-key' }, 'AWS_SECRET_ACCESS_KEY'],
      [{ accessKeyId: 'AKNOBODY' }, 'AWS_ACCESS_KEY_ID'],
      [{ bucket: 'no-such-bucket' }, 'BLOB_URL'],
    ]
    for (const [change, variable] of cases) {
      const { store } = await newStore(change)
      const works = [
        () => store.put('a', text('x')),
        () => store.get('a'),
        () => store.list(''),
        () => store.delete('a'),
      ]
      for (const work of works) {
        const failure = await failureOf(work())
        expect(failure).toMatchObject({ type: 'storage_unavailable' })
        expect((failure as { cause: { remedy: string } }).cause.remedy).toContain(variable)
        expect(JSON.stringify([String(failure), (failure as Error).cause])).not.toContain('not-the-secret')
      }
    }
  })

  test('a body that is changed on its way is refused', async () => {
    const { store } = await newStore({}, (request, pass) => {
      request.body?.fill(0x41)
      return pass()
    })
    expect(await failureOf(store.put('a', text('xyz')))).toMatchObject({ type: 'storage_unavailable' })
    expect(await store.exists('a')).toBe(false)
  })

  test('an object whose bytes have changed is not given to its reader', async () => {
    const { store } = await newStore({}, async (request, pass) => {
      const answer = await pass()
      if (request.method !== 'GET' || answer.status !== 206) return answer
      return { ...answer, headers: answer.headers, readAll: async () => text('abX') }
    })
    await store.put('a', text('abc'))
    expect(await failureOf(store.get('a'))).toMatchObject({ type: 'storage_unavailable' })
  })

  test('failures that pass are waited out', async () => {
    let requests = 0
    const { store } = await newStore({}, async (_, pass) => {
      requests += 1
      if (requests % 3 === 1) return refusing(503, 'SlowDown')
      if (requests % 3 === 2) throw new Error('the connection broke')
      return pass()
    })
    await store.put('a/b', inChunks(large, 1_000_000))
    expect(Buffer.from(large).equals(await store.get('a/b'))).toBe(true)
    expect(await store.list('a')).toEqual(['a/b'])
    await store.delete('a/b')
    expect(await store.exists('a/b')).toBe(false)
  }, 60_000)

  test('a put whose answer was lost is not written twice and not refused', async () => {
    for (const lost of ['put', 'complete'] as const) {
      let losses = 0
      const isLost = ({ method, url }: S3Request): boolean =>
        lost === 'put' ? method === 'PUT' : method === 'POST' && url.searchParams.has('uploadId')
      const { store } = await newStore({}, async (request, pass) => {
        const answer = await pass()
        if (!isLost(request) || losses > 0) return answer
        losses += 1
        throw new Error('the connection broke')
      })
      const content = lost === 'put' ? text('small') : large
      expect(await store.put('a', content)).toMatchObject({ bytes: content.byteLength })
      expect(losses).toBe(1)
      expect(await store.size('a')).toBe(content.byteLength)
    }
  }, 60_000)

  test('a server that stays out of order leaves nothing, and its upload is given up once it is back', async () => {
    let isDown = false
    const { store, settings } = await newStore({}, async (request, pass) => {
      if (request.url.searchParams.get('partNumber') === '2') isDown = true
      return isDown ? refusing(503, 'ServiceUnavailable') : pass()
    })
    const failure = await failureOf(store.put('a', large))
    expect(failure).toMatchObject({ type: 'storage_unavailable' })
    isDown = false
    expect(await store.list('')).toEqual([])
    const other = new S3BlobStore(settings, { send: toServer })
    expect(await other.removeUnfinished(Date.now() - 86_400_000)).toBe(0)
    expect(await other.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(1)
    expect(await other.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0)
  }, 60_000)

  test('an upload that its completion refuses is given up', async () => {
    const { store } = await newStore({}, (request, pass) =>
      request.method === 'POST' && request.url.searchParams.has('uploadId')
        ? Promise.resolve(refusing(200, 'InvalidPart'))
        : pass(),
    )
    expect(await failureOf(store.put('a', large))).toMatchObject({ type: 'storage_unavailable' })
    expect(await store.exists('a')).toBe(false)
    expect(await store.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0)
  }, 60_000)

  test('stores with different prefixes share a bucket and see only their own', async () => {
    const { store, settings } = await newStore({ prefix: 'one' })
    const other = new S3BlobStore({ ...settings, prefix: 'one-more' }, { send: toServer })
    const root = new S3BlobStore({ ...settings, prefix: '' }, { send: toServer })
    await store.put('a', text('first'))
    await other.put('a', text('second'))
    expect(await store.get('a')).toEqual(text('first'))
    expect(await other.list('')).toEqual(['a'])
    expect(await root.list('')).toEqual(['one-more/a', 'one/a'])
  })

  test('an object is written once, also by two processes', async () => {
    const { store, settings } = await newStore()
    const other = new S3BlobStore(settings, { send: toServer })
    const outcomes = await Promise.allSettled([store.put('a', text('1')), other.put('a', text('2'))])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await failureOf(other.put('a', text('3')))).toMatchObject({ type: 'conflict' })
  })

  test('a server without conditional writes is written to nevertheless', async () => {
    const { store } = await newStore({}, (request, pass) =>
      request.headers['if-none-match'] === undefined
        ? pass()
        : Promise.resolve(refusing(501, 'NotImplemented')),
    )
    await store.put('a', text('x'))
    await store.put('b', large)
    expect(await store.size('b')).toBe(large.byteLength)
  }, 60_000)
})
