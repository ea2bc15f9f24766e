import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { observeBehindProxy, type ProxyName } from '../../support/behind-proxy.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { runTests } from '../command.ts'
import { observation, type Check } from '../observations.ts'

const none = 'there is no such page'

export const proof = observation({
  title: 'the pages an operator needs are there, and what they show works',
  missing: () => {
    const missing = ['nginx', 'caddy', 'openssl'].filter((name) => Bun.which(name) === null)
    return missing.length > 0 ? `not installed: ${missing.join(', ')}` : null
  },
  async observe() {
    return [
      await behind('nginx'),
      await behind('caddy'),
      await tested('the unit, the container file and the database of the page work', 'docs/deployment.md', [
        'story/deployment',
        'story/container',
      ]),
      await tested('the page of operations has every metric and log field', 'docs/operations.md', [
        'story/operations',
      ]),
      ...['docs/design.md', 'docs/style.md'].map((file) => isThere(file)),
      told('README.md', 'the length of keys', /16 to 512/),
      told(
        'docs/configuration.md',
        'that speech is pcm when no format is named',
        /`pcm`[^.]*when a request names no/,
      ),
      told('README.md', 'which models are listed', /output_modalities=all/),
      nothingOutside(),
    ]
  },
})

async function behind(proxy: ProxyName): Promise<Check> {
  const name = `frames, sound and 20 MB pass ${proxy} as the page configures it, prefix kept`
  const file = join(rootFolder, 'docs/deployment.md')
  if (!existsSync(file)) return { name, held: false, seen: none }
  const seen = await observeBehindProxy({ page: readFileSync(file, 'utf8'), proxy, prefix: 'kept' })
  const held = seen.frames === 5 && seen.soundAtOnce && seen.uploadBytes > 20_000_000 && seen.metrics === 404
  return { name, held, seen: JSON.stringify(seen) }
}

async function tested(name: string, file: string, filters: readonly string[]): Promise<Check> {
  if (!existsSync(join(rootFolder, file))) return { name, held: false, seen: none }
  const { status, figures } = await runTests(filters, { msMax: 600_000, env: thoroughEnvironment })
  return { name, held: status === 'PASS', seen: figures.join('; ') }
}

function isThere(file: string): Check {
  const held = existsSync(join(rootFolder, file))
  return { name: `${file} is in the repository`, held, seen: held ? 'there' : none }
}

function told(file: string, what: string, pattern: RegExp): Check {
  const held = pattern.test(readFileSync(join(rootFolder, file), 'utf8'))
  return { name: `${file} tells ${what}`, held, seen: held ? 'told' : 'not told' }
}

function nothingOutside(): Check {
  const words = ['House style', 'of the desi[g]n', 'design']
  const pattern = `${words[0]} §|${words[1]}|${words[2]}\\.md §`
  const found = Bun.spawnSync(
    ['git', 'grep', '-cE', pattern, '--', 'src', 'test', 'bench', 'scripts', 'docs'],
    {
      cwd: rootFolder,
      stdout: 'pipe',
    },
  )
  const files = found.stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  return {
    name: 'no comment points to a document that is not here',
    held: files.length === 0,
    seen: `${files.length} files`,
  }
}
