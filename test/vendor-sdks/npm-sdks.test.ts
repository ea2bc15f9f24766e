import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { judge } from './compare.ts'
import { judgeEnumeration, readUnion } from './enumerations.ts'
import { isInSuite, vendors } from './vendors.ts'
import { startVendorWorld } from './world.ts'

// What a vendor's own SDK sends, and what the gateway sends for the same.

const chosen = vendors.filter(isInSuite)
const world = await startVendorWorld(chosen)
await world.runPrograms([process.execPath, '--no-env-file', join(import.meta.dir, 'programs/run.ts')])
afterAll(() => world.stop())

for (const vendor of chosen) {
  const { slug, differences, enumerations = [], refusals = {} } = vendor

  test(`${slug}: the gateway sends what the SDK of the vendor sends`, async () => {
    expect(judge(await world.compareVendor(vendor), differences).join('\n')).toBe('')
  })

  for (const enumeration of enumerations) {
    test(`${slug}: what the gateway sends of ${enumeration.name} is what the SDK has of them`, async () => {
      const values = readUnion(enumeration.declared)
      expect(values.size).toBeGreaterThan(1)
      const sent = await world.askEach(slug, enumeration.name, enumeration.words.map(enumeration.ask))
      expect(judgeEnumeration(enumeration, values, sent).join('\n')).toBe('')
    })
  }

  for (const [name, { ask, why }] of Object.entries(refusals)) {
    test(`${slug}: the gateway sends nothing of ${name}, because ${why}`, async () => {
      expect(await world.askEach(slug, name, [ask])).toEqual([[]])
    })
  }
}
