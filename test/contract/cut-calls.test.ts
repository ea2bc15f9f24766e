import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

// What a caller who leaves is noticed by comes by the clock, so one stop alone could come at a lucky moment.
const stops = 5

test('calls that a stop cuts off hold no money afterwards', async () => {
  const left: unknown[] = []
  for (let stop = 0; stop < stops; stop += 1) left.push(...(await leasesAfterAStop()))
  expect(left).toEqual([])
})

/** The leases that are left in the database after a stop that has cut off two calls. */
async function leasesAfterAStop(): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-cut-'))
  const gateway = await startTestGateway({
    folder,
    credits: '10',
    hooks: { callsStopMs: 50, writeLog: () => undefined },
  })
  const url = gateway.listen()
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'latency=60000' }])
  const calls = [false, true].map((stream) => call(`${url}/chat/completions`, gateway.key, stream))
  while ((await askedCalls(gateway)) < calls.length) await Bun.sleep(5)
  await gateway.stop()
  await Promise.all(calls)
  return rowsOf('leases', folder)
}

/** The rows of a table of a gateway that has stopped. Removes its folder. */
function rowsOf(table: string, folder: string): unknown[] {
  const database = new Database(join(folder, 'headrace.db'), { readonly: true })
  const rows = database.query(`select * from ${table}`).all()
  database.close()
  rmSync(folder, { recursive: true, force: true })
  return rows
}

/** Calls that have arrived at the provider. */
async function askedCalls(gateway: TestGateway): Promise<number> {
  const { last_requests: asked } = (await gateway.admin('counters')) as { last_requests: { path: string }[] }
  return asked.filter(({ path }) => path.endsWith('/chat/completions')).length
}

function call(url: string, key: string, stream: boolean): Promise<unknown> {
  const body = JSON.stringify({
    model: 'openai/gpt-4o-mini',
    stream,
    messages: [{ role: 'user', content: 'hello' }],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body }).then(
    (answer) => answer.text().catch(() => null),
    () => null,
  )
}

test('a caller who has left when the body of an answer comes is charged nothing', async () => {
  const provider = startSlowProvider()
  const folder = mkdtempSync(join(tmpdir(), 'headrace-cut-'))
  const gateway = await startTestGateway({
    folder,
    hooks: { writeLog: () => undefined },
    providers: () => [
      {
        preset: 'custom',
        id: 'slow',
        base_url: `http://127.0.0.1:${provider.port}/v1`,
        api_key: 'x',
        weight: 1,
        discover: false,
        models: [{ id: 'slow/m', prices: { input_per_million: '1', output_per_million: '1' } }],
      },
    ],
  })
  const url = gateway.listen()
  const leaveBeforeTheBody = async (stream: boolean) => {
    const leaving = new AbortController()
    const asked = provider.nextCall()
    const body = JSON.stringify({ model: 'slow/m', stream, messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const answer = fetch(`${url}/chat/completions`, { method: 'POST', headers, body, signal: leaving.signal })
    const sendBody = await asked
    await Bun.sleep(5)
    leaving.abort()
    await answer.catch(() => null)
    await Bun.sleep(10)
    sendBody()
    await Bun.sleep(20)
  }
  for (let tries = 0; tries < leavings; tries += 1)
    for (const stream of [false, true]) await leaveBeforeTheBody(stream)
  await gateway.stop()
  provider.stop()
  expect(rowsOf('usages', folder)).toEqual([])
})

/** A look every 50 ms comes in few of them between the leaving and the body. */
const leavings = 10

/** A provider that sends its head at once, and its body when the test says so. */
function startSlowProvider() {
  const calls: PromiseWithResolvers<() => void>[] = []
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, request) {
        const isStream = request.includes('"stream":true')
        const type = isStream ? 'text/event-stream' : 'application/json'
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`)
        calls.shift()?.resolve(() => void socket.end(isStream ? events : whole))
      },
    },
  })
  return {
    port: server.port,
    nextCall() {
      const asked = Promise.withResolvers<() => void>()
      calls.push(asked)
      return asked.promise
    },
    stop: () => server.stop(true),
  }
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const answered = { id: 'c', created: 1, model: 'm' }
const message = { role: 'assistant', content: 'hi' }
const whole = JSON.stringify({
  ...answered,
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
})
const events = `data: ${JSON.stringify({
  ...answered,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: message, finish_reason: 'stop' }],
  usage,
})}\n\ndata: [DONE]\n\n`
