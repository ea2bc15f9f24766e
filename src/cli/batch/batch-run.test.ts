import { afterAll, afterEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyStorage, recordingContext } from '../../../test/story/command-context.ts'
import { runCommand } from '../run.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-batch-run-'))
const path = join(folder, 'items.jsonl')
const resultsPath = `${path}.results.jsonl`
writeFileSync(path, '{"custom_id":"1","body":{"model":"a/b","messages":[]}}\n')
const servers: Bun.Server<undefined>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
  rmSync(resultsPath, { force: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A gateway that accepts one batch and ends it on the second look. */
function fakeGateway(
  change: {
    refuse?: number
    isTwinBusy?: boolean
    creations?: Request[]
    status?: string
    wrongItem?: string
    isSilent?: boolean
    waiting?: string
    /** The statuses that its event stream tells; null for a gateway that gives none. */
    told?: readonly string[]
  } = {},
) {
  let looks = 0
  let refusals = change.refuse ?? 0
  const batch = (status: string, completed: number) => ({
    id: 'batch_1',
    status,
    request_counts: { total: 1, completed, failed: 0 },
    usage: completed > 0 ? { cost: 0.000012 } : null,
    error: null,
    ...(status === 'in_progress' && change.waiting !== undefined
      ? { headrace_metadata: { waiting: { type: 'payment_required', message: change.waiting } } }
      : {}),
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === '/v1/batches' && request.method === 'POST') {
        const body: unknown = await request.json()
        if (change.wrongItem !== undefined)
          return Response.json({ error: { code: 400, message: change.wrongItem } }, { status: 400 })
        if (url.searchParams.has('dry_run')) return Response.json({ estimate: 0.01, worst_case: 0.02 })
        change.creations?.push(request)
        if (change.isSilent) return new Promise(() => undefined)
        if (change.isTwinBusy && change.creations?.length === 1) {
          const error = { code: 409, message: 'The first request with this key is still running.' }
          return Response.json({ error }, { status: 409, headers: { 'retry-after': '1' } })
        }
        if (refusals-- > 0)
          return Response.json({ error: { code: 502, message: 'Not now.' } }, { status: 502 })
        expect(body).toMatchObject({ endpoint: '/v1/chat/completions', model: 'a/b' })
        return Response.json(batch('validating', 0), { status: 202 })
      }
      if (url.pathname === '/v1/batches') {
        const isOver = looks++ > 0
        return Response.json({
          data: [batch(isOver ? (change.status ?? 'completed') : 'in_progress', isOver ? 1 : 0)],
        })
      }
      if (url.pathname === '/v1/batches/batch_1/events' && change.told) {
        const frames = change.told.map(
          (status, index) =>
            `id: ${status}\nevent: status\ndata: ${JSON.stringify(batch(status, index))}\n\n: ping\n\n`,
        )
        return new Response(`retry: 2000\n\n${frames.join('')}`, {
          headers: { 'content-type': 'text/event-stream' },
        })
      }
      if (url.pathname === '/v1/batches/batch_1/results') return new Response('{"custom_id":"1"}\n')
      return Response.json({ error: { code: 404, message: 'Batch not found.' } }, { status: 404 })
    },
  })
  servers.push(server)
  return { HEADRACE_URL: `http://127.0.0.1:${server.port}`, HEADRACE_API_KEY: 'key' }
}

test('a batch is followed by the events of its gateway, without a poll', async () => {
  const context = recordingContext({ env: fakeGateway({ told: ['in_progress', 'completed'] }) })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(0)
  // The list, which ends a batch on the second look, was not read.
  expect(context.output()).toContain('completed: 1 answered, 0 failed')
})

test('a batch is estimated, confirmed, followed, and its results are saved', async () => {
  const questions: string[] = []
  const context = recordingContext({
    env: fakeGateway(),
    ask: (question) => Promise.resolve((questions.push(question), 'y')),
  })
  expect(await runCommand(['batch', 'run', path], context)).toBe(0)
  expect(questions).toEqual(['Run it? [y/N] '])
  expect(context.output()).toContain('estimated cost $0.01, $0.02 at most')
  expect(context.output()).toContain('completed: 1 answered, 0 failed, cost $0.000012')
  expect(readFileSync(resultsPath, 'utf8')).toBe('{"custom_id":"1"}\n')
  expect(existsSync(`${resultsPath}.partial`)).toBe(false)
})

test('a batch that waits for credits says so while it is watched', async () => {
  const waiting = 'This batch waits for credits.'
  const context = recordingContext({ env: fakeGateway({ waiting }), ask: () => Promise.resolve('y') })
  expect(await runCommand(['batch', 'run', path], context)).toBe(0)
  expect(context.output().split(`${waiting}\n`)).toHaveLength(2)
})

