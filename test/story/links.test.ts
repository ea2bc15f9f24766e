import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '../..')
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'docs/adr'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
]

/** The slug of a provider that does not exist yet, in examples. */
const placeholder = /\bmurmur\b/

/** Links to files of ours, and paths that the prose names in backticks. */
function pathsIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const linked = [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '')
  const named = [
    ...text.matchAll(/`((?:src|test|docs|scripts|simulator|bench|bin)\/[\w./-]+\.(?:ts|js|md|json|sql))`/g),
  ]
  return [
    ...linked
      .filter((path) => !/^[a-z]+:/.test(path))
      .map((path) => relative(root, join(root, dirname(page), path))),
    ...named.map((match) => match[1] ?? ''),
  ]
}

test('every page is checked', () => {
  expect(pages).toContain('README.md')
  expect(pages).toContain('ARCHITECTURE.md')
  expect(pathsIn('ARCHITECTURE.md').length).toBeGreaterThan(30)
})

for (const page of pages) {
  test(`every path that ${page} names exists`, () => {
    const missing = pathsIn(page).filter((path) => !placeholder.test(path) && !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })
}
