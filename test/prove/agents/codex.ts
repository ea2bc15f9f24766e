import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { marker } from '../../clients/agent-task.ts'
import {
  agentPackages,
  type AgentRun,
  runCodexOnHttp,
  runCodexOnSocket,
  workFolderOf,
} from '../../clients/agents.ts'
import { createPackages } from '../../clients/packages.ts'
import {
  type ClientsWorld,
  customModel,
  geminiModel,
  messagesModel,
  type Mount,
  startClientsWorld,
} from '../../clients/world.ts'
import { openLedgerView } from '../../support/ledger-view.ts'
import type { CommandOutcome } from '../command.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

const steps = 60
const lastWords = 'All sixty steps are done.'
/** Words of the request for a summary: the gateway's on a WebSocket, Codex's own by HTTP. */
const wishes = { socket: 'this conversation has become too long', http: 'CONTEXT CHECKPOINT' } as const
const summaryWords = 'SUMMARY-NUMBER'
/** The provider waits at this step for so long, and in the meantime the gateway is killed. */
const killedAt = 30
const killWaitMs = 3_000

interface Session {
  name: string
  way: keyof typeof wishes
  mount: Mount
  model: string
  isKilled: boolean
  /** Codex compacts when a conversation has so many tokens. Its prompt and tools have 7,000 to 9,500, by format. */
  limit: number
}

const sessions: readonly Session[] = [
  {
    name: 'socket, messages',
    way: 'socket',
    mount: 'messages',
    model: messagesModel,
    isKilled: false,
    limit: 10_200,
  },
  {
    name: 'socket, Gemini',
    way: 'socket',
    mount: 'gemini',
    model: geminiModel,
    isKilled: false,
    limit: 8_600,
  },
  {
    name: 'socket, chat, killed',
    way: 'socket',
    mount: 'custom',
    model: customModel,
    isKilled: true,
    limit: 11_000,
  },
  {
    name: 'HTTP, messages, killed',
    way: 'http',
    mount: 'messages',
    model: messagesModel,
    isKilled: true,
    limit: 10_200,
  },
]

export const proof: Proof = {
  title:
    'Codex keeps sessions of sixty turns past its limit, over a WebSocket and by HTTP, on three formats, through a kill; the bill by hand',
  async run() {
    const packages = createPackages()
    try {
      const { folder, reason } = await packages.install(agentPackages)
      if (folder === null) return notRun(reason)
      const results: ProofResult[] = []
      for (const [index, session] of sessions.entries()) {
        const own = join(packages.folder, `session-${index}`)
        mkdirSync(own)
        results.push(await prove(session, { packages: folder, folder: own }))
      }
      return combine(results)
    } finally {
      packages.remove()
    }
  },
}

async function prove(
  session: Session,
  { packages, folder }: { packages: string; folder: string },
): Promise<ProofResult> {
  const world = await startClientsWorld()
  try {
    await world.set(session.mount, scriptOf(session))
    const run = { packages, folder, root: world.root, key: world.key, model: session.model }
    const running = runSession(session, run)
    if (session.isKilled) await killInTheMiddle(session, world)
    const outcome = await running
    const problems = [
      ...problemsOfEnd(outcome, folder, session),
      ...problemsOfCompactions(await world.received(session.mount), session),
      ...problemsOfWay(world, session),
      ...(await problemsOfBill(world, session)),
    ]
    const figures = [`${session.name}: ${problems.length === 0 ? 'holds' : 'DOES NOT HOLD'}`, ...problems]
    return { status: problems.length === 0 ? 'PASS' : 'FAIL', figures }
  } finally {
    await world.stop()
  }
}

function runSession({ way, limit: tokens }: Session, run: AgentRun): Promise<CommandOutcome> {
  const limit = `model_auto_compact_token_limit = ${tokens}`
  return way === 'socket' ? runCodexOnSocket(run, limit) : runCodexOnHttp(run, limit)
}