test('results that cannot be saved are not lost, and the command to get them is told', async () => {
  mkdirSync(resultsPath)
  const context = recordingContext({ env: fakeGateway(), ask: () => Promise.resolve('y') })
  expect(await runCommand(['batch', 'run', path], context)).toBe(1)
  expect(context.errors()).toContain(`${resultsPath} cannot be written (EISDIR).`)
  expect(context.errors()).toContain('npx headrace batch watch batch_1 --out')
  rmSync(resultsPath, { recursive: true })
})

test('without a yes nothing is sent', async () => {
  const creations: Request[] = []
  const context = recordingContext({ env: fakeGateway({ creations }) })
  expect(await runCommand(['batch', 'run', path], context)).toBe(1)
  expect(creations).toHaveLength(0)
  expect(context.output()).toContain('Nothing was sent')
})

test('an upload that may have arrived is repeated with the same idempotency key', async () => {
  const creations: Request[] = []
  const context = recordingContext({ env: fakeGateway({ refuse: 1, creations }) })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(0)
  const keys = creations.map((request) => request.headers.get('idempotency-key'))
  expect(keys).toHaveLength(2)
  expect(keys[0]).toBe(keys[1] ?? '')
  expect(keys[0]).toMatch(/^cli-[0-9a-f]{16}-\w{16}$/)
})

test('an upload whose lost first try is still being read is repeated until it is answered', async () => {
  const creations: Request[] = []
  const context = recordingContext({ env: fakeGateway({ isTwinBusy: true, creations }) })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(0)
  expect(creations).toHaveLength(2)
})

test('a file that cannot be written is named, and the results can be had again', async () => {
  const context = recordingContext({ env: fakeGateway() })
  const out = join(folder, 'nowhere', 'results.jsonl')
  expect(await runCommand(['batch', 'watch', 'batch_1', '--out', out], context)).toBe(1)
  expect(context.errors()).toContain(`${out}.partial cannot be written (ENOENT).`)
  expect(context.errors()).toContain(`npx headrace batch watch batch_1 --out ${out}`)
})

test('a file that could not be finished is not left half written', async () => {
  mkdirSync(resultsPath)
  const context = recordingContext({ env: fakeGateway() })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(1)
  expect(existsSync(`${resultsPath}.partial`)).toBe(false)
  rmSync(resultsPath, { recursive: true })
})

test('an item that the gateway refuses is named by its line', async () => {
  const twice = join(folder, 'twice.jsonl')
  writeFileSync(twice, `\n${readFileSync(path, 'utf8')}\n${readFileSync(path, 'utf8')}`)
  const wrongItem = 'requests[1].custom_id "1" is a duplicate; every item needs its own.'
  const context = recordingContext({ env: fakeGateway({ wrongItem }) })
  expect(await runCommand(['batch', 'run', twice, '--yes'], context)).toBe(1)
  expect(context.errors()).toBe(`headrace: ${twice}:4: ${wrongItem} (400)\n`)
})

test('for a batch that had ended before, the command shows no duration', async () => {
  const env = fakeGateway()
  await runCommand(['batch', 'watch', 'batch_1'], recordingContext({ env }))
  const context = recordingContext({ env })
  expect(await runCommand(['batch', 'watch', 'batch_1'], context)).toBe(0)
  expect(context.output()).toContain('completed: 1 answered, 0 failed, cost $0.000012\n')
})

test('a batch that ended otherwise than completed fails the command', async () => {
  const context = recordingContext({ env: fakeGateway({ status: 'expired' }) })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(1)
  expect(context.output()).toContain('expired: 1 answered')
})

test('leaving does not stop the batch and says how to come back', async () => {
  const context = recordingContext({ env: fakeGateway({ status: 'in_progress' }) })
  const running = runCommand(['batch', 'watch', 'batch_1'], context)
  // The command listens for signals only after its first poll; an earlier signal would end this process.
  while (process.listenerCount('SIGINT') === 0) await Bun.sleep(1)
  process.emit('SIGINT')
  expect(await running).toBe(130)
  expect(context.output()).toContain('npx headrace batch watch batch_1')
  expect(process.listenerCount('SIGINT')).toBe(0)
})

