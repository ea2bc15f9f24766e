import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
import { at, readAnswer } from '../support/gateway.ts'
import { sharedPostgresUrl, whyNoPostgres } from '../support/postgres.ts'
import { createKeyRows, freshPostgres, secretOf, type TokenRow } from './litellm-tables.ts'

// Rows as somebody who may write into LiteLLM's database would make them, or an accident: PostgreSQL has moments and numbers
// that nothing here has. What is written has to be read again, by the gateway and by every command.

const rows: Readonly<Record<string, TokenRow>> = {
  'far-future': { expires: '294276-12-31 23:59:59' },
  endless: { expires: 'infinity' },
  'before-time': { expires: '-infinity' },
  'endless-spend': { max_budget: 5, spend: 'Infinity' },
  'no-number': { max_budget: 5, spend: 'NaN' },
  'no-number-monthly': { max_budget: 5, spend: 'NaN', budget_duration: '30d' },
  'no-number-team': { max_budget: 5, budget_duration: '30d', team_id: 'team-1' },
  'budget-negative': { max_budget: -3 },
  'budget-no-number': { max_budget: 'NaN' },
  'budget-huge': { max_budget: '1e300' },
  'budget-tiny': { max_budget: '1e-10' },
  'many-tokens': { tpm_limit: '9007199254740993' },
  'other-way\u202e\u2066\u200b': {},
  'endless-budget': { max_budget: 'Infinity', spend: 3 },
  'many-names': { models: Array.from({ length: 20_024 }, (_, index) => `gone-${index}`) },
  'tiny-rate': { rpm_limit: 0 },
  'with-budget': { max_budget: 5, spend: 1 },
}
const teamStatement = `insert into "LiteLLM_TeamTable" (team_id, team_alias, models, max_budget, spend, tpm_limit)
  values ('team-1', 'spent', '{}', 100, 'NaN', 9007199254740995)`
/** `chr(7)` rings a bell where a terminal shows it. */
const aliasStatements = [
  `insert into "LiteLLM_ModelTable" (aliases, created_by) values ('{"bell\\u0007": "small", "fine": "small"}', 'admin')`,
  `insert into "LiteLLM_TeamTable" (team_id, team_alias, models, model_id) values ('team-1', 'loud', '{}', 1)`,
]
const reason = process.env['HEADRACE_TEST_POSTGRES'] ? null : whyNoPostgres()
if (reason !== null)
  console.warn(`hostile rows of LiteLLM are not tried, because its database is PostgreSQL: ${reason}`)

