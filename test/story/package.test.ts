import { expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(import.meta.dir, '../..')
const packed = packedFiles()

/** The files of the installed package, as npm lists them. */
function packedFiles(): string[] {
  const run = Bun.spawnSync(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root })
  const [description]: [{ files: { path: string }[] }] = JSON.parse(run.stdout.toString())
  return description.files.map((file) => file.path)
}

/** The files that a file needs: imported sources, and files named by their address. */
function neighboursOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const found = text.matchAll(/(?:from|import\(|new URL\() ?'(\.{1,2}\/[^'$]+)'/g)
  return [...found].map(([, name = '']) => join(dirname(path), name))
}

test('the package has all that the gateway runs from, and no test and no bench', () => {
  const files = packed
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

/** The providers whose own audio APIs the simulator has, by its page. */
function promisedFakes(): string[] {
  const page = readFileSync(join(root, 'simulator/README.md'), 'utf8')
  const [, section = ''] = page.split('\n## Audio APIs\n')
  const [table = ''] = section.split('\n## ')
  return [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, slug = '']) => slug)
}

/** Starts the simulator of a folder that has only the packed files, as `npm run simulator` does. */
async function startPacked(folder: string) {
  for (const path of packed.filter((one) => /^(?:bin|simulator)\/|^package\.json$/.test(one)))
    cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const command = ['node', 'bin/headrace.js', '--bun', 'simulator/main.ts', '--port', '0']
  const child = Bun.spawn(command, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  for await (const piece of child.stdout) {
    printed += new TextDecoder().decode(piece)
    const url = /Simulated OpenAI at (\S+)\/v1 /.exec(printed)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error(`the simulator did not start: ${printed}`)
}

test('the simulator of the package has every provider that its page promises, and the page names every provider that it has', async () => {
  const promised = promisedFakes()
  const played = readFileSync(join(root, 'simulator/audio/apis.ts'), 'utf8').matchAll(/'\.\/([a-z-]+)\//g)
  expect(promised).toEqual([...played].map(([, slug = '']) => slug))
  expect(promised.length).toBeGreaterThan(20)
  const folder = mkdtempSync(join(tmpdir(), 'headrace-packed-'))
  const { child, url } = await startPacked(folder)
  try {
    // A mount is made by the first request that is for a provider it plays.
    for (const slug of [...promised, 'nobody'])
      await fetch(`${url}/p/of-${slug}/${slug}/nothing`, { method: 'POST', body: '{}' })
    const { mounts } = (await (await fetch(`${url}/admin/health`)).json()) as { mounts: string[] }
    expect(mounts.filter((name) => name.startsWith('of-'))).toEqual(promised.map((slug) => `of-${slug}`))
  } finally {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
