import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

const launcher = join(import.meta.dir, '../../bin/headrace.js')

/** Whether the Node on the PATH can replace its process, which it can from 22.15 on. */
const canReplace =
  Bun.spawnSync(['node', '-p', 'typeof process.execve']).stdout.toString().trim() === 'function' &&
  process.platform !== 'win32'

/** Below npm the launcher stays whatever Node it has, so that both ways are tested where Node can replace itself. */
const ways = [
  { way: 'started by itself', variables: {}, isReplaced: canReplace },
  { way: 'started below npm', variables: { npm_command: 'exec' }, isReplaced: false },
]

function spawn(program: string, variables: Readonly<Record<string, string>>) {
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn(['node', launcher, '--bun', '-e', program], {
    env: { PATH, HOME, ...variables },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

/** Resolves with what the program printed once that ends a line. */
async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of stream) {
    text += new TextDecoder().decode(piece)
    if (text.includes('\n')) return text.trim()
  }
  throw new Error(`the program ended after printing "${text}"`)
}

/** Keeps a program there until it is asked to end, which it does with an exit code of its own. */
const waiting = (signal: string, code: number) => `
  process.on('${signal}', () => process.exit(${code}))
  setInterval(() => {}, 1000)
  console.log(process.pid)`

describe.each(ways)('the launcher, $way', ({ variables, isReplaced }) => {
  test('passes the exit code up', async () => {
    const started = spawn('process.exit(7)', variables)
    void started.stdin.end()
    expect(await started.exited).toBe(7)
  })

  test('passes stdin down', async () => {
    const started = spawn('process.stdout.write(await Bun.stdin.text())', variables)
    void started.stdin.write('one line\nand another')
    void started.stdin.end()
    expect(await new Response(started.stdout).text()).toBe('one line\nand another')
    expect(await started.exited).toBe(0)
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'passes %s down and waits for the end',
    async (signal) => {
      const started = spawn(waiting(signal, 5), variables)
      await firstLine(started.stdout)
      started.kill(signal)
      expect(await started.exited).toBe(5)
    },
  )

  test('dies of the signal that its program died of', async () => {
    const started = spawn(`process.kill(process.pid, 'SIGKILL')`, variables)
    await started.exited
    expect(started.signalCode).toBe('SIGKILL')
  })

  test(`${isReplaced ? 'is replaced by' : 'stays beside'} the gateway`, async () => {
    const started = spawn(waiting('SIGTERM', 0), variables)
    const pid = Number(await firstLine(started.stdout))
    started.kill('SIGTERM')
    await started.exited
    expect(pid === started.pid).toBe(isReplaced)
  })
})
