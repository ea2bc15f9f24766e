/**
 * Proof 4.3, first half: every recorded reply through every caller's format, and every stream cut everywhere it can be.
 * Prints figures; exits with 1 when a caller was told something else than the provider said, with 2 without recordings.
 */
import { leftOut, listReplies, whyNoRecordings } from './recorded.ts'
import { replay } from './replay.ts'

const shownProblemsMax = 40

const reason = whyNoRecordings()
if (reason !== null) {
  console.log(reason)
  process.exit(2)
}
/** What one of the processes found. */
interface Share {
  read: number
  splits: number
  problems: string[]
}

/** Streams of hundreds of kilobytes are read hundreds of times each, so that every core has a share of the replies. */
const shares = Math.max(1, navigator.hardwareConcurrency)
const replies = listReplies()
const [share] = process.argv.slice(2)
if (share !== undefined) {
  const results = replies.filter((_, index) => index % shares === Number(share)).map((reply) => replay(reply))
  const sum = (count: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + count(result), 0)
  const found: Share = {
    read: sum(({ read }) => read),
    splits: sum(({ splits }) => splits),
    problems: results.flatMap((result) => result.problems),
  }
  console.log(JSON.stringify(found))
  process.exit(0)
}

async function runShare(index: number): Promise<Share> {
  const command = [process.execPath, '--no-env-file', import.meta.path, String(index)]
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0)
    throw new Error(`the process of share ${index} ended with ${child.exitCode}`)
  return JSON.parse(text) as Share
}

const startMs = performance.now()
const results = await Promise.all(Array.from({ length: shares }, (_, index) => runShare(index)))
const problems = results.flatMap((result) => result.problems)
const streams = replies.filter(({ isStream }) => isStream).length
const countOf = (wanted: string) => replies.filter(({ format }) => format === wanted).length
const seconds = Math.round((performance.now() - startMs) / 1000)
console.log(
  `${replies.length} replies (${streams} streams), ${countOf('messages')} of messages, ${countOf('chat')} of chat, ${countOf('gemini')} of gemini and ${countOf('responses')} of responses, to 3 callers: ${results.reduce((sum, { read }) => sum + read, 0)} read, ${results.reduce((sum, { splits }) => sum + splits, 0)} more with cuts in ${seconds} s, ${problems.length} problems`,
)
for (const file of leftOut) console.log(`left out: ${file}`)
for (const problem of problems.slice(0, shownProblemsMax)) console.log(`WRONG: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