test('on the machine of the data no key is needed, and the one made for the batch is disabled when it has ended', async () => {
  const { storage, keys, isClosed } = keyStorage()
  const { HEADRACE_URL } = fakeGateway()
  const context = recordingContext({
    env: { HEADRACE_URL },
    openStorage: () => Promise.resolve(storage),
  })
  expect(await runCommand(['batch', 'run', path, '--yes'], context)).toBe(0)
  expect(keys.map(({ kind, disabled }) => [kind, disabled])).toEqual([['inference', true]])
  expect(keys[0]?.expiresAtMs).toBeGreaterThan(Date.now() + 24 * 3_600_000)
  expect(isClosed()).toBe(true)
})

test('a batch that goes on without the command keeps the key that was made for it', async () => {
  const { storage, keys, isClosed } = keyStorage()
  const creations: Request[] = []
  const { HEADRACE_URL } = fakeGateway({ creations, isSilent: true })
  const context = recordingContext({ env: { HEADRACE_URL }, openStorage: () => Promise.resolve(storage) })
  const running = runCommand(['batch', 'run', path, '--yes'], context)
  while (creations.length === 0) await Bun.sleep(1)
  process.emit('SIGINT')
  expect(await running).toBe(130)
  expect(keys.map(({ disabled }) => disabled)).toEqual([false])
  expect(isClosed()).toBe(true)
})

test('a batch that was refused leaves no key behind, and neither does one that is only watched', async () => {
  const { storage, keys } = keyStorage()
  const refused = fakeGateway({ wrongItem: 'requests[0] is wrong.' })
  const openStorage = () => Promise.resolve(storage)
  const run = recordingContext({ env: { HEADRACE_URL: refused.HEADRACE_URL }, openStorage })
  expect(await runCommand(['batch', 'run', path, '--yes'], run)).toBe(1)
  const { HEADRACE_URL } = fakeGateway()
  const watch = recordingContext({ env: { HEADRACE_URL }, openStorage })
  expect(await runCommand(['batch', 'watch', 'batch_1'], watch)).toBe(0)
  expect(keys.map(({ disabled }) => disabled)).toEqual([true, true])
})

test('without a key and without the data, the message names both remedies', async () => {
  const databaseUrl = `sqlite:${join(folder, 'nowhere.db')}`
  const context = recordingContext()
  const readConfig = () => ({ ...context.readConfig(), databaseUrl })
  expect(await runCommand(['batch', 'watch'], { ...context, readConfig })).toBe(1)
  expect(context.errors()).toContain("There is no gateway's data in /nowhere.")
  expect(context.errors()).toContain('set HEADRACE_API_KEY')
})

test('after an interruption of the upload the message says where to look', async () => {
  const creations: Request[] = []
  const context = recordingContext({ env: fakeGateway({ creations, isSilent: true }) })
  const running = runCommand(['batch', 'run', path, '--yes'], context)
  while (creations.length === 0) await Bun.sleep(1)
  process.emit('SIGINT')
  expect(await running).toBe(130)
  expect(context.output()).toEndWith(
    'Left before the answer. Was it accepted all the same? npx headrace batch watch\n',
  )
  expect(context.errors()).toBe('')
  expect(process.listenerCount('SIGINT')).toBe(0)
})

test('a batch that is no longer in the list is found without reading its results', async () => {
  let sent = 0
  const wholeAnswer = 100
  const ended = '{"id":"batch_9","status":"completed","request_counts":{"total":1,"completed":1,"failed":0}'
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (!request.url.endsWith('batch_9')) return Response.json({ data: [] })
      let pieces = 0
      return new Response(
        new ReadableStream({
          pull(controller) {
            sent += 1
            controller.enqueue(pieces === 0 ? `${ended},"results":[0` : `,${'1'.repeat(1_000_000)}`)
            if (++pieces === wholeAnswer) controller.close()
          },
        }),
      )
    },
  })
  servers.push(server)
  const env = { HEADRACE_URL: `http://127.0.0.1:${server.port}`, HEADRACE_API_KEY: 'key' }
  const context = recordingContext({ env })
  expect(await runCommand(['batch', 'watch', 'batch_9'], context)).toBe(0)
  expect(context.output()).toContain('completed: 1 answered')
  expect(sent).toBeLessThan(wholeAnswer)
})

test('an unknown batch is told at once', async () => {
  const context = recordingContext({ env: fakeGateway() })
  expect(await runCommand(['batch', 'watch', 'batch_2'], context)).toBe(1)
  expect(context.errors()).toContain('Batch not found. (404) The latest ones: npx headrace batch watch')
})

test('the latest batches are listed, and one still running is followed', async () => {
  const context = recordingContext({ env: fakeGateway() })
  expect(await runCommand(['batch', 'watch'], context)).toBe(0)
  expect(context.output()).toContain('in_progress')
  expect(context.output()).toContain('completed: 1 answered')
})
