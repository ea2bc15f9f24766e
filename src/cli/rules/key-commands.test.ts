import { createSeal } from '../../delivery/master-key.ts'
import { createSigningSecretRepository } from '../../delivery/signing-secret-repository.ts'
import { createSigningSecrets } from '../../delivery/signing-secrets.ts'
import { expect, test } from 'bun:test'
import { recordingContext } from '../../../test/story/command-context.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { bootstrap } from '../../access/bootstrap.ts'
import { createMemberRepository } from '../../access/people/member-repository.ts'
import { createMembers } from '../../access/people/members.ts'
import { createKeyRepository } from '../../access/key-repository.ts'
import { createKeys } from '../../access/keys.ts'
import { createPriceListsRepository } from '../../catalog/price-lists/price-lists-repository.ts'
import { createOrganizationRepository } from '../../access/organization-repository.ts'
import { createAccountsRepository } from '../../billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../billing/ledger/accounts.ts'
import { createInvariantsRepository } from '../../billing/ledger/invariants-repository.ts'
import { createBroadcastRepository } from '../../delivery/broadcasts/broadcast-repository.ts'
import { checkInvariants } from '../../billing/ledger/invariants.ts'
import { createLedger } from '../../billing/ledger/ledger-repository.ts'
import { systemClock } from '../../core/clock.ts'
import { cliKeysMax } from '../../core/limits/cli.ts'
import { StorageFailure, storageUnavailable } from '../../storage/database.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { runCommand } from '../run.ts'
import { warnOfUnknownWords } from './rules.ts'

