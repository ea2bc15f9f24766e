import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeal, masterKeyFile } from './master-key.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-master-'))
  folders.push(folder)
  return folder
}

test('a sealed secret opens with the same key and for the same purpose alone', async () => {
  const seal = createSeal({ given: 'a master key of the operator', dataFolder: null })
  const sealed = await seal.seal('whsec_secret', 'org_a')
  expect(sealed).not.toContain('whsec')
  expect(await seal.open(sealed, 'org_a')).toBe('whsec_secret')
  expect(await seal.seal('whsec_secret', 'org_a')).not.toBe(sealed)
  const refusal = /sealed with another HEADRACE_MASTER_KEY/
  await expect(seal.open(sealed, 'org_b')).rejects.toThrow(refusal)
  await expect(seal.open('v1.short', 'org_a')).rejects.toThrow(refusal)
  const other = createSeal({ given: 'another key of the operator', dataFolder: null })
  await expect(other.open(sealed, 'org_a')).rejects.toThrow(refusal)
})

test('without a key a file is made at the first use, once for all processes, for its owner alone', async () => {
  const dataFolder = newFolder()
  const seals = Array.from({ length: 4 }, () => createSeal({ given: null, dataFolder }))
  expect(existsSync(join(dataFolder, masterKeyFile))).toBe(false)
  const sealed = await Promise.all(seals.map((seal) => seal.seal('secret', 'org_a')))
  for (const text of sealed) for (const seal of seals) expect(await seal.open(text, 'org_a')).toBe('secret')
  expect(readdirSync(dataFolder)).toEqual([masterKeyFile])
  expect(statSync(join(dataFolder, masterKeyFile)).mode & 0o777).toBe(0o600)
})

test('with a database elsewhere no file is made, and what needs the key is refused by name', async () => {
  const seal = createSeal({ given: null, dataFolder: null })
  expect(seal.refusal()?.message).toContain('HEADRACE_MASTER_KEY is not set')
  await expect(seal.seal('secret', 'org_a')).rejects.toThrow('HEADRACE_MASTER_KEY')
  expect(createSeal({ given: 'a master key of the operator', dataFolder: null }).refusal()).toBeNull()
})
