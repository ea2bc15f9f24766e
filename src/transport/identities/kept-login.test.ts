import { describe, expect, test } from 'bun:test'
import type { Login } from '../../canonical/endpoint.ts'
import type { Grant } from './identity-world.ts'
import { KeptLogin } from './kept-login.ts'

const login = (secret: string): Login => ({
  type: 'header',
  name: 'authorization',
  prefix: 'Bearer ',
  secret,
})

/** Logins that end after so long, on a clock that the test moves. */
function newKept(lifeMs: number | null) {
  const world = { nowMs: 0, fetched: 0, isDown: false, lifeMs }
  const reports: (string | null)[] = []
  const kept = new KeptLogin({
    deploymentId: 'd',
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.nowMs },
    async fetch(): Promise<Grant> {
      world.fetched += 1
      await Promise.resolve()
      if (world.isDown) throw new Error('the server is away')
      return { login: login(`token-${world.fetched}`), lifeMs: world.lifeMs }
    },
    report: (_deployment, reason) => reports.push(reason),
  })
  return { world, kept, reports }
}

const failing = async (promise: Login | Promise<Login>): Promise<string> => {
  try {
    return `no failure: ${(await promise).type}`
  } catch (thrown) {
    return (thrown as { failure: { error: Error; credentialFault: boolean } }).failure.error.message
  }
}

describe('a kept login', () => {
  test('is fetched once for all who ask at once', async () => {
    const { kept, world } = newKept(3_600_000)
    const all = await Promise.all(Array.from({ length: 500 }, () => kept.login()))
    expect(new Set(all)).toEqual(new Set([login('token-1')]))
    expect(world.fetched).toBe(1)
    // The same object, by which the heads of requests are kept.
    expect(kept.login()).toBe(all[0] as Login)
    kept.stop()
  })

  test('is never given out when it has ended, or is about to', async () => {
    const { kept, world } = newKept(3_600_000)
    await kept.login()
    world.nowMs = 3_589_999
    expect(kept.login()).toEqual(login('token-1'))
    world.nowMs = 3_590_001
    expect(await kept.login()).toEqual(login('token-2'))
    kept.stop()
  })

  test('serves to its end while no other can be fetched; then calls fail, with one try a minute', async () => {
    const { kept, world, reports } = newKept(600_000)
    const first = await kept.login()
    world.isDown = true
    world.nowMs = 100_000
    expect(await kept.instead(first)).toBeNull()
    expect(reports).toEqual(['the server is away'])
    expect(kept.reason).toBe('the server is away')
    expect(await kept.login()).toEqual(first)
    world.nowMs = 600_001
    expect(await failing(kept.login())).toBe('The gateway has no login at the provider.')
    expect(await failing(kept.login())).toBe('The gateway has no login at the provider.')
    expect(world.fetched).toBe(3)
    world.isDown = false
    world.nowMs = 660_002
    expect(await kept.login()).toEqual(login('token-4'))
    expect(reports).toEqual(['the server is away', 'the server is away', null])
    kept.stop()
  })

  test('that is refused is fetched again, once for all and at most once a minute', async () => {
    const { kept, world } = newKept(600_000)
    const first = await kept.login()
    world.nowMs = 100_000
    const others = await Promise.all(Array.from({ length: 50 }, () => kept.instead(first)))
    expect(new Set(others)).toEqual(new Set([login('token-2')]))
    expect(world.fetched).toBe(2)
    world.nowMs = 110_000
    // A late refusal of the first gets the second; one of the second, nothing.
    expect(await kept.instead(first)).toEqual(login('token-2'))
    expect(await kept.instead(login('token-2'))).toBeNull()
    expect(world.fetched).toBe(2)
    kept.stop()
  })

  test('that has ended when it comes is none', async () => {
    const { kept, reports } = newKept(5_000)
    expect(await failing(kept.login())).toBe('The gateway has no login at the provider.')
    expect(reports).toEqual(['the login that came has ended already'])
    kept.stop()
  })

  test('without an end is fetched once', async () => {
    const { kept, world } = newKept(null)
    await kept.login()
    world.nowMs = 1e12
    expect(kept.login()).toEqual(login('token-1'))
    expect(world.fetched).toBe(1)
  })
})
