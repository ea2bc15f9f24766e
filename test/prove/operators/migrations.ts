import { Database as Sqlite } from 'bun:sqlite'
import { dirname } from 'node:path'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { observation, type Check } from '../observations.ts'
import { rootOf, versionOfFirstAttack, whyNoVersion } from '../earlier-versions.ts'

const key = 'prove-inference-key-00000000000001'
const keys = { HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_BOOTSTRAP_CREDITS: '5' }

export const proof = observation({
  title: 'migrations say who may run beside them; one makes room, and every usage row can be priced again',
  missing: () => whyNoVersion(versionOfFirstAttack),
  async observe(): Promise<Check[]> {
    return [...(await observeUpgrade()), ...(await observeNewer())]
  },
})

/** A gateway of the version before runs, and this one comes beside it and then in its place. */
async function observeUpgrade(): Promise<Check[]> {
  const upstream = startScriptedUpstream()
  upstream.answer(({ path }) => (path.endsWith('/models') ? Response.json({ data: [] }) : heard()))
  const config = configOf(upstream.url)
  const before = prepareGateway(config, rootOf(versionOfFirstAttack))
  const now = prepareGateway(config)
  try {
    await before.start({ ...keys, HEADRACE_DATA: dirname(now.databasePath) })
    for (let call = 0; call < 3; call++) await chat(before)
    const beside = await now.run(['doctor'])
    const occupant = /process (\d+) \(owner_\w+\) still runs on it/.exec(beside.output)?.[1] ?? null
    await before.end('SIGTERM')
    await now.start(keys)
    await chat(now)
    const doctor = await now.run(['doctor'])
    await now.end('SIGTERM')
    return [
      {
        name: 'an exclusive migration waits for the process that runs on the database, and names it',
        held: occupant !== null && beside.code === 1,
        seen: occupant === null ? 'nobody was named' : 'its process id',
      },
      ...readBack(now.databasePath, doctor.output.includes('the ledger balances')),
    ]
  } finally {
    await before.remove()
    await now.remove()
    await upstream.stop()
  }
}

function readBack(path: string, isBalanced: boolean): Check[] {
  const database = new Sqlite(path, { readonly: true, safeIntegers: true })
  try {
    return [...checkSchema(database, isBalanced), checkPrice(database)]
  } finally {
    database.close()
  }
}

function checkSchema(database: Sqlite, isBalanced: boolean): Check[] {
  const tables = database
    .query<{ sql: string }, []>(`select sql from sqlite_master where type = 'table'`)
    .all()
  const lists = tables.filter(({ sql }) => /check \(/.test(sql)).length
  const hasWorkspaces = tables.some(({ sql }) => /workspaces/.test(sql))
  const usages = hasWorkspaces
    ? database
        .query<{ rows: bigint }, []>(
          `select count(*) as rows from usages u join api_keys k on k.key_id = u.key_id
            join workspaces w on w.workspace_id = u.workspace_id and w.workspace_id = k.workspace_id
            where w.is_default = 1 and w.organization_id = u.organization_id`,
        )
        .get()?.rows
    : 0n
  return [
    {
      name: 'four calls, three of them of the version before, and their key are in a default workspace; the books balance',
      held: usages === 4n && isBalanced,
      seen: `${usages} calls, ${isBalanced ? 'balanced' : 'not balanced'}`,
    },
    { name: 'no CHECK lists kinds', held: lists === 0, seen: `${lists} tables with one` },
  ]
}

/** The newest row, priced again by hand: audio costs ten times what text costs. */
function checkPrice(database: Sqlite): Check {
  const row = database
    .query<Record<string, bigint | string | null>, []>(
      'select u.*, p.price_json from usages u join prices p on p.price_id = u.price_id order by created_at_ms desc limit 1',
    )
    .get()
  const price = JSON.parse(String(row?.['price_json'])) as Record<string, string>
  const count = (column: string) => BigInt(row?.[column] ?? 0)
  const [heardTokens, spokenTokens] = [count('input_audio_tokens'), count('output_audio_tokens')]
  const parts: [bigint, string][] = [
    [count('input_tokens') - heardTokens, 'inputToken'],
    [heardTokens, 'inputAudioToken'],
    [count('output_tokens') - spokenTokens, 'outputToken'],
    [spokenTokens, 'outputAudioToken'],
  ]
  const again =
    parts.reduce((sum, [tokens, unit]) => sum + tokens * BigInt(price[unit] ?? 0), 0n) / 1_000_000n
  const cost = count('cost_nanocredits')
  return {
    name: 'a call that hears and speaks is priced again from its row and gets its cost',
    held: cost > 0n && again === cost,
    seen: `${again} of ${cost} nanocredits`,
  }
}

/** A database that a program of the next version has made newer by an additive step. */
async function observeNewer(): Promise<Check[]> {
  const gateway = prepareGateway(null)
  try {
    await gateway.start()
    await gateway.end('SIGTERM')
    addAdditiveStep(gateway.databasePath)
    const outcome = await gateway.start().then(
      () => 'starts',
      () => 'refuses to start',
    )
    return [
      {
        name: 'a program runs on a schema that an additive step made newer',
        held: outcome === 'starts',
        seen: outcome,
      },
    ]
  } finally {
    await gateway.remove()
  }
}

function addAdditiveStep(path: string): void {
  const database = new Sqlite(path)
  const columns = database.query<{ name: string }, []>('pragma table_info(schema_migrations)').all()
  const says = columns.some(({ name }) => name === 'kind')
  database.run(
    `insert into schema_migrations (version, name, applied_at_ms${says ? ', kind' : ''})
      select max(version) + 1, 'next', 0${says ? `, 'additive'` : ''} from schema_migrations`,
  )
  database.close()
}

function configOf(url: string): Record<string, unknown> {
  const prices = {
    input_per_million: '1',
    output_per_million: '2',
    input_audio_per_million: '10',
    output_audio_per_million: '20',
  }
  const models = [{ id: 'acme/voice', prices }]
  return {
    providers: [
      { preset: 'custom', id: 'acme', base_url: `${url}/v1`, api_key: 'any', discover: false, models },
    ],
  }
}

async function chat(gateway: RealGateway): Promise<void> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/voice',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
}

function heard(): Response {
  return Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'voice',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 50,
      completion_tokens: 40,
      total_tokens: 90,
      prompt_tokens_details: { audio_tokens: 41 },
      completion_tokens_details: { audio_tokens: 33 },
    },
  })
}
