import { expect, test } from 'bun:test'
import { recordingContext } from '../../../test/story/command-context.ts'
import { GatewayError } from '../../core/errors.ts'
import { StorageFailure, storageUnavailable } from '../../storage/database.ts'
import { explainFailure, serveUntilSignal, type ServedGateway } from './serve-loop.ts'

const config = {
  host: '127.0.0.1',
  port: 8787,
  dataFolder: '/srv/portal/data',
  databaseUrl: 'sqlite:/srv/portal/data/headrace.db',
}

function coded(code: string, rest: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(`${code}: not possible, open '${config.dataFolder}/headrace.db'`), {
    code,
    ...rest,
  })
}

function gatewayThatCannotListen(cause: Error): ServedGateway {
  return {
    listen() {
      throw cause
    },
    stop: () => Promise.resolve(),
    makeFirstLink: () => Promise.resolve(null),
    refuseReload: () => undefined,
    checkProviders: () => Promise.resolve([]),
    unpricedModels: () => [],
    withUnknownSurcharges: () => [],
    unservedNames: () => [],
    isSandbox: true,
    bootstrapped: {
      isNew: true,
      accountMode: 'tracked',
      key: 'sk-inference',
      managementKey: 'sk-management',
    },
  }
}

test('a folder that cannot be written is one line, whether the file system or the database noticed', () => {
  for (const error of [
    coded('EACCES'),
    coded('EROFS'),
    storageUnavailable(new StorageFailure('unable to open database file', { code: 'SQLITE_CANTOPEN' })),
    storageUnavailable(
      new StorageFailure('attempt to write a readonly database', { code: 'SQLITE_READONLY' }),
    ),
  ]) {
    expect(explainFailure(error, config)).toStartWith('the data folder /srv/portal/data cannot be written.')
  }
})

test('a full disk, a broken file and a PostgreSQL that is away are told apart', () => {
  const failed = (code: string, databaseUrl = config.databaseUrl) =>
    explainFailure(storageUnavailable(new StorageFailure('the reason', { code })), { ...config, databaseUrl })
  expect(failed('SQLITE_FULL')).toStartWith('the disk of /srv/portal/data is full.')
  for (const code of ['SQLITE_NOTADB', 'SQLITE_CORRUPT']) {
    expect(failed(code)).toStartWith(
      '/srv/portal/data/headrace.db cannot be read as a database (the reason).',
    )
    expect(failed(code)).not.toContain('Try again')
  }
  const away = failed('ERR_POSTGRES_CONNECTION_CLOSED', 'postgres://user:secret@db.example/portal')
  expect(away).toContain('(the reason) Check that PostgreSQL runs and what DATABASE_URL says')
  expect(away).not.toContain('secret')
  expect(away).not.toContain('data folder')
})

test('an address that is not one of this machine is one line', () => {
  for (const code of ['EADDRNOTAVAIL', 'EINVAL']) {
    const line = explainFailure(coded(code, { syscall: 'listen' }), { ...config, host: '999.1.1.1' })
    expect(line).toContain('there is no address 999.1.1.1')
    expect(line).toContain('HEADRACE_HOST=127.0.0.1')
  }
})

test('a bug of the gateway keeps its own message and stack', () => {
  expect(explainFailure(new TypeError('undefined is not a function'), config)).toBeNull()
  expect(explainFailure(new GatewayError('storage_unavailable', 'No answer.'), config)).toContain(
    'npx headrace doctor',
  )
  const sameKeys = 'The bootstrap keys are the same; use two different secrets.'
  expect(explainFailure(new GatewayError('conflict', sameKeys), config)).toBe(sameKeys)
})

test('a taken port is reported before any file is made', async () => {
  const context = recordingContext()
  let made = 0
  const code = await serveUntilSignal({
    config,
    requirePort: () => {
      throw coded('EADDRINUSE', { syscall: 'listen' })
    },
    create: () => Promise.reject(new Error(`made ${++made}`)),
    context,
    untilSignal: () => new Promise(() => undefined),
    uptimeMs: () => 1,
  })
  expect([code, made, context.output()]).toEqual([1, 0, ''])
  expect(context.errors()).toContain('HEADRACE_PORT=8788 npx headrace serve')
})

test('the keys of a first start are shown although its port was taken at the last moment', async () => {
  const context = recordingContext()
  const code = await serveUntilSignal({
    config,
    requirePort: () => undefined,
    create: () => Promise.resolve(gatewayThatCannotListen(coded('EADDRINUSE', { syscall: 'listen' }))),
    context,
    untilSignal: () => Promise.resolve('SIGTERM'),
    uptimeMs: () => 1,
  })
  expect(code).toBe(1)
  expect(context.output()).toContain('inference key   sk-inference')
  expect(context.output()).toContain('management key  sk-management')
  expect(context.errors()).toContain('HEADRACE_PORT=8788 npx headrace serve')
})

test('a signal during the start ends it, whatever it waits for', async () => {
  const code = await serveUntilSignal({
    config,
    requirePort: () => undefined,
    create: () => new Promise(() => undefined),
    context: recordingContext(),
    untilSignal: () => Promise.resolve('SIGTERM'),
    uptimeMs: () => 1,
  })
  expect(code).toBe(143)
})

async function servedWith(makeFirstLink: ServedGateway['makeFirstLink']) {
  const context = recordingContext()
  const signal = Promise.withResolvers<NodeJS.Signals>()
  const made = Promise.withResolvers<void>()
  const running = serveUntilSignal({
    config,
    requirePort: () => undefined,
    create: () =>
      Promise.resolve({
        ...gatewayThatCannotListen(new Error('not used')),
        listen: () => ({ url: 'http://0.0.0.0:8787/a/b/v1', port: 8787, metricsUrl: null }),
        makeFirstLink: () => makeFirstLink().finally(() => setImmediate(made.resolve)),
      }),
    context,
    untilSignal: () => signal.promise,
    uptimeMs: () => 1,
  })
  await made.promise
  signal.resolve('SIGTERM')
  await running
  return context
}

test('the link of a first start is one plain line on stderr, and a later start prints none', async () => {
  const expiresAtMs = Date.UTC(2026, 10, 25, 14, 0)
  const first = await servedWith(() => Promise.resolve({ token: 'hr-link-secret', expiresAtMs }))
  expect(first.errors()).toContain(
    'Open the console, once and until 2026-11-25 14:00:00 UTC: http://127.0.0.1:8787/a/b/ui/#sign-in=hr-link-secret\n',
  )
  expect(first.output()).not.toContain('hr-link-')
  const later = await servedWith(() => Promise.resolve(null))
  expect(later.errors()).not.toContain('console')
  const broken = await servedWith(() => Promise.reject(new GatewayError('storage_unavailable', 'No answer.')))
  expect(broken.errors()).toContain('npx headrace admin link')
})
