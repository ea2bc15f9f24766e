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
const replies = listReplies()
const startMs = performance.now()
const results = replies.map((reply) => replay(reply))
const sum = (count: (result: (typeof results)[number]) => number) =>
  results.reduce((total, result) => total + count(result), 0)
const problems = results.flatMap((result) => result.problems)
const streams = replies.filter(({ isStream }) => isStream).length
const countOf = (wanted: string) => replies.filter(({ format }) => format === wanted).length
const seconds = Math.round((performance.now() - startMs) / 1000)
console.log(
  `${replies.length} replies (${streams} streams), ${countOf('messages')} of messages, ${countOf('chat')} of chat, ${countOf('gemini')} of gemini and ${countOf('responses')} of responses, to 3 callers: ${sum(({ read }) => read)} read, ${sum(({ splits }) => splits)} more with cuts in ${seconds} s, ${problems.length} problems`,
)
for (const file of leftOut) console.log(`left out: ${file}`)
for (const problem of problems.slice(0, shownProblemsMax)) console.log(`WRONG: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
