import { afterAll, beforeAll, expect, test } from 'bun:test'
import { prepareGateway } from '../story/real-gateway.ts'

const pollMs = 25
const pollsMax = 200

const gateway = prepareGateway()
beforeAll(async () => {
  await gateway.start()
})
afterAll(() => gateway.remove())

const status = () =>
  fetch(new URL('/healthz', gateway.baseUrl)).then(
    (response) => response.status,
    () => null,
  )

test('SIGHUP does not stop the gateway, which says in its log that it reads nothing again', async () => {
  gateway.signal('SIGHUP')
  const lines = () => gateway.printed().match(/^\{.*SIGHUP.*restart.*\}$/gm) ?? []
  for (let polls = 0; polls < pollsMax && lines().length === 0; polls += 1) await Bun.sleep(pollMs)
  expect({ lines: lines().length, status: await status() }).toEqual({ lines: 1, status: 200 })
})
