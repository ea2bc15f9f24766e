import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { imageResult, lastWords, marker, turnCount, type AgentTask } from '../../clients/agent-task.ts'
import { agentRuns, type Run } from '../../clients/agent-runs.ts'
import { agentPackages, workFolderOf } from '../../clients/agents.ts'
import { readConversation, type ReadConversation } from '../../clients/conversations.ts'
import { isCharged, judgeBooks } from '../../clients/books.ts'
import { startObserver, type Observed } from '../../clients/observer.ts'
import { createPackages } from '../../clients/packages.ts'
import { pathOf, startClientsWorld, type ClientsWorld, type Received } from '../../clients/world.ts'
import type { CommandOutcome } from '../command.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

/** One thing that was looked at. */
interface Check {
  name: string
  held: boolean
  seen: string
}

/** One turn is silent for so long: a sign of life is due after ten seconds, and then after ten to twenty. */
const silenceMs = 32_000
const silentTurn = 4

export const proof: Proof = {
  title: 'Claude Code and Codex finish a scripted task of twenty turns on every format of a provider',
  async run() {
    const packages = createPackages()
    const world = await startClientsWorld()
    try {
      const { folder, reason } = await packages.install(agentPackages)
      if (folder === null) return notRun(reason)
      const results: ProofResult[] = []
      for (const [index, run] of agentRuns.entries()) {
        const own = join(packages.folder, `run-${index}`)
        mkdirSync(own)
        results.push(await prove(run, { packages: folder, folder: own, world }))
      }
      return combine([...results, await judgeBooks(world)])
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}

async function prove(
  run: Run,
  { packages, folder, world }: { packages: string; folder: string; world: ClientsWorld },
): Promise<ProofResult> {
  const task = run.task(workFolderOf(folder))
  await world.forget(run.mount)
  const isChat = run.mount === 'chat' || run.mount === 'custom'
  await world.set(run.mount, {
    scripts: [{ match: { marker, tools: true }, turns: task.turns }],
    faults: [
      ...(isChat ? [{ fault: 'reasoning' }] : []),
      ...(run.isSilent
        ? [
            {
              match: { body_contains: marker },
              fault: `first_byte=${silenceMs}`,
              after: silentTurn,
              times: 1,
            },
          ]
        : []),
    ],
  })
  const before = (await world.requestLines()).length
  const { outcome, seen } = await runObserved(run, { packages, folder, world })
  const all = await world.received(run.mount)
  const received = all.filter(({ outcome: status }) => status === 200)
  const lines = (await world.requestLines()).slice(before)
  const asked = seen.filter(({ path, body }) => path === run.path && body.includes(marker))
  const conversations = received.map(({ body }) => readConversation(run.mount, body))
  const checks: Check[] = [
    checkEnd(outcome),
    check('turns in order', await world.played(run.mount), counted(turnCount)),
    check(
      'statuses of its calls',
      [...new Set(asked.map(({ status }) => status)), asked.length],
      [200, turnCount],
    ),
    checkPaths(run, all),
    checkFiles(task, workFolderOf(folder)),
    ...checkConversation(conversations.at(-1), task),
    checkThoughts(run, task, conversations),
    checkMarks(run, asked, conversations),
    ...(run.isSilent ? [checkSigns(run, asked)] : []),
    check('logged calls with tokens and a price', lines.filter(isCharged).length, received.length),
  ]
  const isGood = checks.every(({ held }) => held)
  const others = seen.filter((each) => !asked.includes(each))
  const otherPaths = [...new Set(others.map(({ method, path }) => `${method} ${path}`))].join(', ')
  const figures = [
    `${run.name}: ${isGood ? 'holds' : 'DOES NOT HOLD'}; ${asked.length} calls, ${seen.length - asked.length} others${otherPaths === '' ? '' : ` (${otherPaths})`}`,
    ...checks.map((each) => `  ${each.held ? 'ok  ' : 'FAIL'} ${each.name}: ${each.seen}`),
  ]
  return { status: isGood ? 'PASS' : 'FAIL', figures }
}

async function runObserved(
  { run, model }: Run,
  { packages, folder, world }: { packages: string; folder: string; world: ClientsWorld },
): Promise<{ outcome: CommandOutcome; seen: readonly Observed[] }> {
  const observer = startObserver(world.root)
  try {
    const outcome = await run({ packages, folder, root: observer.url, key: world.key, model })
    return { outcome, seen: observer.seen }
  } finally {
    await observer.stop()
  }
}

function check(name: string, seen: unknown, wanted: unknown): Check {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)]
  const held = left === right
  return { name, held, seen: held ? shortened(left) : `${shortened(left)} and not ${shortened(right)}` }
}

function shortened(text: string | undefined): string {
  return (text ?? 'nothing').slice(0, 200)
}

