import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { AssertionError } from '../../core/assert.ts'
import type { BlobStore } from './blob-store.ts'

/** More than two parts of an upload and several reads, where a store cuts into such. */
const largeBytes = 20 * 1024 * 1024 + 17

export const text = (content: string): Uint8Array => new TextEncoder().encode(content)

export const patterned = (bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, index) => index % 251)

export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

export async function* inChunks(content: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.byteLength; start += bytes) yield content.subarray(start, start + bytes)
}

/** The promises of `BlobStore`, for each home of payloads. All cases share one store that is empty at first. */
export function blobStoreCases(name: string, create: () => BlobStore | Promise<BlobStore>): void {
  let opened: Promise<BlobStore> | null = null
  const open = (): Promise<BlobStore> => (opened ??= Promise.resolve(create()))

  test(`${name}: an object is read back whole, by range and as a stream`, async () => {
    const store = await open()
    const content = patterned(5_000)
    const written = await store.put('segments/b1/0', inChunks(content, 999))
    expect(written).toEqual({ bytes: 5_000, sha256: createHash('sha256').update(content).digest('hex') })
    expect(await store.get('segments/b1/0')).toEqual(content)
    expect(await store.size('segments/b1/0')).toBe(5_000)
    expect(await readAll(store.stream('segments/b1/0'))).toEqual(content)
    expect(await readAll(store.stream('segments/b1/0', { offset: 10, length: 7 }))).toEqual(
      content.slice(10, 17),
    )
    expect(await readAll(store.stream('segments/b1/0', { offset: 4_990, length: 100 }))).toEqual(
      content.slice(4_990),
    )
    expect(await readAll(store.stream('segments/b1/0', { offset: 9_000 }))).toEqual(new Uint8Array())
    expect(await readAll(store.stream('segments/b1/0', { length: 0 }))).toEqual(new Uint8Array())
  })

  test(`${name}: an empty object is an object`, async () => {
    const store = await open()
    await store.put('empty', new Uint8Array())
    expect(await store.size('empty')).toBe(0)
    expect(await readAll(store.stream('empty'))).toEqual(new Uint8Array())
  })

  test(`${name}: a key is written once, also by two at the same time`, async () => {
    const store = await open()
    await store.put('once', text('first'))
    expect(await failureOf(store.put('once', text('second')))).toMatchObject({ type: 'conflict' })
    expect(await store.get('once')).toEqual(text('first'))
    const outcomes = await Promise.allSettled([store.put('race', text('a')), store.put('race', text('b'))])
    expect(outcomes.map((outcome) => outcome.status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test(`${name}: a source that breaks leaves nothing, and the key is free again`, async () => {
    const store = await open()
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield text('half')
      throw new Error('the caller left')
    }
    expect(String(await failureOf(store.put('broken/x', broken())))).toContain('the caller left')
    expect(await store.exists('broken/x')).toBe(false)
    expect(await store.list('broken')).toEqual([])
    await store.put('broken/x', text('whole'))
    expect(await store.exists('broken/x')).toBe(true)
  })

  test(`${name}: a missing object is not found, and deleting it succeeds`, async () => {
    const store = await open()
    expect(await failureOf(store.get('absent'))).toMatchObject({ type: 'not_found' })
    expect(await failureOf(store.size('absent/deeper'))).toMatchObject({ type: 'not_found' })
    expect(await failureOf(readAll(store.stream('absent')))).toMatchObject({ type: 'not_found' })
    await store.delete('absent')
    await store.put('absence', text('x'))
    expect(await failureOf(store.get('absence/inside'))).toMatchObject({ type: 'not_found' })
    await store.put('gone', text('x'))
    await store.delete('gone')
    expect(await store.exists('gone')).toBe(false)
  })

  test(`${name}: keys are listed in order, by prefix, page by page`, async () => {
    const store = await open()
    const keys = ['list/a', 'list/a-b', 'list/a.b/c', 'list/b/1', 'list/b/10', 'list/b/2', 'list0']
    for (const key of keys.toReversed()) await store.put(key, text(key))
    expect(await store.list('list')).toEqual(keys)
    expect(await store.list('list/b/')).toEqual(['list/b/1', 'list/b/10', 'list/b/2'])
    expect(await store.list('list/b/1')).toEqual(['list/b/1', 'list/b/10'])
    const paged: string[] = []
    for (let page = await store.list('list', { limit: 2 }); page.length > 0;) {
      paged.push(...page)
      page = await store.list('list', { limit: 2, after: page.at(-1) ?? '' })
    }
    expect(paged).toEqual(keys)
  })

  test(`${name}: a key cannot leave the folder`, async () => {
    const store = await open()
    for (const key of [
      '',
      '/',
      '/etc/x',
      '../x',
      'a/../x',
      'a/./x',
      'a//x',
      'a/',
      'A',
      'a b',
      'a\0',
      '.',
      '..',
      '.../x',
    ]) {
      expect(await failureOf(store.put(key, text('x')))).toBeInstanceOf(AssertionError)
    }
  })

  test(`${name}: a large object is read back whole and by range`, async () => {
    const store = await open()
    const content = Buffer.alloc(largeBytes, patterned(251 * 64))
    const written = await store.put('large/whole', inChunks(content, 700_001))
    expect(written).toEqual({ bytes: largeBytes, sha256: createHash('sha256').update(content).digest('hex') })
    expect(await store.size('large/whole')).toBe(largeBytes)
    expect(content.equals(await store.get('large/whole'))).toBe(true)
    expect(content.equals(await readAll(store.stream('large/whole')))).toBe(true)
    const offset = 8 * 1024 * 1024 - 3
    const part = await readAll(store.stream('large/whole', { offset, length: 5_000_000 }))
    expect(content.subarray(offset, offset + 5_000_000).equals(part)).toBe(true)
  }, 60_000)

  test(`${name}: nobody sees an object before its last byte is stored`, async () => {
    const store = await open()
    const content = Buffer.alloc(largeBytes, patterned(251))
    const seen: unknown[] = []
    const watched = async function* (): AsyncGenerator<Uint8Array> {
      yield* inChunks(content, 1_000_000)
      seen.push(
        await store.exists('unseen/x'),
        await store.list('unseen'),
        await failureOf(store.get('unseen/x')),
      )
    }
    await store.put('unseen/x', watched())
    expect(seen).toMatchObject([false, [], { type: 'not_found' }])
    expect(await store.list('unseen')).toEqual(['unseen/x'])
  }, 60_000)

  test(`${name}: a large source that breaks leaves nothing, not even unfinished`, async () => {
    const store = await open()
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(largeBytes)
      throw new Error('the caller left')
    }
    expect(String(await failureOf(store.put('broken/large', broken())))).toContain('the caller left')
    expect(await store.exists('broken/large')).toBe(false)
    expect(await store.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0)
  }, 60_000)

  test(`${name}: a reader that leaves early does no harm`, async () => {
    const store = await open()
    await store.put('left/x', patterned(600_000))
    const reader = store.stream('left/x').getReader()
    await reader.read()
    await reader.cancel()
    expect(await store.size('left/x')).toBe(600_000)
  })
}
