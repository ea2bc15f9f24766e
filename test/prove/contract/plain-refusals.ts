import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const key = 'inference-key-of-the-proof'
const messages = [{ role: 'user', content: 'hi' }]
const batch = {
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  requests: [{ custom_id: 'a', body: { messages } }],
}
/** Texts of the schema library, as callers met them. */
const foreign =
  /expected (?:number|string|array|one of|at )|Too (?:big|small)|Invalid (?:input|option)|[<>]=/i
/** By which every process follows what a command changed. */
const followMs = 2_500

export const proof = observation({
  title: 'refusals are in plain words with line and column, and what makes no batch uses up no rate',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
      return [
        await checkWords(gateway),
        await checkPlace(
          gateway,
          '/chat/completions',
          '{"model": "m",\n "messages": [\n{"role" "user"}]}',
          [3, 9],
        ),
        await checkPlace(gateway, '/audio/speech', '{\n"model": "m"\n"input": "a"}', [3, 1]),
        await checkPlace(
          gateway,
          '/batches',
          '{"model": "m",\n  "requests": [\n{"custom_id": "a", "body": {}} 7]}',
          [3, 32],
        ),
        await checkRate(gateway),
      ]
    } finally {
      await gateway.remove()
    }
  },
})

async function post(gateway: RealGateway, path: string, body: string) {
  const response = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })
  const { error } = (await response.json()) as { error?: { message: string } }
  return { status: response.status, message: error?.message ?? '' }
}

async function checkWords(gateway: RealGateway): Promise<Check> {
  const model = 'openai/gpt-4o-mini'
  const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']))
  const wrong = [
    { n: 0 },
    { temperature: 3 },
    { models: Array(21).fill('m') },
    { verbosity: 'loud' },
    { user: 'u'.repeat(257) },
    { metadata: pairs },
  ]
  const told: string[] = []
  for (const member of wrong) {
    const { message } = await post(
      gateway,
      '/chat/completions',
      JSON.stringify({ model, messages, ...member }),
    )
    told.push(message)
  }
  const wanted = [
    '"n" must be a number of at least 1.',
    '"user" must have at most 256 characters.',
    '"metadata" must have at most 16 pairs.',
  ]
  const held = wanted.every((text) => told.includes(text)) && !told.some((text) => foreign.test(text))
  return { name: 'values out of bounds are refused in plain words', held, seen: told.join(' ') }
}

async function checkPlace(
  gateway: RealGateway,
  path: string,
  body: string,
  [line, column]: readonly [number, number],
): Promise<Check> {
  const { message } = await post(gateway, path, body)
  const held = message.includes(`line ${line}, column ${column}`)
  return { name: `JSON that is broken at ${path}`, held, seen: message }
}

async function checkRate(gateway: RealGateway): Promise<Check> {
  await gateway.run(['org', 'set', 'batches-per-minute', '2'])
  await Bun.sleep(followMs)
  const statuses: number[] = []
  const ask = async (path: string, body: string) =>
    void statuses.push((await post(gateway, path, body)).status)
  for (let turn = 0; turn < 3; turn += 1) {
    await ask('/batches', '{"model": }')
    await ask('/batches?dry_run=true', JSON.stringify(batch))
  }
  for (let turn = 0; turn < 3; turn += 1) await ask('/batches', JSON.stringify(batch))
  const wanted = [400, 200, 400, 200, 400, 200, 202, 202, 429]
  return {
    name: 'three broken bodies and three dry runs leave a rate of two as it was',
    held: statuses.join() === wanted.join(),
    seen: statuses.join(),
  }
}
