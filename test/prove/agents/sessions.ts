import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { marker } from '../../clients/agent-task.ts'
import {
  agentPackages,
  type AgentRun,
  runClaudeCode,
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
/** Codex over a WebSocket, Codex by HTTP and Claude Code: how each works a step, and words of its request for a summary. */
const ways = {
  // The gateway writes the summary.
  socket: { wish: 'this conversation has become too long', workStep: runInCodex },
  http: { wish: 'CONTEXT CHECKPOINT', workStep: runInCodex },
  claude: { wish: 'create a detailed summary', workStep: runInClaude },
} as const
const summaryWords = 'SUMMARY-NUMBER'
/** The provider waits at this step for so long, and in the meantime the gateway is killed. */
const killedAt = 30
const killWaitMs = 3_000

interface Session {
  name: string
  way: keyof typeof ways
  mount: Mount
  model: string
  isKilled: boolean
  /**
   * The agent compacts when a conversation has so many tokens. Codex's prompt and tools have 7,000 to 9,500, by format.
   * Claude Code's is a share of its least window of 100,000 tokens, in percent.
   */
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
  {
    name: 'Claude Code, messages, killed',
    way: 'claude',
    mount: 'messages',
    model: messagesModel,
    isKilled: true,
    limit: 45,
  },
  {
    name: 'Claude Code, Gemini',
    way: 'claude',
    mount: 'gemini',
    model: geminiModel,
    isKilled: false,
    limit: 45,
  },
  {
    name: 'Claude Code, chat',
    way: 'claude',
    mount: 'custom',
    model: customModel,
    isKilled: false,
    limit: 45,
  },
]

export const proof: Proof = {
  title:
    'Codex, over a WebSocket and by HTTP, and Claude Code keep sessions of sixty turns past their limit on three formats, through a kill; the bill by hand',
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

function runSession({ way, limit: most }: Session, run: AgentRun): Promise<CommandOutcome> {
  if (way === 'claude')
    return runClaudeCode(run, {
      CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000',
      CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String(most),
    })
  const limit = `model_auto_compact_token_limit = ${most}`
  return way === 'socket' ? runCodexOnSocket(run, limit) : runCodexOnHttp(run, limit)
}

function runInCodex(command: string) {
  return { name: 'exec_command', arguments: { cmd: command } }
}

/** Prints a page besides: sixty short steps would not fill the window. */
function runInClaude(command: string) {
  const printing = `${command}; head -c 4000 /dev/zero | tr '\\0' x`
  return { name: 'Bash', arguments: { command: printing, description: 'Works' } }
}

/** Each request gets the next step, whatever the conversation still has of those before. */
function scriptOf({ way, isKilled }: Session) {
  const turns = Array.from({ length: steps }, (_, index) => ({
    text: `Step ${index + 1}.`,
    tool_calls: [ways[way].workStep(`echo step ${index + 1} >> steps.txt`)],
  }))
  const summaries = Array.from({ length: 10 }, (_, index) => ({
    // Claude Code leaves nothing of the task but its summary, by which the script knows the conversation.
    text: `<summary>${summaryWords}-${index + 1} of ${marker}</summary>`,
  }))
  return {
    scripts: [
      { match: { said: ways[way].wish }, turns: summaries, advance: 'call' },
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
  const isWish = (body: string) => body.includes(ways[way].wish)
  // An agent may ask twice for one summary.
  const ends = bodies.flatMap((body, index) =>
    isWish(body) && !isWish(bodies[index + 1] ?? '') ? [index] : [],
  )
  if (ends.length < 2) return [`${ends.length} compactions; two at least are needed to tell anything`]
  let last = 0
  return ends.flatMap((at, index) => {
    const next = bodies[at + 1] ?? ''
    const number = Number(new RegExp(`${summaryWords}-(\\d+)`).exec(next)?.[1] ?? 0)
    const before = bodies.slice(0, at).findLast((body) => !isWish(body)) ?? ''
    // An agent's own request for a summary may have no tools, which are most of a body.
    const isGood = number > last && next.length < before.length
    last = number
    return isGood ? [] : [`after compaction ${index + 1} the model was not told its summary`]
  })
}

/** A WebSocket is opened once, and again after a kill; each turn of it is a call in the log. */
function problemsOfWay(world: ClientsWorld, { way, isKilled }: Session): string[] {
  const opened = world.printed().split('"responses_socket"').length - 1
  const wanted = way === 'socket' ? 1 : 0
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
