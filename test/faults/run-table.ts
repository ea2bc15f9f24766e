import { fallbackTable, faultTable } from './fault-table.ts'
import {
  casesOf,
  fallbackCasesOf,
  modelOf,
  startFaultWorld,
  type FaultCase,
  type FaultWorld,
} from './fault-world.ts'
import { judgeCase, outputTokensMax } from './judge-case.ts'

/** What a run of the table came to. */
export interface TableResult {
  figures: string[]
  problems: string[]
}

const paths = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const
/** Cases that wait for a silent provider wait together, so many at a time. */
const silentAtOnce = 24

function requestOf(one: FaultCase): Record<string, unknown> {
  const text = 'Tell me of water.'
  const asked = { model: modelOf(one), stream: one.kind === 'stream', provider: { sort: 'price' } }
  if (one.caller === 'responses') return { ...asked, input: text, max_output_tokens: outputTokensMax }
  return { ...asked, messages: [{ role: 'user', content: text }], max_tokens: outputTokensMax }
}

async function runCase(one: FaultCase, world: FaultWorld): Promise<string[]> {
  const answer = await world.gateway.post(paths[one.caller], requestOf(one))
  const asked = await world.asked(one)
  return judgeCase({ one, answer, asked, rows: await world.ledger.takeOf(modelOf(one)) })
}

/** Sooner than the providers that are late, and later than any other. */
const soonKeepAliveMs = 300
/** The simulator plays so many providers at most, two for each case. */
const casesOfOneWorld = 400

async function runLoud(cases: readonly FaultCase[]): Promise<string[]> {
  const world = await startFaultWorld(cases)
  const problems: string[] = []
  try {
    for (const one of cases) {
      problems.push(...(await runCase(one, world)))
      const left = await world.ledger.problemsAtRest(world.gateway)
      problems.push(...left.map((problem) => `after ${one.slug}: ${problem}`))
    }
    return problems
  } finally {
    await world.stop()
  }
}

/** Cases whose provider is silent or late wait together; afterwards nothing may be held. */
async function runTogether(cases: readonly FaultCase[], keepAliveMs?: number): Promise<string[]> {
  const world = await startFaultWorld(cases, keepAliveMs)
  const problems: string[] = []
  try {
    for (let from = 0; from < cases.length; from += silentAtOnce) {
      const group = cases.slice(from, from + silentAtOnce)
      const found = await Promise.all(group.map((one) => runCase(one, world)))
      problems.push(...found.flat(), ...(await world.ledger.problemsAtRest(world.gateway)))
    }
    return problems
  } finally {
    await world.stop()
  }
}

/** Every case of the table; the ledger is looked at after each, and holds must be gone. */
export async function runTable(): Promise<TableResult> {
  const cases = casesOf(faultTable)
  const { seconds, problems } = await runCases(cases)
  const figures = [
    `${faultTable.length} faults in ${cases.length} cases (4 upstreams, 3 callers, whole and streamed, alone and with a sound endpoint) in ${seconds} s: ${problems.length} problems`,
  ]
  return { figures, problems }
}

/** Every case in which a provider of another format answers in the place of one that failed. */
export async function runFallbacks(): Promise<TableResult> {
  const cases = fallbackCasesOf(fallbackTable)
  const { seconds, problems } = await runCases(cases)
  const figures = [
    `${fallbackTable.length} faults in ${cases.length} cases (from each of 4 upstreams to each other, 3 callers, whole and streamed) in ${seconds} s: ${problems.length} problems`,
  ]
  return { figures, problems }
}

async function runCases(cases: readonly FaultCase[]): Promise<{ seconds: number; problems: string[] }> {
  const late = cases.filter(({ row }) => row.isAfterKeepAlive === true)
  const silent = cases.filter(({ row }) => row.isSilent === true)
  const loud = cases.filter((one) => !late.includes(one) && !silent.includes(one))
  const problems: string[] = []
  const startMs = performance.now()
  for (let from = 0; from < loud.length; from += casesOfOneWorld)
    problems.push(...(await runLoud(loud.slice(from, from + casesOfOneWorld))))
  problems.push(...(await runTogether(silent)))
  if (late.length > 0) problems.push(...(await runTogether(late, soonKeepAliveMs)))
  return { seconds: Math.round((performance.now() - startMs) / 1000), problems }
}
