import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../prove/command.ts'

/** Packages of one registry at exact versions, which are installed together. */
export interface PackageSet {
  /** Names its folder. */
  name: string
  registry: 'npm' | 'python'
  /** By name. */
  versions: Readonly<Record<string, string>>
}

/** Where a set is installed, or why it is not. */
export type Installed = { folder: string; reason: null } | { folder: null; reason: string }

/** Installs sets into one temporary folder, once each. */
export interface Packages {
  install(set: PackageSet): Promise<Installed>
  /** A folder that is removed with the rest. */
  readonly folder: string
  remove(): void
}

const installMsMax = 400_000

/**
 * Creates the folder. `HEADRACE_PROOF_PACKAGES` names one that is kept, for somebody who runs a proof again and again;
 * otherwise everything is installed anew and removed.
 */
export function createPackages(): Packages {
  const kept = process.env['HEADRACE_PROOF_PACKAGES']
  const folder = mkdtempSync(join(tmpdir(), 'headrace-packages-'))
  return {
    folder,
    install(set) {
      const own = join(kept ?? folder, set.name)
      mkdirSync(own, { recursive: true })
      return installInto(own, set)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function installInto(
  folder: string,
  { name: set, registry, versions }: PackageSet,
): Promise<Installed> {
  const mark = join(folder, 'installed.json')
  const wanted = JSON.stringify(versions)
  if (existsSync(mark) && (await Bun.file(mark).text()) === wanted) return { folder, reason: null }
  const program = registry === 'npm' ? 'npm' : 'python3'
  if (Bun.which(program) === null)
    return { folder: null, reason: `${program}, for ${set}, is not on the path` }
  const commands = registry === 'npm' ? npmCommands(folder, versions) : pythonCommands(folder, versions)
  for (const command of commands) {
    const { code, output } = await runCommand(command, { cwd: folder, msMax: installMsMax })
    if (code !== 0) {
      const reason = output.split('\n').find((line) => /error/i.test(line)) ?? `it ended with ${code}`
      return { folder: null, reason: `${command[0]} could not install ${set}: ${reason.slice(0, 200)}` }
    }
  }
  writeFileSync(mark, wanted)
  return { folder, reason: null }
}

/** No package's own scripts run: what is proven here needs none. */
function npmCommands(folder: string, versions: PackageSet['versions']): string[][] {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const wanted = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  return [
    [
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--save-exact',
      '--fetch-retries=1',
      ...wanted,
    ],
  ]
}

function pythonCommands(folder: string, versions: PackageSet['versions']): string[][] {
  const wanted = Object.entries(versions).map(([name, version]) => `${name}==${version}`)
  return [
    ['python3', '-m', 'venv', folder],
    [join(folder, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--retries', '1', ...wanted],
  ]
}