eachDatabase((name, _, { openFresh }) => {
  /** Runs commands on one database, as a person would type them one after the other. */
  async function firstStart(credits: bigint | null) {
    const { database } = await openFresh()
    const clock = systemClock
    const organizations = createOrganizationRepository(database)
    const keys = createKeyRepository(database)
    const made = await bootstrap(
      { creditsNanocredits: credits, key: null, managementKey: null },
      { organizations, keys, clock },
    )
    const accounts = createAccounts(createLedger(database), createAccountsRepository(database))
    const keysOfAll = createKeys({ repository: keys, clock, onChange: () => undefined })
    const storage: CliStorage = {
      database,
      organizations,
      accounts,
      priceLists: createPriceListsRepository(database),
      broadcasts: createBroadcastRepository(database),
      signingSecrets: createSigningSecrets(
        createSigningSecretRepository(database),
        createSeal({ given: 'the master key of the operator', dataFolder: null }),
      ),
      keys: keysOfAll,
      members: createMembers({
        repository: createMemberRepository(database),
        keyRepository: keys,
        keys: keysOfAll,
        clock,
      }),
      checkInvariants: () => checkInvariants(createInvariantsRepository(database)),
      close: () => Promise.resolve(),
    }
    const run = async (args: readonly string[], given: Partial<CommandContext> = {}) => {
      const context = recordingContext({ openStorage: () => Promise.resolve(storage), ...given })
      const code = await runCommand(args, context)
      return { code, output: context.output(), errors: context.errors() }
    }
    return { run, storage, organizationId: made.organizationId }
  }

  test(`on ${name}, a signing secret is made and shown once, alone on stdout`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    const { code, output, errors } = await run(['org', 'signing-secret'])
    expect([code, output]).toEqual([0, expect.stringMatching(/^whsec_[0-9a-z]{48}\n$/)])
    expect(errors).toContain('It is shown once')
    const rows = await storage.database.query<{ sealed: string }>('select sealed from signing_secrets')
    expect(rows).toHaveLength(1)
    expect(rows[0]?.sealed).not.toContain(output.trim())
    expect((await run(['org', 'signing-secret', '--org', organizationId])).output).not.toBe(output)
  })

  test(`on ${name}, a key's secret is shown once and the list never has it`, async () => {
    const { run } = await firstStart(null)
    const created = await run([
      'keys',
      'create',
      '--name',
      'ci',
      '--limit',
      '5',
      '--reset',
      'daily',
      '--requests-per-minute',
      '60',
    ])
    expect(created.code).toBe(0)
    expect(created.output).toMatch(/^sk-hr-v1-\S+\n$/)
    const listed = await run(['keys'])
    expect(listed.output).toContain('$5 daily')
    expect(listed.output).toContain('ci')
    expect(listed.output).not.toContain(created.output.trim())
  })

  test(`on ${name}, a name stays on its line of the list, whatever is in it`, async () => {
    const { run } = await firstStart(null)
    await run(['keys', 'create', '--name', 'a\u001b[31m b\nc'])
    const { output } = await run(['keys'])
    expect(output).toContain('  a?[31m b c\n')
  })

  test(`on ${name}, limits and rates change one by one and can be taken away`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    await run(['keys', 'create', '--limit', '5', '--requests-per-minute', '60'])
    const find = async () =>
      (await storage.keys.list(organizationId, { offset: 0, limit: 10, includeDisabled: true })).at(-1)
    const id = (await find())?.keyId ?? ''
    expect((await run(['keys', 'set', id, '--batches-per-minute', '2'])).code).toBe(0)
    expect(await find()).toMatchObject({
      limitNanocredits: 5_000_000_000n,
      rates: { requestsPerMinute: 60, batchesPerMinute: 2 },
    })
    await run(['keys', 'set', id, '--limit', 'none', '--requests-per-minute', 'none'])
    expect(await find()).toMatchObject({
      limitNanocredits: null,
      rates: { requestsPerMinute: null, batchesPerMinute: 2 },
    })
    await run(['keys', 'disable', id])
    expect(await find()).toMatchObject({ disabled: true })
    await run(['keys', 'enable', id])
    expect(await find()).toMatchObject({ disabled: false })
    await run(['keys', 'delete', id])
    expect((await find())?.keyId).not.toBe(id)
  })

  test(`on ${name}, every key is found, however many there are`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    const make = (kind: 'inference' | 'management', at: number) =>
      storage.keys.create({ organizationId, kind, name: `key ${at}` })
    await Promise.all(Array.from(Array(cliKeysMax).keys(), (at) => make('management', at)))
    await Bun.sleep(2)
    const { key } = await make('inference', cliKeysMax)
    expect((await run(['keys'])).output).toContain(key.keyId)
    expect(await run(['keys', 'disable', key.keyId])).toMatchObject({ code: 0 })
  })

  test(`on ${name}, invalid amounts, rates and ids change nothing`, async () => {
    const { run } = await firstStart(null)
    for (const args of [
      ['create', '--limit', '-1'],
      ['create', '--limit', 'much'],
      ['create', '--requests-per-minute', '0'],
      ['create', '--batches-per-minute', '1000001'],
      ['create', '--allowed-models', ''],
      ['create', '--allowed-providers', 'openai,,groq'],
      ['create', '--allowed-providers', 'openai,all'],
      ['create', '--require-zdr', 'yes'],
      ['create', '--reset', 'hourly'],
      ['create', '--reset', 'daily'],
      ['set', 'key_1'],
      ['create', 'ci'],
      ['list', 'key_1'],
      ['disable'],
    ]) {
      expect((await run(['keys', ...args])).code).toBe(2)
    }
    expect(await run(['keys', 'disable', 'key_none'])).toMatchObject({ code: 1 })
    expect((await run(['keys'])).output.trim().split('\n')).toHaveLength(3)
  })

  test(`on ${name}, options that would change nothing are refused, and a limit takes its reset along`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    const ofKind = async (kind: string) => {
      const keys = await storage.keys.list(organizationId, { offset: 0, limit: 10, includeDisabled: true })
      return keys.find((key) => key.kind === kind)
    }
    const id = (await ofKind('inference'))?.keyId ?? ''
    const manager = (await ofKind('management'))?.keyId ?? ''
    for (const args of [
      ['set', id, '--reset', 'daily'],
      ['set', id, '--limit', 'none', '--reset', 'daily'],
      ['set', id, '--name', ''],
      ['set', id, '--name', 'new', '--management'],
      ['set', manager, '--limit', '5'],
      ['set', manager, '--requests-per-minute', '5'],
      ['create', '--management', '--limit', '5', '--reset', 'daily'],
      ['create', '--management', '--batches-per-minute', '5'],
      ['create', '--name', ' '],
      ['disable', id, '--name', 'old'],
      ['enable', id, '--limit', '5'],
      ['delete', id, '--reset', 'daily'],
      ['list', '--management'],
    ]) {
      expect(await run(['keys', ...args])).toMatchObject({ code: 2, output: '' })
    }
    expect((await run(['keys'])).output.trim().split('\n')).toHaveLength(3)
    expect(await ofKind('inference')).toMatchObject({ name: 'First key', disabled: false, limitReset: null })
    await run(['keys', 'set', id, '--limit', '5', '--reset', 'daily'])
    await run(['keys', 'set', id, '--reset', 'weekly'])
    expect(await ofKind('inference')).toMatchObject({
      limitNanocredits: 5_000_000_000n,
      limitReset: 'weekly',
    })
    await run(['keys', 'set', id, '--limit', 'none'])
    expect(await ofKind('inference')).toMatchObject({ limitNanocredits: null, limitReset: null })
    expect((await run(['keys', 'set', manager, '--limit', 'none', '--name', 'boss'])).code).toBe(0)
  })

  test(`on ${name}, credits are added to the balance`, async () => {
    const { run } = await firstStart(0n)
    expect((await run(['credits', 'add', '10.5'])).output).toContain('balance $10.5')
    expect((await run(['credits'])).output).toContain('added $10.5  used $0')
    for (const amount of ['-3', '0', 'much']) expect((await run(['credits', 'add', amount])).code).toBe(2)
    expect((await run(['credits', 'take', '3'])).code).toBe(2)
  })

  test(`on ${name}, the setting of the organization is changed and shown`, async () => {
    const { run } = await firstStart(null)
    expect((await run(['org'])).output).toMatch(/filtered-catalog +off/)
    expect((await run(['org', 'set', 'filtered-catalog', 'on'])).output).toMatch(/filtered-catalog +on/)
    expect((await run(['org', 'set', 'filtered-catalog', 'maybe'])).code).toBe(2)
    expect((await run(['org', 'set', 'mode', 'free'])).code).toBe(2)
    expect((await run(['org', 'set', 'requests-per-minute'])).code).toBe(2)
    expect((await run(['org', 'set', 'colour', 'red'])).errors).toContain('requests-per-minute')
    expect((await run(['org', '--org', 'org_none'])).errors).toContain('There is no organization "org_none".')
  })

  test(`on ${name}, every rule of the organization is changed alone, shown as it is typed, and taken away`, async () => {
    const { run } = await firstStart(null)
    const rules = [
      ['requests-per-minute', '600', 'none'],
      ['batches-per-minute', '5', 'none'],
      ['allowed-providers', 'openai,groq', 'all'],
      ['ignored-providers', 'mistral', 'none'],
      ['allowed-models', 'openai/gpt-4o,smart', 'all'],
      ['ignored-models', 'openai/o1', 'none'],
      ['require-zdr', 'on', 'off'],
      ['deny-data-collection', 'on', 'off'],
    ] as const
    const shown = (output: string) =>
      Object.fromEntries(output.split('\n').map((line) => line.split(/ +/, 2) as [string, string]))
    for (const [rule, value] of rules) {
      const { code, output } = await run(['org', 'set', rule, value])
      expect(code).toBe(0)
      expect(shown(output)[rule]).toBe(value)
    }
    expect(shown((await run(['org'])).output)).toMatchObject(
      Object.fromEntries(rules.map(([rule, value]) => [rule, value])),
    )
    for (const [rule, , open] of rules) await run(['org', 'set', rule, open])
    expect(shown((await run(['org'])).output)).toMatchObject(
      Object.fromEntries(rules.map(([rule, , open]) => [rule, open])),
    )
  })

  test(`on ${name}, a key's own rules are stored with it, listed, and changed one by one`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    const rules = ['--allowed-providers', 'openai,groq', '--require-zdr', 'on', '--allowed-models', 'a/b']
    const created = await run(['keys', 'create', ...rules, '--requests-per-minute', '9'])
    expect(created.code).toBe(0)
    const find = async () =>
      (await storage.keys.list(organizationId, { offset: 0, limit: 10, includeDisabled: true })).at(-1)
    const id = (await find())?.keyId ?? ''
    await run(['keys', 'set', id, '--allowed-models', 'all', '--ignored-models', 'c/d'])
    expect(await find()).toMatchObject({
      policy: {
        allowedModels: null,
        ignoredModels: ['c/d'],
        allowedProviders: ['openai', 'groq'],
        requireZdr: true,
        denyDataCollection: false,
      },
      rates: { requestsPerMinute: 9, batchesPerMinute: null },
    })
    expect((await run(['keys'])).output).toContain(
      'requests-per-minute=9 allowed-providers=openai,groq ignored-models=c/d require-zdr=on',
    )
  })

  test(`on ${name}, an unknown provider is stored, with a warning`, async () => {
    const { run } = await firstStart(null)
    const { code, errors } = await run(['org', 'set', 'allowed-providers', 'opneai,OpenAI,groq/eu'])
    expect(code).toBe(0)
    expect(errors).toContain('"opneai" is no provider known here.')
    expect(errors.split('\n').filter((line) => line.includes('no provider'))).toHaveLength(1)
  })

  test(`on ${name}, a rule that names a model by another word than its id is stored, with a warning`, async () => {
    const { run } = await firstStart(null)
    for (const args of [
      ['org', 'set', 'ignored-models', 'gpt-4o,openai/gpt-4o'],
      ['keys', 'create', '--allowed-models', 'gpt-4o,groq/llama'],
    ]) {
      const { code, errors } = await run(args)
      expect(code).toBe(0)
      expect(errors.split('\n').filter((line) => line.includes('model'))).toEqual([
        '"gpt-4o" is no id of a model, such as openai/gpt-4o, and no name of the configuration: the rule is about nothing.',
      ])
    }
  })

  test(`on ${name}, an account that becomes prepaid owes its usage of the time when it was tracked`, async () => {
    const { run, storage, organizationId } = await firstStart(null)
    await run(['credits', 'add', '3'])
    const charge = (id: string) =>
      storage.database.commit({
        name: 'charge a tracked account',
        statements: [
          {
            sql: `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
              values (0, $1, $2, -4000000000, 0, 'capture'), (0, $1, 'income:usage', 4000000000, 0, 'capture')`,
            params: [id, `organization:${organizationId}`],
          },
        ],
      })
    await charge('gen-1')
    const { code, output, errors } = await run(['org', 'set', 'mode', 'prepaid'])
    expect(code).toBe(0)
    expect(output).toMatch(/mode +prepaid/)
    expect(errors).toContain('Its credits: -$1; every call is refused with 402')
    expect((await run(['credits', 'add', '5'])).output).toContain('balance $4  added $8  used $4')
    await charge('gen-2')
    expect((await run(['org', 'set', 'mode', 'prepaid'])).errors).toContain('Its credits: $0;')
    expect(await storage.accounts.readCredits(organizationId)).toEqual({
      totalCredits: 8_000_000_000n,
      totalUsage: 8_000_000_000n,
      balance: 0n,
    })
    const broken = await storage.checkInvariants()
    // The usage rows of these charges are left out above.
    expect(broken.filter(({ invariant }) => invariant !== 'every charge has one capture')).toEqual([])
    expect((await run(['org', 'set', 'mode', 'tracked'])).output).toMatch(/mode +tracked/)
  })

  test(`on ${name}, doctor finds no fault in a new database and lists its checks`, async () => {
    const { run } = await firstStart(5_000_000_000n)
    const readConfig = () => ({
      host: '127.0.0.1',
      port: 1,
      basePath: '',
      dataFolder: '/',
      databaseUrl: 'postgres://nowhere',
      file: null,
      providers: [],
      names: {},
      aliases: {},
    })
    const { code, output } = await run(['doctor'], { readConfig })
    expect(output).toContain('✓ money')
    expect(output).toContain('✓ dead letters')
    expect(output).toContain('nothing is wrong')
    expect(code).toBe(0)
  })

  test(`on ${name}, doctor reports a broken invariant and a dead letter, and fails`, async () => {
    const { run, storage } = await firstStart(null)
    await storage.database.commit({
      name: 'break the books',
      statements: [
        {
          sql: `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
            values (0, 'lost', 'income:usage', 5, 0, 'capture')`,
        },
        {
          sql: `insert into usage_dead_letters (generation_id, payload_json, reason, created_at_ms)
            values ('gen-1', '{}', 'test', 0)`,
        },
      ],
    })
    const { code, output } = await run(['doctor'])
    expect(code).toBe(1)
    expect(output).toContain('postings sum to zero: lost')
    expect(output).toContain('1 captures were not accepted')
  })

  test(`on ${name}, doctor goes on past a part of the database that cannot be read`, async () => {
    const { run, storage } = await firstStart(null)
    const failure = storageUnavailable(new StorageFailure('page 20 is damaged'))
    const damaged = { ...storage, checkInvariants: () => Promise.reject(failure) }
    const { code, output, errors } = await run(['doctor'], { openStorage: () => Promise.resolve(damaged) })
    expect(code).toBe(1)
    expect(errors).toBe('')
    expect(output).toContain('✗ storage        Storage is temporarily unavailable.')
    expect(output).toContain('(page 20 is damaged)')
    expect(output).toContain('! gateway        none is listening')
  })
})

test('the warning about an alias in a rule says what it stands for; names and ids of the configuration cause no warning', () => {
  const context = recordingContext({})
  const config = {
    ...context.readConfig(),
    names: { smart: {} },
    aliases: { 'acme/old': 'smart', quick: 'openai/gpt-4o' },
    providers: [{ preset: 'custom', models: [{ id: 'bare' }] }],
  }
  const policy = { allowedModels: ['smart', 'acme/old', 'bare', 'Bare'], ignoredModels: ['quick'] }
  warnOfUnknownWords({ policy }, { ...context, readConfig: () => config })
  expect(context.errors()).toBe(
    '"acme/old" is an alias, and rules are about what it means: smart.\n"quick" is an alias, and rules are about what it means: openai/gpt-4o.\n',
  )
})
