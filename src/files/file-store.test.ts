import { afterEach, expect, test } from 'bun:test'
import { principalOf } from '../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../test/support/databases.ts'
import { LossyFileLayer } from '../../test/support/lossy-file-layer.ts'
import type { Clock } from '../core/clock.ts'
import { FolderBlobStore } from '../storage/blobs/folder-blob-store.ts'
import type { Database } from '../storage/database.ts'
import { insertFile } from './file-repository.ts'
import { createFiles, type FileFacts, organizationFilesBytesMax } from './file-store.ts'

const facts: FileFacts = { purpose: 'user_data', name: 'tide.txt', mediaType: 'text/plain', lifeMs: null }

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

eachDatabase((_name, open) => {
  let database: Database
  afterEach(() => database.close())

  async function world() {
    const clock: Clock & { now: number } = {
      now: 1_000_000,
      nowMs: () => clock.now,
      monotonicMs: () => clock.now,
    }
    database = await open()
    const layer = new LossyFileLayer()
    const blobs = new FolderBlobStore('/blobs', { files: layer })
    return { clock, layer, files: createFiles({ database, blobs, clock }) }
  }

  const mine = principalOf({ organizationId: 'org_a' })
  const theirs = principalOf({ organizationId: 'org_b' })

  test('a file is read and listed by its organization alone, and its bytes go with it', async () => {
    const { files, layer } = await world()
    const file = await files.create(mine, await files.store(pieces('high ', 'water')), facts)
    expect(file).toMatchObject({ bytes: 10, name: 'tide.txt', purpose: 'user_data', batchId: null })
    expect(await new Response(files.open(await files.load(mine, file.id))).text()).toBe('high water')
    await expect(files.load(theirs, file.id)).rejects.toMatchObject({ type: 'not_found' })
    await expect(files.delete(theirs, file.id)).rejects.toMatchObject({ type: 'not_found' })
    expect(
      (await files.list(theirs, { purpose: null, order: 'desc', limit: 10, after: null })).files,
    ).toEqual([])
    await files.delete(mine, file.id)
    await expect(files.load(mine, file.id)).rejects.toMatchObject({ type: 'not_found' })
    expect(layer.paths()).toEqual([])
  })

  test('files are listed in both orders and in pages', async () => {
    const { files } = await world()
    const ids: string[] = []
    for (const text of ['a', 'b', 'c'])
      ids.push((await files.create(mine, await files.store(pieces(text)), facts)).id)
    const page = { purpose: 'user_data', limit: 2 } as const
    const oldest = await files.list(mine, { ...page, order: 'asc', after: null })
    expect([oldest.files.length, oldest.hasMore]).toEqual([2, true])
    const rest = await files.list(mine, { ...page, order: 'asc', after: oldest.files.at(-1)?.id ?? '' })
    expect([...oldest.files, ...rest.files].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(rest.hasMore).toBe(false)
    expect((await files.list(mine, { ...page, purpose: 'batch', order: 'desc', after: null })).files).toEqual(
      [],
    )
  })

  test('an upload that breaks off leaves nothing', async () => {
    const { files, layer } = await world()
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('gone')
    }
    await expect(files.store(broken())).rejects.toThrow()
    expect(layer.paths()).toEqual([])
  })

  test('more than an organization may keep is refused, and its bytes are freed', async () => {
    const { files, layer } = await world()
    const full = principalOf({ organizationId: 'org_full' })
    const stored = await files.store(pieces('x'))
    const huge = {
      id: 'hrfile_huge',
      organizationId: 'org_full',
      blob: 'files/x/b_1',
      bytes: organizationFilesBytesMax,
      ...facts,
    }
    await database.commit({ name: 'test', statements: [insertFile(huge, organizationFilesBytesMax)] })
    await expect(files.create(full, stored, facts)).rejects.toMatchObject({ type: 'payload_too_large' })
    expect(layer.paths()).toEqual([])
    expect((await files.create(theirs, await files.store(pieces('x')), facts)).bytes).toBe(1)
  })
})
