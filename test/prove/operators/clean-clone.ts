import { mkdtempSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootFolder } from '../../tidy/sources.ts'
import { runCommand, runTests } from '../command.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

const installMsMax = 600_000
const testMsMax = 1_200_000
const startMsMax = 30_000
const basicTools = [
  'sh',
  'bash',
  'env',
  'git',
  'ls',
  'uname',
  'setpriv',
  'id',
  'rm',
  'getconf',
  'ldd',
  'cat',
  'dirname',
  // For the tests that pack an archive.
  'tar',
  'gzip',
]

export const proof: Proof = {
  title: 'from clean clones, also with blocked install scripts: install, start, try, test',
  async run() {
    const node = Bun.which('node')
    const npm = Bun.which('npm')
    const npx = Bun.which('npx')
    if (node === null || npm === null || npx === null)
      return notRun('node, npm and npx are not all on the PATH')
    const folder = mkdtempSync(join(tmpdir(), 'headrace-clone-'))
    try {
      const path = onlyThese({ folder, tools: { node, npm, npx } })
      const version = Bun.spawnSync([node, '--version']).stdout.toString().trim()
      const story = await runTests(['test/story/first-five-minutes'], { msMax: installMsMax })
      const plain = await tryClone({ folder, path, name: 'plain', install: ['ci'] })
      const blocked = await tryClone({ folder, path, name: 'blocked', install: ['ci', '--ignore-scripts'] })
      const { status, figures } = combine([story, plain, blocked])
      return {
        status,
        figures: [`Node ${version}, a PATH with node, npm and the system's basic tools only`, ...figures],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** A folder with only these programs and what npm itself starts; no Bun, no compiler. */
function onlyThese({ folder, tools }: { folder: string; tools: Record<string, string> }): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const [name, target] of Object.entries(tools)) symlinkSync(target, join(bin, name))
  for (const name of basicTools) {
    const target = Bun.which(name)
    if (target !== null) symlinkSync(target, join(bin, name))
  }
  return bin
}

interface Clone {
  folder: string
  path: string
  name: string
  install: string[]
}

async function tryClone({ folder, path, name, install }: Clone): Promise<ProofResult> {
  const clone = join(folder, name)
  const env = { PATH: path, HEADRACE_PORT: String(freePort()), HEADRACE_DATA: join(folder, `${name}-data`) }
  const figures: string[] = []
  const step = async (label: string, command: string[], msMax: number): Promise<boolean> => {
    const startMs = performance.now()
    // A newcomer has no recordings, and the gateway refuses variables that it does not know.
    const { code, output } = await runCommand(['env', '-u', 'HEADRACE_RECORDINGS', ...command], {
      cwd: label === 'clone' ? folder : clone,
      env,
      msMax,
    })
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
    const count = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(output)?.[0]
    figures.push(
      `${name}: ${label}: ${code === 0 ? 'done' : `exit code ${code}`} in ${seconds} s${count ? `, ${count}` : ''}`,
      ...(output.match(/^\(fail\) .*$/gm) ?? []).map((failed) => `${name}: ${failed}`),
    )
    return code === 0
  }
  const isGood =
    (await step('clone', ['git', 'clone', '-q', rootFolder, clone], installMsMax)) &&
    (await step(`npm ${install.join(' ')}`, ['npm', ...install, '--no-audit', '--no-fund'], installMsMax)) &&
    (await startAndTry({ clone, env, step })) &&
    (await step('npm test', ['npm', 'test'], testMsMax))
  return { status: isGood ? 'PASS' : 'FAIL', figures }
}

async function startAndTry(parts: {
  clone: string
  env: Record<string, string>
  step: (label: string, command: string[], msMax: number) => Promise<boolean>
}): Promise<boolean> {
  const { clone, env, step } = parts
  const server = Bun.spawn(['npm', 'start'], {
    cwd: clone,
    env: { HOME: process.env['HOME'] ?? '/', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    if (!(await isReady(`http://127.0.0.1:${env['HEADRACE_PORT']}/readyz`))) return false
    return await step('npx headrace try', ['npx', 'headrace', 'try'], installMsMax)
  } finally {
    server.kill('SIGTERM')
    await server.exited
  }
}

async function isReady(url: string): Promise<boolean> {
  const endMs = performance.now() + startMsMax
  while (performance.now() < endMs) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return true
    await Bun.sleep(50)
  }
  return false
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  return port ?? 0
}
