import { afterAll, afterEach, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachDatabase } from '../../test/support/databases.ts'
import { LossyFileLayer } from '../../test/support/lossy-file-layer.ts'
import { joinBlobStore } from './blob-identity.ts'
import { createBlobStoresRepository } from './blob-stores-repository.ts'
import { FolderBlobStore } from './blobs/folder-blob-store.ts'
import type { Database } from './database.ts'
import { checkBlobStore, openStorage } from './open-storage.ts'
import type { OpenedStorage } from './open-storage.ts'

const root = mkdtempSync(join(tmpdir(), 'headrace-identity-'))
let folders = 0

afterAll(() => rmSync(root, { recursive: true, force: true }))

function newFolder(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return folder
}

const payload = 'segments/batch_1/b_000000000a'

async function putPayload(dataFolder: string): Promise<void> {
  await new FolderBlobStore(join(dataFolder, 'blobs')).put(payload, new Uint8Array(3))
}

/** A batch whose only segment is `payload`. */
async function insertBatch(database: Database): Promise<void> {
  const sql = [
    `insert into batches (batch_id, organization_id, key_id, endpoint, model, completion_window, status, lane, created_at_ms,
      expires_at_ms, total_items, estimate_nanocredits, worst_case_nanocredits, request_bytes)
      values ('batch_1', 'o', 'k', 'e', 'm', '24h', 'in_progress', 'item', 0, 0, 1, 0, 0, 0)`,
    `insert into segments (batch_id, ordinal, first_item, item_count, blob, blob_bytes, state, done_bitmap)
      values ('batch_1', 0, 0, 1, '${payload}', 3, 'pending', cast('' as {{bytes}}))`,
  ]
  await database.commit({ name: 'test.batch', statements: sql.map((text) => ({ sql: text })) })
}

