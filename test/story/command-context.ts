import type { KeyRecord } from '../../src/access/key-record.ts'
import { makeKey } from '../../src/access/keys.ts'
import type { CliStorage, CommandContext } from '../../src/cli/context.ts'

/** A context that keeps what a command writes, and refuses what the test did not give it. */
export interface RecordingContext extends CommandContext {
  /** Everything written to stdout and stderr. */
  output(): string
  errors(): string
}

/** A command's outside for tests: no terminal, a configuration that points at `port`, no storage unless given. */
export function recordingContext(given: Partial<CommandContext> & { port?: number } = {}): RecordingContext {
  let output = ''
  let errors = ''
  const refuse = (what: string) => () => Promise.reject(new Error(`the test gave no ${what}`))
  return {
    env: {},
    cwd: '/',
    write: (text) => void (output += text),
    writeError: (text) => void (errors += text),
    isTty: false,
    columns: 100,
    ask: () => Promise.resolve(''),
    readConfig: () => ({
      host: '127.0.0.1',
      port: given.port ?? 1,
      basePath: '',
      dataFolder: '/nowhere',
      databaseUrl: 'postgres://nowhere',
      file: null,
      providers: [],
      names: {},
      aliases: {},
    }),
    printConfig: (config) => JSON.stringify(config),
    serve: refuse('server'),
    openStorage: refuse('storage'),
    startSimulator: refuse('simulator'),
    ...given,
    output: () => output,
    errors: () => errors,
  }
}

/** Storage that only knows keys. */
export function keyStorage() {
  const keys: KeyRecord[] = []
  let isClosed = false
  const storage = {
    organizations: { loadFirst: () => Promise.resolve({ organizationId: 'org_1' }) },
    keys: {
      create: (options: Parameters<typeof makeKey>[0]) => {
        const made = makeKey(options, 0)
        keys.push(made.key)
        return Promise.resolve(made)
      },
      update: (_: string, keyHash: string, changes: Partial<KeyRecord>) => {
        const key = keys.find((candidate) => candidate.keyHash === keyHash)
        return Promise.resolve(Object.assign(key ?? {}, changes))
      },
    },
    close: () => Promise.resolve(void (isClosed = true)),
  }
  return { storage: storage as unknown as CliStorage, keys, isClosed: () => isClosed }
}
