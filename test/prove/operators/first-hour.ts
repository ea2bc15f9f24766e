import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { bareMachine, runScriptReadOnly } from '../../support/bare-machine.ts'
import { observation, type Check } from '../observations.ts'

export const proof = observation({
  title:
    'the first hour: no ffmpeg, a read-only root, no key on the machine of the data, a port that is taken',
  missing: () => (Bun.which('curl') === null ? 'curl is not installed' : null),
  async observe() {
    const gateway = prepareGateway(null)
    const env = bareMachine(gateway.folder)
    try {
      const printed = await gateway.start(env)
      const keys = {
        HEADRACE_API_KEY: /inference key +(\S+)/.exec(printed)?.[1] ?? '',
        HEADRACE_MANAGEMENT_KEY: /management key +(\S+)/.exec(printed)?.[1] ?? '',
      }
      return [
        await tried(gateway, env),
        await printedScript(gateway, { ...env, ...keys }),
        await batchWithoutKey(gateway),
        await takenPort(),
      ]
    } finally {
      await gateway.remove()
    }
  },
})

async function tried(gateway: RealGateway, env: Record<string, string>): Promise<Check> {
  const { code, output, errors } = await gateway.run(['try'], env)
  const reason = /EROFS[^\n]*|ENOENT[^\n]*/.exec(errors)?.[0] ?? errors.slice(0, 80)
  return {
    name: 'try works without ffmpeg where no temporary folder can be made',
    held: code === 0 && output.includes('Everything worked.'),
    seen: code === 0 ? 'everything worked' : `exit code ${code}, ${reason}`,
  }
}

async function printedScript(gateway: RealGateway, env: Record<string, string>): Promise<Check> {
  const { output: script } = await gateway.run(['try', '--print=curl'], env)
  const { code, output } = await runScriptReadOnly(script, env)
  const isWhole = code === 0 && output.includes('"custom_id":"two"') && /^\{"text":/m.test(output)
  const last = output.trim().split('\n').at(-1)?.slice(0, 80) ?? ''
  return {
    name: 'the script that try prints runs there too',
    held: isWhole,
    seen: isWhole ? 'every answer' : `exit code ${code}, ${last}`,
  }
}

async function batchWithoutKey(gateway: RealGateway): Promise<Check> {
  const file = join(gateway.folder, 'items.jsonl')
  const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say one.' }] }
  writeFileSync(file, `${JSON.stringify({ custom_id: 'one', body })}\n`)
  const { code, output, errors } = await gateway.run(['batch', 'run', file, '--yes'])
  const held = code === 0 && output.includes('completed: 1 answered')
  return {
    name: 'batch run needs no key on the machine of the data',
    held,
    seen: held ? 'completed' : errors.trim(),
  }
}

async function takenPort(): Promise<Check> {
  const gateway = prepareGateway(null)
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  try {
    const { code, output } = await gateway.run(['serve'], { HEADRACE_PORT: String(taken.port) })
    const isMade = existsSync(gateway.databasePath)
    const areShown = output.includes('sk-hr-v1-')
    return {
      name: 'a first start whose port is taken makes nothing',
      held: code === 1 && !isMade && !areShown,
      seen: `${areShown ? 'keys shown' : 'no keys'}, ${isMade ? 'a database' : 'nothing'} made`,
    }
  } finally {
    await taken.stop(true)
    await gateway.remove()
  }
}