function counted(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function checkEnd({ code, stdout, output }: CommandOutcome): Check {
  const held = code === 0 && stdout.includes(lastWords)
  return { name: 'last words', held, seen: held ? lastWords : `exit ${code}: ${output.slice(-600)}` }
}

/** Everything went to the path of the provider's own format, and the provider refused nothing. */
function checkPaths({ mount }: Run, received: readonly Received[]): Check {
  const wrong = received.filter(({ path, outcome }) => !pathOf[mount].test(path) || outcome !== 200)
  const [first] = wrong
  const seen =
    first === undefined
      ? [...new Set(received.map(({ path }) => path))].join()
      : `${first.path} ${String(first.outcome)}: ${JSON.stringify(first.body).slice(0, 400)}`
  return { name: 'paths of the provider', held: wrong.length === 0 && received.length > 0, seen }
}

function checkFiles({ files }: AgentTask, folder: string): Check {
  const names = Object.keys(files)
  const wrong = names.filter((name) => {
    const path = join(folder, name)
    return !existsSync(path) || readFileSync(path, 'utf8') !== files[name]
  })
  return {
    name: 'files',
    held: wrong.length === 0,
    seen: wrong.length === 0 ? names.join() : `wrong: ${wrong.join()}`,
  }
}

/**
 * The last request has the whole conversation: every call once and with one result, and what the tools said. Agents give
 * the results of one turn in the order in which its tools ended.
 */
function checkConversation(last: ReadConversation | undefined, { turns, results }: AgentTask): Check[] {
  const wanted = turns.flatMap((turn) => turn.tool_calls ?? [])
  const { calls = [], results: answers = [], images = 0 } = last ?? {}
  const ids = calls.map(({ id }) => id)
  const textOf = (id: string | undefined) => answers.find((answer) => answer.id === id)?.text ?? ''
  const unlike = results.filter((result, index) =>
    result === imageResult ? images !== 1 : !textOf(ids[index]).includes(result),
  )
  const isMatched = new Set(ids).size === wanted.length && answers.length === wanted.length
  const strange = answers.filter(({ id }) => !ids.includes(id))
  return [
    check(
      'tools called, in order',
      calls.map(({ name }) => name),
      wanted.map(({ name }) => name),
    ),
    {
      name: 'ids of calls, each once and with its one result',
      held: isMatched && strange.length === 0,
      seen: `${ids.length} calls, ${answers.length} results, ${strange.length} of them of no call`,
    },
    {
      name: 'results of tools',
      held: unlike.length === 0,
      seen: unlike.length === 0 ? `${results.length} as the tools gave them` : `wrong: ${unlike.join(' | ')}`,
    },
  ]
}

/** The simulated providers refuse what they did not sign or seal themselves for exactly these words, this call, this item. */
function checkThoughts(
  { thoughts }: Run,
  { turns }: AgentTask,
  conversations: readonly ReadConversation[],
): Check {
  const said = turns.flatMap(({ thinking }) => thinking ?? [])
  const wanted = thoughts.endsWith('without words') ? said.map(() => '') : said
  const isToBeBound = thoughts.startsWith('signed') || thoughts.startsWith('encrypted')
  const { thoughts: last = [] } = conversations.at(-1) ?? {}
  const isAsWanted =
    thoughts === 'left out'
      ? last.length === 0
      : JSON.stringify(last.map(({ text }) => text)) === JSON.stringify(wanted) &&
        last.every(({ signature }) => (signature !== null) === isToBeBound)
  return {
    name: `thoughts given back (${thoughts})`,
    held: isAsWanted,
    seen: `${last.length} of ${said.length}, ${last.filter(({ signature }) => signature !== null).length} bound to their provider`,
  }
}

function checkMarks(
  { marks }: Run,
  asked: readonly Observed[],
  conversations: readonly ReadConversation[],
): Check {
  const set = asked.map(({ body }) => body.split('"cache_control":').length - 1)
  const arrived = conversations.map(({ marks: count }) => count)
  const shown = `set ${set.join()}; arrived ${arrived.join()}`
  const isSet = set.length > 0 && set.every((count) => count > 0)
  const held = {
    arrive: isSet && set.join() === arrived.join(),
    'left out': isSet && arrived.every((count) => count === 0),
    'none set': set.every((count) => count === 0),
  }[marks]
  return { name: `cache marks (${marks})`, held, seen: shown }
}

/** A silent stream has a sign of life every ten seconds: an event in messages, a comment elsewhere. */
function checkSigns({ path }: Run, asked: readonly Observed[]): Check {
  const sign = path === '/v1/messages' ? /^event: ping$/gm : /^: ?\S+/gm
  const counts = asked.map(({ answer }) => [...answer.matchAll(sign)].length)
  const held = (counts[silentTurn] ?? 0) >= 2
  return { name: `signs of life in the silence of ${silenceMs / 1000} s`, held, seen: counts.join() }
}
