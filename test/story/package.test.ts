import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** The files that somebody who installs the package gets, by what npm says. */
function packedFiles(): string[] {
  const run = Bun.spawnSync(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root })
  const [description]: [{ files: { path: string }[] }] = JSON.parse(run.stdout.toString())
  return description.files.map((file) => file.path)
}

/** What a file takes from beside it: other sources, and files by their address. */
function neighboursOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const found = text.matchAll(/(?:from|import\(|new URL\() ?'(\.{1,2}\/[^'$]+)'/g)
  return [...found].map(([, name = '']) => join(dirname(path), name))
}

test('the package has all that the gateway runs from, and no test and no bench', () => {
  const files = packedFiles()
  const needed = ['bin/bunfig.toml', 'src/main.ts', 'src/storage/migrations/0001_initial.sql']
  expect(files).toEqual(expect.arrayContaining([...needed, 'docs/configuration.md', 'simulator/server.ts']))
  expect(
    files.filter((path) => /^(test|bench|scripts|\.)|\.(test|case)\.ts$|testing\.ts$/.test(path)),
  ).toEqual([])
  const missing = files
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => neighboursOf(path).map((needs) => ({ path, needs })))
    .filter(({ needs }) => !needs.endsWith('/') && existsSync(join(root, needs)) && !files.includes(needs))
  expect(missing).toEqual([])
})
