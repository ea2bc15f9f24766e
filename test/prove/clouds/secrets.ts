import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RealGateway } from '../../story/real-gateway.ts'
import { metricsOf, proofKey } from '../observed-gateway.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'
import { type Kind, kinds, pem, withKind } from './kinds.ts'

const managementKey = 'proof-management-key-of-forty-characters-1'
/**
 * Statuses that a provider refuses with, each with everything that it was sent in its message. After some the provider is not
 * asked for a while, so these come last.
 */
const refusals = [400, 404, 500, 403, 401]
/** A good call, three items and at least these refusals. */
const askedMin = 8
const batchMsMax = 60_000

export const proof: Proof = {
  title:
    'no secret of a login is in the database, in a blob, a log, a metric or an error, after good calls, refusals that repeat them, and a batch',
  async run() {
    const results: ProofResult[] = []
    for (const kind of kinds) results.push(await prove(kind))
    return combine(results)
  },
}

/** Parts of every secret that is used, as it stands and in the forms in which one is written. */
const secrets = [
  /secret-of-\d/,
  /session-of-\d/,
  /token-of-\d/,
  /metadata-token/,
  /web-token/,
  /pod-token/,
  /entra-secret/,
  /databricks-secret/,
  new RegExp(pem.split('\n')[2]?.slice(0, 40).replaceAll(/[+/]/g, '.') ?? 'never'),
  new RegExp(Buffer.from('c1:databricks-secret').toString('base64').slice(0, 20)),
  ...['secret-of-0', 'session-of-0', 'token-of-0'].map(
    (text) => new RegExp(Buffer.from(text).toString('base64').slice(0, 12)),
  ),
]

function prove(kind: Kind): Promise<ProofResult> {
  const variables = {
    HEADRACE_LOG_LEVEL: 'debug',
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
  }
  return withKind(
    kind,
    async ({ gateway, cloud }) => {
      const places = new Map<string, string>()
      places.set('a good answer', await told(gateway, '/chat/completions', chat))
      places.set('the results of a batch', await batchOf(gateway))
      for (const status of refusals) {
        cloud.refuse(status)
        places.set(`the answer to ${status}`, await told(gateway, '/chat/completions', chat))
      }
      places.set('the log', gateway.printed())
      places.set('the metrics', await metricsOf(gateway))
      for (const path of ['/models', '/key', '/activity', '/requests'])
        places.set(path, await told(gateway, path, null))
      // What is still in the writer's memory goes to the disk.
      await gateway.end('SIGTERM')
      const files = filesIn(gateway.folder).filter(
        (file) => !file.includes('token') && !file.includes('account'),
      )
      for (const file of files)
        if (!file.endsWith('headrace.config.json'))
          places.set(file.slice(gateway.folder.length), readFileSync(file, 'latin1'))
      const found = [...places].flatMap(([place, text]) =>
        secrets.flatMap((secret) => (secret.test(text) ? [`${String(secret)} in ${place}`] : [])),
      )
      const bytes = [...places.values()].reduce((sum, text) => sum + text.length, 0)
      const isUsed = cloud.asked >= askedMin
      return {
        status: found.length === 0 && isUsed ? 'PASS' : 'FAIL',
        figures: [
          `${kind.name}: ${places.size} places with ${bytes} bytes, ${cloud.asked} calls to the provider: ${found.length === 0 ? 'no secret' : found.slice(0, 5).join('; ')}`,
        ],
      }
    },
    { variables },
  )
}

const messages = [{ role: 'user', content: 'hi' }]
const chat = { model: 'cloud/model', messages }

/** The whole answer with its headers. */
async function told({ baseUrl }: RealGateway, path: string, body: object | null): Promise<string> {
  const key = path.startsWith('/activity') || path.startsWith('/requests') ? managementKey : proofKey
  const response = await fetch(`${baseUrl}${path}`, {
    method: body === null ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  })
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
}

async function batchOf(gateway: RealGateway): Promise<string> {
  const requests = ['a', 'b', 'c'].map((custom_id) => ({ custom_id, body: { messages } }))
  const created = await told(gateway, '/batches', {
    endpoint: '/v1/chat/completions',
    model: 'cloud/model',
    requests,
  })
  const id = /"id":"([^"]+)"/.exec(created)?.[1]
  if (id === undefined) throw new Error(`no batch was created: ${created.slice(-500)}`)
  const endMs = performance.now() + batchMsMax
  for (;;) {
    const batch = await told(gateway, `/batches/${id}`, null)
    if (batch.includes('"status":"completed"')) return batch
    if (performance.now() > endMs) throw new Error(`the batch did not end: ${batch.slice(0, 500)}`)
    await Bun.sleep(250)
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
