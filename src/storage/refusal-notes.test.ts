import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listRefusalNotes, RefusalNotes, removeOldRefusalNotes } from './refusal-notes.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-notes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a refused call is noted until it is settled, and its file is there no longer than that', async () => {
  const notes = new RefusalNotes(folder, 'owner_a')
  void notes.add('gen-1')
  void notes.add('gen-2')
  notes.settle('gen-1')
  await notes.flush()
  expect(await listRefusalNotes(folder)).toEqual(['gen-1', 'gen-2'])
  notes.settle('gen-2')
  notes.settle('gen-unknown')
  await notes.flush()
  expect(await listRefusalNotes(folder)).toEqual([])
})

test('what a dead process noted stays for a month', async () => {
  const notes = new RefusalNotes(folder, 'owner_dead')
  await notes.add('gen-3')
  await removeOldRefusalNotes(folder)
  expect(await listRefusalNotes(folder)).toEqual(['gen-3'])
  const path = join(folder, 'refused', 'owner_dead')
  const longAgo = new Date(Date.now() - 31 * 86_400_000)
  utimesSync(path, longAgo, longAgo)
  await removeOldRefusalNotes(folder)
  expect(existsSync(path)).toBe(false)
})

test('notes that cannot be written are no failure', async () => {
  const notes = new RefusalNotes('/dev/null', 'owner_b')
  await notes.add('gen-4')
  expect(await listRefusalNotes('/dev/null')).toEqual([])
})
