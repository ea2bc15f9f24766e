import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomText } from '../../src/core/ids.ts'
import { codeBlocks, observeBehindProxy, type PrefixUse, type ProxyName } from '../support/behind-proxy.ts'
import { sharedPostgresUrl, whyNoPostgres } from '../support/postgres.ts'
import { isThorough } from '../support/thorough.ts'
import { readText, rootFolder } from '../tidy/sources.ts'
import { prepareGateway } from './real-gateway.ts'

const page = readText('docs/deployment.md')

const programsOf: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ['nginx', 'openssl'],
  caddy: ['caddy'],
}

/** Each starts a proxy and a gateway; `npm run prove -- pages` tries every prefix behind both. */
const allPrefixes = ['none', 'kept', 'stripped'] satisfies PrefixUse[]
const prefixesOf: Readonly<Record<ProxyName, readonly PrefixUse[]>> = isThorough
  ? { nginx: allPrefixes, caddy: allPrefixes }
  : { nginx: ['none', 'stripped'], caddy: ['kept'] }

for (const proxy of ['nginx', 'caddy'] as const) {
  const missing = programsOf[proxy].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) console.warn(`skipped: the ${proxy} configuration needs ${missing.join(' and ')}`)
  for (const prefix of prefixesOf[proxy]) {
    test.skipIf(missing.length > 0)(
      `${proxy} as the page configures it passes on frames, sound, WebSockets and uploads; prefix: ${prefix}`,
      async () => {
        const seen = await observeBehindProxy({ page, proxy, prefix })
        expect(seen).toEqual({
          frames: 5,
          soundAtOnce: true,
          socketFrames: 5,
          uploadBytes: expect.any(Number),
          healthz: 200,
          metrics: 404,
        })
        expect(seen.uploadBytes).toBeGreaterThan(20_000_000)
      },
      60_000,
    )
  }
}

const hasAnalyser = Bun.which('systemd-analyze') !== null
if (!hasAnalyser) console.warn('skipped: the unit needs systemd-analyze')

test.skipIf(!hasAnalyser)('systemd-analyze finds no fault in the unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-unit-'))
  const file = join(folder, 'headrace.service')
  const unit = readText('deploy/headrace.service')
  // Only the path of the program is changed to this machine's; all other lines are as shipped.
  const here = unit.replaceAll('/opt/headrace', rootFolder).replace('/usr/bin/node', Bun.which('node') ?? '')
  writeFileSync(file, here)
  const verified = Bun.spawnSync(['systemd-analyze', 'verify', file], { stdout: 'pipe', stderr: 'pipe' })
  rmSync(folder, { recursive: true })
  expect([verified.exitCode, verified.stdout.toString() + verified.stderr.toString()]).toEqual([0, ''])
})

const noPostgres = whyNoPostgres()
if (noPostgres !== null) console.warn(`skipped: the database of the page: ${noPostgres}`)

test.skipIf(noPostgres !== null)(
  'a gateway starts with the role and the database from the commands of the page',
  async () => {
    const server = (await sharedPostgresUrl()) ?? ''
    const name = `headrace_${randomText(8)}`
    const [sql = ''] = codeBlocks(page, 'sql')
    const statements = sql
      .replaceAll('headrace', name)
      .split(';\n')
      .filter((text) => text.trim() !== '')
    expect(statements).toHaveLength(2)
    const admin = new SQL({ url: server, max: 1 })
    const gateway = prepareGateway()
    try {
      for (const statement of statements) await admin.unsafe(statement)
      const url = new URL(server)
      url.username = name
      url.password = 'a long random text'
      url.pathname = `/${name}`
      await gateway.start({ DATABASE_URL: url.href })
      expect((await fetch(gateway.baseUrl.replace(/v1$/, 'readyz'))).status).toBe(200)
    } finally {
      await gateway.remove()
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.unsafe(`drop role if exists ${name}`)
      await admin.close()
    }
  },
  60_000,
)
