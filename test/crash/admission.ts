import type { GatewayProcess } from './gateway-process.ts'
import { addOrganization } from './people.ts'
import { createWorld, model, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** What 500 calls at once came to. */
export interface Admission {
  figures: string
  problems: string[]
}

const callCount = 500
const affordable = 100
/** Longer than it takes to decide about all of them, so that no hold is given back meanwhile. */
const callMs = 20_000
const outputTokens = 50

/** 500 calls at once over some processes against a balance that covers 100: how many were admitted, and by whom. */
export async function proveAdmission(database: DialectName, processes: number): Promise<Admission> {
  const world = await createWorld({ database, credits: '1' })
  try {
    await world.setFaults([{ match: { body_contains: 'admission' }, fault: `latency=${callMs}` }])
    const gateways = await Promise.all(Array.from({ length: processes }, () => world.start()))
    const holdNanocredits = await holdOfOneCall(world, gateways)
    const { key } = await addOrganization(world.database, holdNanocredits * BigInt(affordable))
    const startMs = performance.now()
    let decidedMs = 0
    const statuses = await Promise.all(
      Array.from({ length: callCount }, async (_, index) => {
        const status = await call(gateways[index % processes], key)
        if (status === 402) decidedMs = Math.max(decidedMs, performance.now() - startMs)
        return status
      }),
    )
    const admitted = statuses.filter((status) => status === 200).length
    const refused = statuses.filter((status) => status === 402).length
    for (const gateway of gateways) gateway.signal('SIGTERM')
    await Promise.all(gateways.map((gateway) => gateway.ended))
    const problems = await world.findings()
    if (admitted !== affordable) problems.push(`${admitted} calls were admitted, not ${affordable}`)
    if (admitted + refused !== callCount)
      problems.push(
        `other statuses: ${statuses.filter((status) => status !== 200 && status !== 402).join(', ')}`,
      )
    const by = processes === 1 ? 'one process' : `${processes} processes`
    const figures = `${database}, ${by}: ${callCount} calls at once against credits for ${affordable}: ${admitted} admitted, ${refused} refused with 402, the last after ${Math.round(decidedMs)} ms`
    if (decidedMs >= callMs) problems.push('the calls were not decided before the first one ended')
    return { figures, problems }
  } finally {
    await world.remove()
  }
}

/** What one of these calls is held for, as a refusal says it. */
async function holdOfOneCall(world: World, [gateway]: readonly GatewayProcess[]): Promise<bigint> {
  const { key } = await addOrganization(world.database, 1n)
  const response = await ask(gateway, key)
  const body = (await response.json()) as { error: { metadata?: { needed_nanocredits?: string } } }
  const needed = body.error.metadata?.needed_nanocredits
  if (response.status !== 402 || needed === undefined)
    throw new Error(`a call without credits was answered with ${response.status}: ${JSON.stringify(body)}`)
  return BigInt(needed)
}

async function call(gateway: GatewayProcess | undefined, key: string): Promise<number> {
  const response = await ask(gateway, key)
  await response.arrayBuffer()
  return response.status
}

function ask(gateway: GatewayProcess | undefined, key: string): Promise<Response> {
  return fetch(`${gateway?.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'admission' }],
      max_tokens: outputTokens,
    }),
  })
}
