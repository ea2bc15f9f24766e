import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { longestBusyMs } from '../../../test/support/busy-thread.ts'
import { LossyFileLayer } from '../../../test/support/lossy-file-layer.ts'
import { blobStoreCases, failureOf, inChunks, patterned, readAll, text } from './blob-store.case.ts'
import { compress, decompress } from '../../batches/results/payloads.ts'
import { type FileLayer, systemFiles } from './file-layer.ts'
import { blobChunkBytes, FolderBlobStore } from './folder-blob-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-blobs-'))
afterAll(() => rmSync(folder, { recursive: true }))

blobStoreCases('system', () => new FolderBlobStore(join(folder, 'promises')))
blobStoreCases('lossy', () => new FolderBlobStore('/blobs', { files: new LossyFileLayer() }))

test('a confirmed object survives a crash, with its folders', async () => {
  const files = new LossyFileLayer()
  const store = new FolderBlobStore('/data/blobs', { files })
  await store.put('parts/b1/0/x', text('first'))
  await store.put('parts/b1/0/y', text('second'))
  files.crash()
  const restarted = new FolderBlobStore('/data/blobs', { files })
  expect(await restarted.get('parts/b1/0/x')).toEqual(text('first'))
  expect(await restarted.list('')).toEqual(['parts/b1/0/x', 'parts/b1/0/y'])
})

test('a crash at any step of a put leaves the whole object or none, never a part of it', async () => {
  const steps = await countSteps()
  expect(steps).toBeGreaterThan(8)
  for (let step = 0; step < steps; step++) {
    const files = new LossyFileLayer()
    const dying = new FolderBlobStore('/blobs', { files: dieAt(files, step) })
    await failureOf(dying.put('parts/b1', inChunks(text('abcdef'), 2)))
    files.crash()
    const restarted = new FolderBlobStore('/blobs', { files })
    if (await restarted.exists('parts/b1')) expect(await restarted.get('parts/b1')).toEqual(text('abcdef'))
    else await restarted.put('parts/b1', text('again'))
    await restarted.removeUnfinished(Number.POSITIVE_INFINITY)
    expect(files.paths()).toEqual(['/blobs/parts/b1'])
  }
})

test('a deleted object does not come back after a crash', async () => {
  const files = new LossyFileLayer()
  const store = new FolderBlobStore('/blobs', { files })
  await store.put('a', text('x'))
  await store.delete('a')
  files.crash()
  expect(await new FolderBlobStore('/blobs', { files }).exists('a')).toBe(false)
})

test('a full or failing disk is an unavailable storage, leaves nothing, and passes', async () => {
  const files = new LossyFileLayer()
  const store = new FolderBlobStore('/blobs', { files })
  for (const operation of ['create', 'write', 'fsync', 'rename', 'fsyncFolder'] as const) {
    await store.put(`before/${operation.toLowerCase()}`, text('x'))
    files.failNext(operation, 'ENOSPC')
    const failure = await failureOf(store.put('before/full', text('x')))
    expect(failure).toMatchObject({ type: 'storage_unavailable', cause: { code: 'ENOSPC' } })
    expect(await store.exists('before/full')).toBe(false)
    expect(files.paths().filter((path) => path.includes('unfinished'))).toEqual([])
    expect(files.openFiles).toBe(0)
  }
  await store.put('before/full', text('x'))
})

test('only writes that began before the given time are swept', async () => {
  const files = new LossyFileLayer()
  const at = (nowMs: number): FolderBlobStore =>
    new FolderBlobStore('/blobs', {
      files: dieAt(files, 20),
      clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    })
  const stuck = async function* (): AsyncGenerator<Uint8Array> {
    yield text('x')
    await new Promise(() => undefined)
  }
  void at(1_000).put('old', stuck())
  void at(9_000).put('new', stuck())
  while (files.paths().length < 2) await new Promise((resolve) => setImmediate(resolve))
  expect(await new FolderBlobStore('/blobs', { files }).removeUnfinished(5_000)).toBe(1)
  expect(files.paths().length).toBe(1)
})

test('a stream reads only what is asked for, and cancelling closes the file', async () => {
  const files = new LossyFileLayer()
  const store = new FolderBlobStore('/blobs', { files })
  await store.put('long', new Uint8Array(blobChunkBytes * 4))
  const reader = store.stream('long').getReader()
  const first = await reader.read()
  expect(first.value?.byteLength).toBe(blobChunkBytes)
  expect(files.openFiles).toBe(1)
  await reader.cancel()
  expect(files.openFiles).toBe(0)
  const untouched = store.stream('long')
  await untouched.cancel()
  expect(files.openFiles).toBe(0)
})