eachDatabase((_name, _open, { createEmpty, createMigrated, openFresh }) => {
  const opened: OpenedStorage[] = []

  const start = async (databaseUrl: string, dataFolder: string): Promise<OpenedStorage> => {
    const storage = await openStorage({ databaseUrl, dataFolder })
    opened.push(storage)
    return storage
  }
  const refusal = (databaseUrl: string, dataFolder: string): Promise<string> =>
    start(databaseUrl, dataFolder).then(
      () => 'started',
      (error: unknown) => String(error),
    )
  const idIn = (dataFolder: string): string =>
    readFileSync(join(dataFolder, 'blobs', 'store-id'), 'utf8').trim()

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ database }) => database.close()))
  })

  test('a second process with another data folder does not start, and its message names both folders', async () => {
    const [url, first, second] = [await createMigrated(), newFolder(), newFolder()]
    await start(url, first)
    const told = await refusal(url, second)
    expect(told).toStartWith('BlobStoreMismatch: The payloads of this database are in ')
    for (const part of [`:${first}/blobs (store ${idIn(first)})`, `:${second}/blobs`, 'set HEADRACE_DATA'])
      expect(told).toContain(part)
    expect(existsSync(join(second, 'blobs'))).toBe(false)
    await start(url, first)
    await start(url, first)
  })

  test('processes that start at once on an empty database agree on one folder', async () => {
    const [url, first, second] = [await createEmpty(), newFolder(), newFolder()]
    const outcomes = await Promise.all([first, second, first, second].map((folder) => refusal(url, folder)))
    const started = outcomes.map((outcome) => outcome === 'started')
    expect([started[0], started[1]]).toEqual([started[2], started[3]])
    expect(started[0]).not.toBe(started[1])
  })

  test('an existing folder is adopted by an empty database, unless it belongs to another database', async () => {
    const folder = newFolder()
    await putPayload(folder)
    const url = await createMigrated()
    const { database } = await start(url, folder)
    const id = idIn(folder)
    expect((await createBlobStoresRepository(database).load())?.storeId).toBe(id)
    // Otherwise the folder's payloads would be removed as orphans.
    expect(await refusal(await createMigrated(), folder)).toContain('they are another database')
    const emptied = newFolder()
    mkdirSync(join(emptied, 'blobs'))
    writeFileSync(join(emptied, 'blobs', 'store-id'), id)
    expect(await refusal(await createMigrated(), emptied)).toBe('started')
    expect(idIn(emptied)).toBe(id)
  })

  test('a database of version 0.1, which names no folder, adopts only the folder with its payloads', async () => {
    const { database, url } = await openFresh()
    await insertBatch(database)
    const [wrong, right] = [newFolder(), newFolder()]
    await putPayload(right)
    expect(await refusal(url, wrong)).toContain(`whose payloads are not in`)
    expect(existsSync(join(wrong, 'blobs'))).toBe(false)
    await start(url, right)
    expect((await createBlobStoresRepository(database).load())?.storeId).toBe(idIn(right))
  })

  test('a backup starts where it is restored, also one whose payloads were copied without their id', async () => {
    const [url, folder] = [await createMigrated(), newFolder()]
    const { database } = await start(url, folder)
    await insertBatch(database)
    await putPayload(folder)
    const restored = newFolder()
    cpSync(join(folder, 'blobs'), join(restored, 'blobs'), { recursive: true })
    expect(await refusal(url, restored)).toBe('started')
    expect((await createBlobStoresRepository(database).load())?.location).toEndWith(`:${restored}/blobs`)
    rmSync(join(restored, 'blobs', 'store-id'))
    expect(await refusal(url, restored)).toBe('started')
    expect(idIn(restored)).toBe(idIn(folder))
  })

  test('a backup from before the first batch starts without its folder, and then refuses the earlier folder', async () => {
    const [url, folder, restored] = [await createMigrated(), newFolder(), newFolder()]
    const { database } = await openStorage({ databaseUrl: url, dataFolder: folder })
    await database.close()
    const again = await openStorage({ databaseUrl: url, dataFolder: restored })
    await again.database.close()
    expect(idIn(restored)).not.toBe(idIn(folder))
    expect(await refusal(url, folder)).toContain(`is another store (${idIn(folder)})`)
  })

  test('the operator declares the folder lost', async () => {
    const [url, folder, fresh] = [await createMigrated(), newFolder(), newFolder()]
    const { database } = await openStorage({ databaseUrl: url, dataFolder: folder })
    await insertBatch(database)
    await database.close()
    expect(await refusal(url, fresh)).toContain(`write ${idIn(folder)} into the file store-id`)
    mkdirSync(join(fresh, 'blobs'))
    writeFileSync(join(fresh, 'blobs', 'store-id'), idIn(folder))
    expect(await refusal(url, fresh)).toBe('started')
  })

  test('doctor reports a folder of another database, and does not report the right one', async () => {
    const [url, folder, other] = [await createMigrated(), newFolder(), newFolder()]
    const { database, blobs } = await start(url, folder)
    expect(await checkBlobStore(database, blobs, { dataFolder: folder })).toBe(null)
    const elsewhere = new FolderBlobStore(join(other, 'blobs'))
    expect(await checkBlobStore(database, elsewhere, { dataFolder: other })).toContain(
      `${other}/blobs has no payloads of it`,
    )
  })

  test('the id survives a power cut right after the start', async () => {
    const { database } = await openFresh()
    const files = new LossyFileLayer()
    const stores = createBlobStoresRepository(database)
    const blobs = new FolderBlobStore('/blobs', { files })
    await joinBlobStore({
      stores,
      blobs,
      location: 'here',
      variable: 'HEADRACE_DATA',
      otherOccupants: () => Promise.resolve([]),
    })
    files.crash()
    expect(new TextDecoder().decode(await blobs.get('store-id')).trim()).toBe(
      (await stores.load())?.storeId ?? 'none',
    )
  })
})
