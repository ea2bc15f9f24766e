import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const token = 'the-token-of-prometheus'

export const proof = observation({
  title: '/metrics is for those with the token or this machine alone; processes of one port have one each',
  async observe(): Promise<Check[]> {
    return [...(await withoutToken()), ...(await withToken()), ...(await onOnePort())]
  },
})

async function withGateway<T>(use: (gateway: RealGateway) => Promise<T>): Promise<T> {
  const gateway = prepareGateway(null)
  try {
    return await use(gateway)
  } finally {
    await gateway.remove()
  }
}

const pageOf = ({ baseUrl }: RealGateway) => baseUrl.replace(/\/v1$/, '/metrics')

async function statusOf(gateway: RealGateway, headers: Record<string, string>): Promise<number> {
  return (await fetch(pageOf(gateway), { headers })).status
}

function withoutToken(): Promise<Check[]> {
  return withGateway(async (gateway) => {
    await gateway.start()
    const plain = await statusOf(gateway, {})
    const forwarded = await statusOf(gateway, { 'x-forwarded-for': '127.0.0.1' })
    return [
      {
        name: 'without a token this machine reads them, and not through a proxy',
        held: plain === 200 && forwarded === 403,
        seen: `direct ${plain}, forwarded ${forwarded}`,
      },
    ]
  })
}

function withToken(): Promise<Check[]> {
  return withGateway(async (gateway) => {
    const env = { HEADRACE_METRICS_TOKEN: token }
    const name = 'with a token nobody reads them without it'
    try {
      await gateway.start(env)
    } catch {
      return [{ name, held: false, seen: 'the variable is not known' }]
    }
    const without = await statusOf(gateway, {})
    const shown = await statusOf(gateway, { authorization: `Bearer ${token}` })
    return [{ name, held: without === 401 && shown === 200, seen: `without ${without}, with ${shown}` }]
  })
}

function onOnePort(): Promise<Check[]> {
  return withGateway(async (gateway) => {
    const greeting = await gateway.start({ HEADRACE_SHARE_PORT: '1' })
    const url = /https?:\/\/\S+\/metrics\b/.exec(greeting)?.[0]
    const text = url === undefined ? '' : await (await fetch(url)).text()
    return [
      {
        name: 'a process of a shared port names an address for its own metrics, which has them',
        held: url !== pageOf(gateway) && text.includes('headrace_build_info'),
        seen: url === undefined ? 'none is named' : `${text.split('\n').length} lines of its own`,
      },
    ]
  })
}