test('a real folder holds nothing but the objects', async () => {
  const store = new FolderBlobStore(join(folder, 'real'))
  const content = patterned(blobChunkBytes * 3 + 17)
  await store.put('a/b', content)
  expect(await readAll(store.stream('a/b', { offset: 1 }))).toEqual(content.slice(1))
  expect(readdirSync(join(folder, 'real', '.unfinished'))).toEqual([])
})

test('folders that were removed from outside are made again', async () => {
  const root = join(folder, 'swept')
  const store = new FolderBlobStore(root)
  await store.put('parts/b1/a', text('a'))
  rmSync(join(root, '.unfinished'), { recursive: true })
  await store.put('parts/b1/b', text('b'))
  rmSync(join(root, 'parts', 'b1'), { recursive: true })
  await store.put('parts/b1/c', text('c'))
  rmSync(join(root, 'parts'), { recursive: true })
  await store.put('parts/b2/d', text('d'))
  rmSync(root, { recursive: true })
  await store.put('parts/b1/e', text('e'))
  expect(await store.list('')).toEqual(['parts/b1/e'])

  const whileWritten = async function* (): AsyncGenerator<Uint8Array> {
    yield text('f')
    rmSync(join(root, 'parts'), { recursive: true })
  }
  await store.put('parts/b1/f', whileWritten())
  expect(await store.get('parts/b1/f')).toEqual(text('f'))
})

test('writing and compressing many megabytes does not hold up the loop', async () => {
  const store = new FolderBlobStore(join(folder, 'large'))
  const content = patterned(8_000_000)
  // A collection of garbage adds to a round now and then; what this code itself holds up, it holds up in every round.
  const pauses: number[] = []
  for (let round = 0; round < 6; round++) {
    pauses.push(await longestBusyMs(() => writeAndRead(store, `x${round}`, content)))
  }
  expect(Math.min(...pauses)).toBeLessThan(10)
}, 30_000)

async function writeAndRead(store: FolderBlobStore, key: string, content: Uint8Array): Promise<void> {
  await store.put(key, content)
  const packed = await compress(content.subarray(0, 4_000_000))
  expect((await decompress(packed)).byteLength).toBe(4_000_000)
  await readAll(store.stream(key))
}

/** Passes every call on until the given one, which fails as everything after it does: the process is gone. */
function dieAt(files: FileLayer, step: number): FileLayer {
  const budget = { left: step }
  return mortal(files, () => {
    if (budget.left-- <= 0) throw Object.assign(new Error('dead'), { code: 'EIO' })
  })
}

async function countSteps(): Promise<number> {
  let steps = 0
  const counting = mortal(new LossyFileLayer(), () => steps++)
  await new FolderBlobStore('/blobs', { files: counting }).put('parts/b1', inChunks(text('abcdef'), 2))
  return steps
}

/** Calls `live` before every operation that changes something. */
function mortal(files: FileLayer, live: () => void): FileLayer {
  const living = async <T>(work: () => Promise<T>): Promise<T> => {
    live()
    return work()
  }
  return {
    create: async (path) => {
      const file = await living(() => files.create(path))
      return {
        ...file,
        write: (content) => living(() => file.write(content)),
        fsync: () => living(() => file.fsync()),
      }
    },
    open: (path) => files.open(path),
    rename: (from, to) => living(() => files.rename(from, to)),
    unlink: (path) => living(() => files.unlink(path)),
    makeFolder: (path) => living(() => files.makeFolder(path)),
    fsyncFolder: (path) => living(() => files.fsyncFolder(path)),
    exists: (path) => files.exists(path),
    list: (path) => files.list(path),
  }
}

test('the system’s file layer reports what is missing and what is there', async () => {
  expect(await systemFiles.list(join(folder, 'nowhere'))).toEqual([])
  expect(await systemFiles.exists(join(folder, 'nowhere'))).toBe(false)
  expect(await systemFiles.makeFolder(join(folder, 'made'))).toBe(true)
  expect(await systemFiles.makeFolder(join(folder, 'made'))).toBe(false)
  expect(await failureOf(systemFiles.open(join(folder, 'nowhere')))).toMatchObject({ code: 'ENOENT' })
})
