import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildConsole } from '../../src/http/console/build-console.ts'
import { rootFolder } from '../tidy/sources.ts'

// What browsers load of the real console before they show something, as a checkout builds it.

/** All that the first view loads, its font and its drawing included. */
const firstViewBytesMax = 180_000
/** A request costs its headers and a place in the browser's queue. */
const firstFilesMax = 6
/** About what an answer's headers are. */
const headersBytes = 600
/** Texts that stand in one file of the source each. */
const firstView = 'Latency, p50 and p95'
const drawing = 'u-over'
const pickers = 'No model has that in its name.'

const out = mkdtempSync(join(tmpdir(), 'headrace-console-weight-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))
await buildConsole({ source: join(rootFolder, 'dashboard'), out, brotliQuality: 9 })
const page = readFileSync(join(out, 'index.html'), 'utf8')
const scripts = new Map(
  readdirSync(join(out, 'assets'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(out, 'assets', name), 'utf8')]),
)

function scriptWith(text: string): string {
  const found = [...scripts].filter(([, code]) => code.includes(text)).map(([name]) => name)
  expect([text, found]).toEqual([text, [expect.any(String)]])
  return found[0] ?? ''
}

/** Files, and those that they import at once. */
function withImports(names: Iterable<string>): Set<string> {
  const all = new Set<string>()
  const open = [...names]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (all.has(name)) continue
    all.add(name)
    const code = scripts.get(name) ?? ''
    for (const [, imported = ''] of code.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
      open.push(imported)
  }
  return all
}

const ofPage = [...page.matchAll(/(?:src|href)="\.\/assets\/([\w.-]+)"/g)].map(([, name = '']) => name)

function bytesOf(name: string): number {
  const path = join(out, 'assets', name)
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size
}

test('the first view is at most 180 kB compressed, in few files', () => {
  const files = withImports([...ofPage, scriptWith(firstView), scriptWith(drawing)])
  const shell = statSync(join(out, 'index.html')).size + headersBytes
  const bytes = [...files].reduce((sum, name) => sum + bytesOf(name) + headersBytes, shell)
  expect(bytes).toBeLessThan(firstViewBytesMax)
  expect(files.size).toBeLessThanOrEqual(firstFilesMax)
})

test('the figures of the first view come without the drawing, and without what playgrounds need', () => {
  const files = withImports([...ofPage, scriptWith(firstView)])
  expect(files.has(scriptWith(drawing))).toBe(false)
  expect(files.has(scriptWith(pickers))).toBe(false)
})
