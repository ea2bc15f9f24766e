import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachDatabase } from '../../test/support/databases.ts'
import { openSpools } from './spools.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-spools-'))
afterAll(() => rmSync(folder, { recursive: true }))

eachDatabase((name, open) => {
  test('audio of a process that died is removed, that of one that lives is not', async () => {
    const [own, other, died] = [await open({ ownerGraceMs: 50 }), await open(), await open()]
    const spools = join(folder, name, 'spool')
    for (const { ownerId } of [other, died]) {
      mkdirSync(join(spools, ownerId), { recursive: true })
      writeFileSync(join(spools, ownerId, 'audio-1'), 'somebody speaks')
    }
    await died.close()
    expect(await openSpools(join(folder, name), own, 100)).toBe(join(spools, own.ownerId))
    for (let looks = 0; looks < 100 && readdirSync(spools).includes(died.ownerId); looks++)
      await Bun.sleep(20)
    expect(readdirSync(spools).toSorted()).toEqual([own.ownerId, other.ownerId].toSorted())
  })
})