if (reason === null)
  eachDatabase((name, _, { createEmpty }) => {
    let folder: string
    let simulator: Simulator
    let gateway: Gateway
    let env: Record<string, string>
    let output: string
    let early: { code: number; output: string }

    const config = (options: object = {}) => readConfig({ env, cwd: folder, presets, ...options })
    const headrace = async (...args: string[]) => {
      const openStorage = () => openForCommands(config())
      const context = recordingContext({ env, cwd: folder, readConfig: config, openStorage })
      const code = await runCommand(args, context)
      return { code, output: context.output(), errors: context.errors() }
    }
    const ask = async (alias: string, model = 'priced') => {
      const request = new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${secretOf(alias)}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          max_tokens: 20,
          messages: [{ role: 'user', content: 'Say hello' }],
        }),
      })
      return readAnswer(await gateway.fetch(request))
    }
    const linesOf = (subject: string) => output.split('\n').filter((line) => line.includes(`"${subject}`))

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'headrace-hostile-rows-'))
      simulator = await startSimulator({ port: 0, quiet: true, seed: 5 })
      env = {
        HEADRACE_DATA: join(folder, 'data'),
        HEADRACE_LOG_LEVEL: 'error',
        DATABASE_URL: await createEmpty(),
        INTERNAL_KEY: 'sk-internal',
      }
      const litellmUrl = await freshPostgres(await sharedPostgresUrl())
      await createKeyRows(litellmUrl, rows, [teamStatement])
      writeFileSync(
        join(folder, 'config.yaml'),
        `model_list:
  - model_name: small
    litellm_params: { model: openai/gpt-4o-mini, api_base: "${simulator.url}/p/one/v1", api_key: os.environ/INTERNAL_KEY }
  - model_name: priced
    litellm_params: { model: openai/gpt-4o, api_base: "${simulator.url}/p/one/v1", api_key: os.environ/INTERNAL_KEY }
    model_info: { input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001 }
`,
      )
      early = await headrace('import', 'litellm', 'config.yaml', '--database', litellmUrl, '--dry-run')
      gateway = await createGateway(config(), { writeLog: () => undefined })
      await gateway.stop()
      const imported = await headrace('import', 'litellm', 'config.yaml', '--database', litellmUrl)
      output = `${imported.output}${imported.errors}`
      gateway = await createGateway(config(), { writeLog: () => undefined })
    }, 60_000)

    afterAll(async () => {
      await gateway.stop()
      await simulator.stop()
      rmSync(folder, { recursive: true, force: true })
    }, 60_000)

    test(`on ${name}, a dry run before the first start of the gateway reports the keys`, () => {
      expect([early.code, early.output]).toEqual([
        0,
        expect.stringContaining(`Would add ${Object.keys(rows).length} keys`),
      ])
      expect(early.output).toMatch(
        /^ {2}database {2}keys: cannot be added yet: There is no .*npx headrace serve/m,
      )
    })

    test(`on ${name}, a key that expires after all dates there are is clamped, and the list of keys is shown`, async () => {
      const { code, output: listed } = await headrace('keys')
      expect(code).toBe(0)
      expect(listed).toContain('9999-12-31')
      expect(linesOf('far-future').join()).toContain('expires: is no date that there is here')
      expect([(await ask('far-future')).status, (await ask('endless')).status]).toEqual([200, 200])
    })

    test(`on ${name}, a key that ended before all time has expired`, async () => {
      expect((await ask('before-time')).status).toBe(401)
      expect(linesOf('before-time')).toHaveLength(1)
    })

    test(`on ${name}, what was spent without being a number is all of a budget`, async () => {
      expect([(await ask('endless-spend')).status, (await ask('no-number')).status]).toEqual([402, 402])
      expect((await ask('endless-budget')).status).toBe(200)
    })

    test(`on ${name}, a budget that counts as spent is not renewed, by its own duration or its team`, async () => {
      for (const alias of ['no-number-monthly', 'no-number-team'])
        expect([alias, (await ask(alias)).status]).toEqual([alias, 402])
      const isSpent = 'spend: is no amount, so all of its budget counts as spent, and is never renewed'
      expect(linesOf('no-number-monthly')).toEqual([`  database  key "no-number-monthly": ${isSpent}`])
      expect(output).toContain(`database  team "spent": ${isSpent}\n`)
    })

    test(`on ${name}, a budget that cannot be kept is listed with what it is here`, async () => {
      const changed = (alias: string) => linesOf(alias).map((line) => line.replace(/.*": max_budget: /, ''))
      expect(changed('budget-negative')).toEqual(['is 0 here, and -3 in LiteLLM'])
      expect(changed('budget-no-number')).toEqual(['is 0 here, and "NaN" in LiteLLM'])
      expect(changed('budget-huge')).toEqual(['is 9000000000 here, and 1e+300 in LiteLLM'])
      expect(changed('budget-tiny')).toEqual(['is 0 here, and 1e-10 in LiteLLM'])
      expect((await ask('budget-tiny')).status).toBe(402)
      expect((await ask('budget-huge')).status).toBe(200)
    })

    test(`on ${name}, a number beyond 2^53 is told with all its digits`, () => {
      expect(linesOf('many-tokens').join()).toContain(', and 9007199254740993 in LiteLLM')
      expect(linesOf('spent').join()).toContain('here each has 9007199254740995 tokens a minute')
    })

    test(`on ${name}, characters that are not shown leave the name of a key, which is listed`, async () => {
      expect(linesOf('other-way')).toEqual([
        '  database  key "other-way": its name is written otherwise in LiteLLM, with characters that are not shown',
      ])
      expect((await headrace('keys')).output).toMatch(/ other-way$/m)
    })

    test(`on ${name}, an alias that nobody can write is told, and the gateway reads its configuration`, async () => {
      const url = await freshPostgres(await sharedPostgresUrl())
      await createKeyRows(url, {}, aliasStatements)
      const path = join(folder, 'aliases.json')
      const own = { ...env, HEADRACE_CONFIG: path }
      const reading = (options: object = {}) => readConfig({ env: own, cwd: folder, presets, ...options })
      const context = recordingContext({
        env: own,
        cwd: folder,
        readConfig: reading,
        openStorage: () => openForCommands(config()),
      })
      expect(await runCommand(['import', 'litellm', 'config.yaml', '--database', url], context)).toBe(0)
      const { aliases } = JSON.parse(readFileSync(path, 'utf8')) as {
        aliases: unknown
      }
      expect(aliases).toEqual({ fine: 'small' })
      expect(() => reading()).not.toThrow()
      expect(context.output()).toContain('is none that callers can write here')
    })

    test(`on ${name}, thousands of like names of one row are one line`, () => {
      expect(linesOf('many-names').filter((line) => line.includes('models:'))).toEqual([
        '  database  key "many-names": models: "gone-0", "gone-1", "gone-2" and 20021 more are no model_name that is carried',
      ])
      expect(linesOf('tiny-rate').join()).toContain('rpm_limit: is 1 here, and 0 in LiteLLM')
    })

    test(`on ${name}, a key with a budget goes on at a custom server whose price LiteLLM has in its map`, async () => {
      const { status, json } = await ask('with-budget', 'small')
      expect([status, at(json, 'model')]).toEqual([200, expect.stringContaining('gpt-4o-mini')])
      expect(at(json, 'usage.cost')).toBeGreaterThan(0)
    })
  })
