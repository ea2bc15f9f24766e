import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator, type Simulator } from '../../simulator/server.ts'
import { runCommand } from '../../src/cli/run.ts'
import { readConfig } from '../../src/config.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { presets } from '../../src/providers/registry.ts'
import { openForCommands } from '../../src/stores.ts'
import { recordingContext } from '../story/command-context.ts'
import { eachDatabase } from '../support/databases.ts'
import { at, readAnswer, toneWav, type Answer } from '../support/gateway.ts'
import { sharedPostgresUrl, whyNoPostgres } from '../support/postgres.ts'
import { isThorough } from '../support/thorough.ts'
import { notCarried } from './expected.ts'
import {
  createLitellmDatabase,
  freshPostgres,
  keyCount,
  particular,
  plainAliases,
  secretOf,
} from './litellm-tables.ts'

const masterKey = 'sk-master-key-of-a-proxy'
/** `npm run prove -- litellm-move` asks with every key. */
const plainAliasStep = 20
const reason = process.env['HEADRACE_TEST_POSTGRES'] ? null : whyNoPostgres()
if (reason !== null)
  console.warn(`moving from LiteLLM is not tried, because its database is PostgreSQL: ${reason}`)

if (reason === null)
  eachDatabase((name, _, { createEmpty }) => {
    let folder: string
    let simulator: Simulator
    let litellmUrl: string
    let env: Record<string, string>
    let gateway: Gateway

    const config = () => readConfig({ env, cwd: folder, presets })
    const headrace = async (...args: string[]) => {
      const context = recordingContext({
        env,
        cwd: folder,
        readConfig: config,
        openStorage: () => openForCommands(config()),
      })
      const code = await runCommand(args, context)
      return { code, output: context.output(), errors: context.errors() }
    }
    const importing = (...more: string[]) =>
      headrace('import', 'litellm', 'config.yaml', '--database', litellmUrl, ...more)
    const files = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => !file.startsWith('data'))
    const ask = async (path: string, secret: string, body: unknown): Promise<Answer> => {
      const isForm = body instanceof FormData
      const request = new Request(`http://gateway.test/v1${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          ...(isForm ? {} : { 'content-type': 'application/json' }),
        },
        body: isForm ? body : JSON.stringify(body),
      })
      return readAnswer(await gateway.fetch(request))
    }
    const chat = (alias: string, model: string) =>
      ask('/chat/completions', secretOf(alias), {
        model,
        max_completion_tokens: 20,
        messages: [{ role: 'user', content: 'Say hello' }],
      })
    const admin = (path: string, body: unknown) =>
      fetch(`${simulator.url}/admin/${path}`, { method: 'POST', body: JSON.stringify(body) })
    const answeredBy = ({ status, json, text }: Answer) => [status, json['model'] ?? text]
    const idOf = (mount: string) => `${new URL(simulator.url).host.replaceAll(/[.:]/g, '-')}-p-${mount}`

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'headrace-moving-'))
      simulator = await startSimulator({ port: 0, quiet: true, seed: 5 })
      env = {
        HEADRACE_DATA: join(folder, 'data'),
        HEADRACE_LOG_LEVEL: 'error',
        HEADRACE_PORT: '0',
        DATABASE_URL: await createEmpty(),
        LITELLM_MASTER_KEY: masterKey,
        ...Object.fromEntries(['ONE', 'TWO', 'THREE', 'SEVEN'].map((word) => [`${word}_KEY`, `key-${word}`])),
      }
      litellmUrl = await freshPostgres(await sharedPostgresUrl())
      await createLitellmDatabase(litellmUrl)
      const yaml = readFileSync(join(import.meta.dir, 'config.yaml'), 'utf8')
      writeFileSync(join(folder, 'config.yaml'), yaml.replaceAll('SIMULATOR', simulator.url))
      // The first start makes the organization that the keys are to belong to.
      gateway = await createGateway(config(), { writeLog: () => undefined })
      await gateway.stop()
    }, 60_000)

    afterAll(async () => {
      await gateway.stop()
      await simulator.stop()
      rmSync(folder, { recursive: true, force: true })
    }, 60_000)

    test(`on ${name}, a dry run says what would be done and changes nothing`, async () => {
      const { code, output } = await importing('--dry-run')
      expect(code).toBe(0)
      expect(output).toContain(
        `Would write ${join(folder, 'headrace.config.json')}: 7 providers, 9 names, 3 aliases`,
      )
      expect(output).toContain(
        `Would add ${keyCount + 1} keys, 3 of them disabled, 1 of them expired, 2 left out`,
      )
      expect(output).toContain('Teams: a key of a team has its name before its own (team/key, 3), by which')
      expect(files()).toEqual(['config.yaml'])
      expect((await headrace('keys')).output.match(/^key_/gm)).toHaveLength(2)
    })

    test(`on ${name}, what is imported is listed, and what is not by its line`, async () => {
      const { code, output, errors } = await importing()
      expect([code, errors]).toEqual([0, ''])
      expect(output).toContain(
        `Added ${keyCount + 1} keys, 3 of them disabled, 1 of them expired, 2 left out`,
      )
      const [, listed = ''] = output.split(/^Not carried.*$/m)
      expect(
        listed
          .trim()
          .split('\n')
          .map((line) => line.trim()),
      ).toEqual([...notCarried])
      for (const secret of ['sk-literal-five-secret', 'four-from-the-file', masterKey])
        expect(output).not.toContain(secret)
      const written = readFileSync(join(folder, 'headrace.config.json'), 'utf8')
      for (const secret of ['sk-literal-five-secret', 'four-from-the-file', masterKey])
        expect(written).not.toContain(secret)
      expect(statSync(join(folder, 'secrets', 'FOUR_KEY')).mode & 0o777).toBe(0o600)
    })

    test(`on ${name}, importing twice changes nothing`, async () => {
      const before = files().map((file) => `${file} ${statSync(join(folder, file)).mtimeMs}`)
      const keys = (await headrace('keys')).output
      const { code, output } = await importing()
      expect(code).toBe(0)
      expect(output).toContain('Nothing to change in ')
      expect(output).toContain(`Added 0 keys, ${keyCount + 1} here already and left as they are, 2 left out`)
      expect(files().map((file) => `${file} ${statSync(join(folder, file)).mtimeMs}`)).toEqual(before)
      expect((await headrace('keys')).output).toBe(keys)
    })

    test(`on ${name}, clients are served with the keys they have, in every operation`, async () => {
      gateway = await createGateway(config(), { writeLog: () => undefined })
      const asking = plainAliases.filter((_alias, index) => isThorough || index % plainAliasStep === 0)
      for (const alias of asking) expect((await chat(alias, 'small')).status).toBe(200)
      const [alias = ''] = plainAliases
      const secret = secretOf(alias)
      expect(answeredBy(await chat(alias, 'claude'))).toEqual([200, 'anthropic/claude-sonnet-4-5'])
      expect(answeredBy(await chat(alias, 'reasoner'))).toEqual([200, `${idOf('five')}/o4-mini`])
      expect(answeredBy(await chat(alias, 'local'))).toEqual([200, 'vllm/gpt-4o-mini'])
      const vectors = await ask('/embeddings', secret, { model: 'embed', input: 'water' })
      expect(answeredBy(vectors)).toEqual([200, `${idOf('one')}/text-embedding-3-small`])
      const form = new FormData()
      form.set('model', 'listen')
      form.set('file', new Blob([toneWav(1)]), 'tone.wav')
      expect((await ask('/audio/transcriptions', secret, form)).status).toBe(200)
      const spoken = await ask('/audio/speech', secret, { model: 'speak', input: 'Hello', voice: 'alloy' })
      expect(spoken.status).toBe(200)
      const message = await ask('/messages', secret, {
        model: 'claude',
        max_tokens: 20,
        messages: [{ role: 'user', content: 'Hi' }],
      })
      expect(message.status).toBe(200)
      expect((await chat(alias, 'cloudy')).status).toBe(400)
      expect(
        (
          await ask('/chat/completions', masterKey, {
            model: 'small',
            messages: [{ role: 'user', content: 'Hi' }],
          })
        ).status,
      ).toBe(200)
      const unknown = await ask('/chat/completions', secretOf('nobody'), { model: 'small', messages: [] })
      expect(unknown.status).toBe(401)
    }, 60_000)

    test(`on ${name}, weights decide within a group, and aliases lead to it`, async () => {
      const [alias = ''] = plainAliases
      let ofOne = 0
      for (let count = 0; count < 60; count++) {
        const [status, model] = answeredBy(await chat(alias, 'gpt-4'))
        expect(status).toBe(200)
        if (model === `${idOf('one')}/gpt-4o`) ofOne += 1
        else expect(model).toBe(`${idOf('two')}/gpt-4o`)
      }
      // 45 are likely of 60 at weights of 3 to 1 (all 60 are in the burst of the quota); less than 30 or all would be one chance
      // in a million.
      expect(ofOne).toBeGreaterThan(30)
      expect(ofOne).toBeLessThan(60)
      expect((await chat(alias, 'gpt-3.5-turbo')).status).toBe(200)
      expect((await chat(alias, 'house')).status).toBe(200)
    }, 60_000)

    test(`on ${name}, fallbacks happen in their order`, async () => {
      const [alias = ''] = plainAliases
      const order = [
        [['one', 'two'], 'gpt-4o', `${idOf('three')}/gpt-4.1-mini`],
        [['three'], 'gpt-4o', 'anthropic/claude-sonnet-4-5'],
        [['four'], 'gpt-4o', `${idOf('seven')}/gpt-4o-mini`],
        [[], 'small', 'vllm/gpt-4o-mini'],
      ] as const
      for (const [broken, asked, answer] of order) {
        for (const mount of broken) await admin(`faults?mount=${mount}`, [{ fault: 'status=500' }])
        expect(answeredBy(await chat(alias, asked))).toEqual([200, answer])
      }
      await admin('faults?mount=four', [{ match: { model: 'claude-sonnet-4-5' }, fault: 'status=500' }])
      await admin('faults?mount=five', [{ fault: 'status=500' }])
      expect(answeredBy(await chat(alias, 'reasoner'))).toEqual([200, 'anthropic/claude-haiku-4-5'])
      for (const mount of ['one', 'two', 'three', 'four', 'five']) await admin(`faults?mount=${mount}`, [])
    }, 60_000)

    test(`on ${name}, blocked and expired keys stay so, and budgets, rates and models hold`, async () => {
      const statusOf = async (alias: string, model: string) => (await chat(alias, model)).status
      for (const alias of ['a-blocked', 'b-expired', 'k-nothing', 'o-team-blocked'])
        expect(await statusOf(alias, 'small')).toBe(401)
      expect(await statusOf('c-until-later', 'small')).toBe(200)
      for (const alias of ['d-spent', 'e-nearly-spent']) expect(await statusOf(alias, 'backup')).toBe(402)
      // A fallback is for failures and not for a spent budget; what costs nothing is within every budget.
      expect(await statusOf('d-spent', 'small')).toBe(402)
      expect(answeredBy(await chat('d-spent', 'local'))).toEqual([200, 'vllm/gpt-4o-mini'])
      for (const alias of ['f-daily', 'g-monthly', 'h-every-ten-days'])
        expect(await statusOf(alias, 'small')).toBe(200)
      expect([await statusOf('i-small-only', 'small'), await statusOf('i-small-only', 'gpt-4o')]).toEqual([
        200, 403,
      ])
      expect([await statusOf('j-beta', 'backup'), await statusOf('j-beta', 'small')]).toEqual([200, 403])
      expect([await statusOf('n-team', 'claude'), await statusOf('n-team', 'small')]).toEqual([200, 403])
      expect([await statusOf('p-team-both', 'claude'), await statusOf('p-team-both', 'small')]).toEqual([
        200, 403,
      ])
      const slow = [
        await statusOf('l-slow', 'small'),
        await statusOf('l-slow', 'small'),
        await statusOf('l-slow', 'small'),
      ]
      expect(slow.at(-1)).toBe(429)
      const { output } = await headrace('keys')
      const lineOf = (alias: string) => {
        const team =
          { 'team-1': 'research/', 'team-2': 'closed/' }[String(particular[alias]?.['team_id'])] ?? ''
        return output.split('\n').find((line) => line.endsWith(` ${team}${alias}`)) ?? ''
      }
      expect(lineOf('f-daily')).toContain('$10 daily')
      expect(lineOf('g-monthly')).toContain('$25 monthly')
      expect(lineOf('g-monthly')).toContain('requests-per-minute=120')
      expect(lineOf('h-every-ten-days')).toContain('$3 ')
      expect(lineOf('p-team-both')).toContain('requests-per-minute=50')
      expect(Object.keys(particular).every((alias) => lineOf(alias) !== '')).toBe(true)
    }, 60_000)

    test(`on ${name}, what was edited in the file is kept, and replaced only when that is asked for`, async () => {
      const path = join(folder, 'headrace.config.json')
      const before = readFileSync(path, 'utf8')
      const changed = JSON.parse(before) as { aliases: Record<string, string> }
      changed.aliases['gpt-4'] = 'small'
      writeFileSync(path, JSON.stringify(changed))
      const kept = await importing('--yes')
      expect([kept.code, kept.errors]).toEqual([0, ''])
      expect(kept.output).toContain('  kept as it is in the file, not as imported: aliases: "gpt-4" (')
      expect(at(JSON.parse(readFileSync(path, 'utf8')), 'aliases.gpt-4')).toBe('small')
      expect((await importing('--replace')).code).toBe(0)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(before))
      expect(at(JSON.parse(readFileSync(`${path}.before-import`, 'utf8')), 'aliases.gpt-4')).toBe('small')
    })

    test(`on ${name}, a key that got another secret, or was deleted, is not added again`, async () => {
      const keys = async () => (await headrace('keys')).output.split('\n')
      const keyOf = (lines: string[], alias: string) =>
        lines.find((line) => line.endsWith(` ${alias}`))?.split(' ')[0] ?? ''
      const before = await keys()
      // No call was made with these, so the gateway remembers neither.
      const [, rotated = '', deleted = ''] = plainAliases
      expect((await headrace('keys', 'rotate', keyOf(before, rotated), '--overlap', '0')).code).toBe(0)
      expect((await headrace('keys', 'delete', keyOf(before, deleted))).code).toBe(0)
      const after = await keys()
      const { code, output } = await importing()
      expect(code).toBe(0)
      expect(output).toContain(
        `Added 0 keys, ${keyCount - 1} here already and left as they are, 2 imported before, which have another secret now or were deleted, and are not added again, 2 left out`,
      )
      expect(await keys()).toEqual(after)
      expect([(await chat(rotated, 'small')).status, (await chat(deleted, 'small')).status]).toEqual([
        401, 401,
      ])
      // Before its database is taken away.
      await gateway.stop()
    }, 60_000)
  })
