import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const badKeys = 40
const firstKey = 'proof-inference-key-0001'
const waitMsMax = 15_000
/** The time in which no more keys than before may be told that they are none, and how many were told before. */
const minuteMs = 60_000
const refusedPerMinute = 30

export const proof = observation({
  title: 'a good key is served beside any number of bad ones from its address, and guessing is no faster',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: firstKey })
      return await watch(gateway)
    } finally {
      await gateway.remove()
    }
  },
})

async function watch(gateway: RealGateway): Promise<Check[]> {
  const ask = (key: string) =>
    fetch(`${gateway.baseUrl}/models/user`, { headers: { authorization: `Bearer ${key}` } }).then(
      ({ status }) => status,
      () => 0,
    )
  const startedMs = performance.now()
  const refusedAtMs: number[] = []
  const guesses = Array.from({ length: badKeys }, async (_, index) => {
    if ((await ask(`no-such-key-${index}`)) === 401) refusedAtMs.push(performance.now() - startedMs)
  })
  await Bun.sleep(1_000)
  const askedMs = performance.now()
  const served = await Promise.race([ask(firstKey), Bun.sleep(waitMsMax).then(() => 0)])
  const servedMs = Math.round(performance.now() - askedMs)
  // What is still waiting is answered within a minute; the process ends before that where nothing waits.
  await Promise.race([
    Promise.all(guesses),
    Bun.sleep(Math.max(0, minuteMs - (performance.now() - startedMs))),
  ])
  const early = refusedAtMs.filter((atMs) => atMs < minuteMs).length
  return [
    {
      name: 'a good key that was never seen is served after 40 bad ones, and no more than 30 of them learn it in a minute',
      held: served === 200 && early <= refusedPerMinute,
      seen: `${served} after ${(servedMs / 1000).toFixed(1)} s, ${early} of ${badKeys} bad keys 401 within a minute`,
    },
  ]
}
