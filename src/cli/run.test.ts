import { expect, test } from 'bun:test'
import { recordingContext } from '../../test/story/command-context.ts'
import { ConfigError } from '../config.ts'
import { GatewayError } from '../core/errors.ts'
import { helpOf } from './help.ts'
import { runCommand } from './run.ts'

test('every command explains itself, and nothing runs while it does', async () => {
  for (const name of Object.keys(helpOf)) {
    const context = recordingContext()
    const args = name === '' ? ['--help'] : [name, '--help']
    expect(await runCommand(args, context)).toBe(0)
    expect(context.output()).toBe(helpOf[name] ?? 'missing')
  }
})

test('without arguments the list of commands is shown', async () => {
  const context = recordingContext()
  expect(await runCommand([], context)).toBe(0)
  expect(context.output()).toContain('npx headrace <command>')
})

test('an unknown command, option or word is one line and exit code 2', async () => {
  for (const args of [
    ['fly'],
    ['constructor'],
    ['keys', 'list', '--limi', '5'],
    ['models', 'a', 'b'],
    ['batch', 'stop'],
    ['try', '--print=go'],
  ]) {
    const context = recordingContext()
    expect(await runCommand(args, context)).toBe(2)
    expect(context.errors().trim().split('\n')).toHaveLength(1)
    expect(context.output()).toBe('')
  }
})

test('for a typing error one line names the word that was probably meant', async () => {
  const meantOf: [string[], string][] = [
    [['bathc'], '"batch"'],
    [['--verson'], '"--version"'],
    [['keys', 'creat'], '"create"'],
    [['keys', '--lmit', '5'], '"--limit"'],
    [['org', 'set', 'mod', 'prepaid'], '"mode"'],
    [['batch', 'wtach'], '"watch"'],
  ]
  for (const [args, meant] of meantOf) {
    const context = recordingContext()
    expect(await runCommand(args, context)).toBe(2)
    expect(context.errors()).toContain(`Did you mean ${meant}?`)
  }
  const context = recordingContext()
  await runCommand(['zzzzzz'], context)
  expect(context.errors()).not.toContain('Did you mean')
})

test('a value that begins with a dash is refused in one line', async () => {
  const context = recordingContext()
  expect(await runCommand(['keys', 'create', '--limit', '-5'], context)).toBe(2)
  expect(context.errors()).toBe(
    'headrace: Option \'--limit\' argument is ambiguous. See "npx headrace keys --help".\n',
  )
})

test('all problems of a configuration are shown at once, with exit code 2', async () => {
  const context = recordingContext({
    readConfig() {
      throw new ConfigError(['HEADRACE_PORT: "x" is not a port', 'HEADRACE_ROLE: "y" is not one of all'])
    },
  })
  expect(await runCommand(['serve'], context)).toBe(2)
  expect(context.errors()).toContain('HEADRACE_PORT')
  expect(context.errors()).toContain('HEADRACE_ROLE')
  expect(context.errors()).toContain('--print-config')
})

test('storage that does not answer is one line with the next command', async () => {
  const context = recordingContext({
    openStorage: () => Promise.reject(new GatewayError('storage_unavailable', 'Storage does not answer.')),
  })
  expect(await runCommand(['keys'], context)).toBe(1)
  expect(context.errors()).toStartWith('headrace: Storage does not answer.')
  expect(context.errors()).toContain('npx headrace doctor')
  expect(context.errors().trim().split('\n')).toHaveLength(1)
})

test('a command does not make a data folder in the current folder', async () => {
  const readConfig = () => ({
    ...recordingContext().readConfig(),
    dataFolder: '/nowhere/data',
    databaseUrl: 'sqlite:/nowhere/data/headrace.db',
  })
  for (const args of [['keys'], ['credits'], ['org']]) {
    const context = recordingContext({ readConfig })
    expect(await runCommand(args, context)).toBe(1)
    expect(context.errors()).toContain("There is no gateway's data in /nowhere/data.")
  }
})

test('a folder of another user and a newer schema give one line each', async () => {
  const denied = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  const newer = Object.assign(new Error('The database is newer than this program.'), {
    name: 'SchemaMismatch',
  })
  for (const error of [denied, newer]) {
    const context = recordingContext({ openStorage: () => Promise.reject(error) })
    expect(await runCommand(['keys'], context)).toBe(1)
    expect(context.errors().trim().split('\n')).toHaveLength(1)
  }
})

test('version and configuration can be printed by a script', async () => {
  const context = recordingContext()
  expect(await runCommand(['--version'], context)).toBe(0)
  expect(context.output()).toMatch(/^\d+\.\d+\.\d+\n$/)
  const second = recordingContext()
  expect(await runCommand(['--print-config'], second)).toBe(0)
  expect(JSON.parse(second.output())).toMatchObject({ host: '127.0.0.1' })
})

test('a command that needs the gateway says how to start it when nothing listens', async () => {
  for (const args of [['try'], ['models']]) {
    const context = recordingContext()
    expect(await runCommand(args, context)).toBe(1)
    expect(context.errors()).toContain('npx headrace serve')
    expect(context.errors().trim().split('\n')).toHaveLength(1)
  }
})

test('serve hands the configuration over and passes the exit code on', async () => {
  const context = recordingContext({ serve: () => Promise.resolve(7) })
  expect(await runCommand(['serve'], context)).toBe(7)
})
