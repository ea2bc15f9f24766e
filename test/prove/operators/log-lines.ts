import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { askChat, chatAnswer, chatProvider, logOf, proofKey } from '../observed-gateway.ts'
import { observation, type Check } from '../observations.ts'

const clientAddress = '198.51.100.7'
const managementKey = 'proof-management-key-0001'

export const proof = observation({
  title: 'every line of the log says whose request it was, and credits shows the key',
  async observe(): Promise<Check[]> {
    const upstream = startScriptedUpstream()
    upstream.answer(() => Response.json(chatAnswer))
    const gateway = prepareGateway({ providers: [chatProvider(upstream.url)] })
    try {
      await gateway.start({
        HEADRACE_BOOTSTRAP_KEY: proofKey,
        HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
        HEADRACE_BOOTSTRAP_CREDITS: '0.000001',
        HEADRACE_TRUSTED_PROXIES: '127.0.0.1',
      })
      return await watch(gateway)
    } finally {
      await gateway.remove()
      await upstream.stop()
    }
  },
})

async function watch(gateway: RealGateway): Promise<Check[]> {
  const headers = { 'x-forwarded-for': clientAddress }
  const ask = async (key: string) => (await askChat(gateway, { key, headers })).status
  const statuses = [await ask(proofKey), await ask('no-such-key-of-anybody'), await ask(managementKey)]
  await gateway.run(['credits', 'add', '1'])
  const made = await gateway.run(['keys', 'create', '--requests-per-minute', '1'])
  const limited = /\bsk-[\w-]+/.exec(made.output)?.[0] ?? ''
  await Bun.sleep(2_500)
  statuses.push(await ask(limited), await ask(limited))
  const requests = (await logOf(gateway)).filter(({ msg }) => msg === 'request')
  const lineOf = (status: number) => requests.find((line) => line['status'] === status) ?? {}
  const hasOwner = (line: object) =>
    /"key_[^"]+"/.test(JSON.stringify(line)) && /"org_[^"]+"/.test(JSON.stringify(line))
  const checks = [402, 403, 200, 429].map((status): Check => {
    const line = lineOf(status)
    const held = hasOwner(line) && Object.values(line).includes(clientAddress)
    return { name: `the line of a ${status} has organization, key id and client`, held, seen: seen(line) }
  })
  const refused = lineOf(401)
  const { output } = await gateway.run(['credits'])
  const isSecretFree = ![proofKey, managementKey, limited].some((secret) =>
    gateway.printed().includes(secret),
  )
  return [
    ...checks,
    {
      name: 'the line of a 401 has the client',
      held: Object.values(refused).includes(clientAddress) && isSecretFree,
      seen: `${seen(refused)}${isSecretFree ? '' : ', and a key'}`,
    },
    {
      name: 'credits shows the key of a call',
      held: /\bkey_\w+/.test(output),
      seen: output.split('\n').find((line) => line.includes('generation')) ?? 'no calls',
    },
  ]
}

function seen(line: Record<string, unknown>): string {
  const fields = Object.keys(line).filter((name) => /organization|key|client/.test(name))
  return `${String(line['status'] ?? 'no line')}: ${fields.join(', ') || 'none of them'}`
}