/** Each request gets the next step, whatever the conversation still has of those before. */
function scriptOf({ way, isKilled }: Session) {
  const turns = Array.from({ length: steps }, (_, index) => ({
    text: `Step ${index + 1}.`,
    tool_calls: [{ name: 'exec_command', arguments: { cmd: `echo step ${index + 1} >> steps.txt` } }],
  }))
  const summaries = Array.from({ length: 10 }, (_, index) => ({ text: `${summaryWords}-${index + 1}` }))
  return {
    scripts: [
      { match: { said: wishes[way] }, turns: summaries, advance: 'call' },
      { match: { marker, tools: true }, turns: [...turns, { text: lastWords }], advance: 'call' },
    ],
    faults: isKilled
      ? [{ match: { body_contains: marker }, fault: `first_byte=${killWaitMs}`, after: killedAt, times: 1 }]
      : [],
  }
}

async function killInTheMiddle({ mount }: Session, world: ClientsWorld): Promise<void> {
  const endMs = performance.now() + 60_000
  while ((await world.received(mount)).length <= killedAt) {
    if (performance.now() > endMs) throw new Error('the session never came to its middle')
    await Bun.sleep(100)
  }
  await world.restart()
}

function problemsOfEnd(outcome: CommandOutcome, folder: string, { isKilled }: Session): string[] {
  const problems: string[] = []
  if (outcome.code !== 0) problems.push(`it ended with ${outcome.code}: ${outcome.output.slice(-600)}`)
  if (!outcome.output.includes(lastWords)) problems.push('the last words never came')
  const done = readFileSync(join(workFolderOf(folder), 'steps.txt'), 'utf8')
    .trim()
    .split('\n')
  const numbers = done.map((line) => Number(line.replace('step ', '')))
  // The step that the provider said to a dead gateway is lost: the script does not say it again.
  const lostMax = isKilled ? 1 : 0
  if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)) || done.length < steps - lostMax)
    problems.push(`steps done: ${numbers.join(' ')}`)
  return problems
}

function problemsOfCompactions(
  received: readonly { body: Record<string, unknown> }[],
  { way }: Session,
): string[] {
  const bodies = received.map(({ body }) => JSON.stringify(body))
  const asked = bodies.flatMap((body, index) => (body.includes(wishes[way]) ? [index] : []))
  if (asked.length < 2) return [`${asked.length} compactions; two at least are needed to tell anything`]
  return asked.flatMap((at, index) => {
    const next = bodies[at + 1] ?? ''
    const told = next.includes(`${summaryWords}-${index + 1}`)
    // Codex's own request for a summary has no tools, which are most of a body.
    const isShorter = next.length < (bodies[at - 1]?.length ?? 0)
    return told && isShorter ? [] : [`after compaction ${index + 1} the model was not told its summary`]
  })
}

/** A WebSocket is opened once, and again after a kill; each turn of it is a call in the log. */
function problemsOfWay(world: ClientsWorld, { way, isKilled }: Session): string[] {
  const opened = world.printed().split('"responses_socket"').length - 1
  const wanted = way === 'http' ? 0 : 1
  const isGood = isKilled && way === 'socket' ? opened >= 2 : opened === wanted
  return isGood ? [] : [`${opened} WebSockets were opened`]
}

/** What was spent is the sum of the rows, and where the price is ours each row is its tokens by hand. */
async function problemsOfBill(world: ClientsWorld, { mount, model }: Session): Promise<string[]> {
  const { spentCredits, liveHolds } = await world.books()
  const ledger = await openLedgerView(dirname(world.databasePath))
  try {
    const rows = await ledger.takeOf(model)
    const sum = rows.reduce((total, { costNanocredits: cost }) => total + cost, 0n)
    const problems: string[] = []
    if (Math.round(spentCredits * 1e9) !== Number(sum))
      problems.push(`spent ${spentCredits}, rows come to ${sum}`)
    if (liveHolds !== 0) problems.push(`${liveHolds} holds are left`)
    if (rows.length < steps) problems.push(`${rows.length} rows of usage`)
    // 1 and 2 credits a million tokens.
    const isByHand = ({ inputTokens, outputTokens, costNanocredits: cost }: (typeof rows)[number]) =>
      cost === BigInt(inputTokens) * 1_000n + BigInt(outputTokens) * 2_000n
    if (mount === 'custom' && !rows.every(isByHand)) problems.push('a row is not its tokens at their price')
    return problems
  } finally {
    await ledger.close()
  }
}
