import type { TestGateway, TestRequest } from '../support/gateway.ts'

/** How long any answer may take, and how many requests are under way at once. */
const answerMsMax = 2_000
const atOnce = 8

/** One request to be judged. */
export interface Trial {
  label: string
  path: string
  init: TestRequest
}

/** What became of a trial: not refused, or what was wrong with its answer, or neither. */
interface Verdict {
  isAnswered: boolean
  problem: string | null
}

async function judge(gateway: TestGateway, { label, path, init }: Trial): Promise<Verdict> {
  const said = (problem: string): Verdict => ({ isAnswered: false, problem: `${label}: ${problem}` })
  const timeout = Promise.withResolvers<null>()
  const timer = setTimeout(() => timeout.resolve(null), answerMsMax)
  try {
    const answer = await Promise.race([readAll(gateway, path, init), timeout.promise])
    if (answer === null) return said(`no answer within ${answerMsMax} ms`)
    const { status, text } = answer
    if (status >= 500) return said(`status ${status}: ${text.slice(0, 300)}`)
    if (status >= 400 && !isEnvelope(text, status))
      return said(`no envelope with ${status}: ${text.slice(0, 300)}`)
    return { isAnswered: status < 400, problem: null }
  } catch (error) {
    return said(`threw ${String(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

/** Judges all of them, some at once, and returns the problems, at most a few hundred. */
export async function judgeAll(
  gateway: TestGateway,
  trials: Iterable<Trial>,
): Promise<{ count: number; answered: number; problems: string[] }> {
  const problems: string[] = []
  let count = 0
  let answered = 0
  const iterator = trials[Symbol.iterator]()
  const worker = async () => {
    for (let next = iterator.next(); !next.done && problems.length < 300; next = iterator.next()) {
      count += 1
      const { isAnswered, problem } = await judge(gateway, next.value)
      if (isAnswered) answered += 1
      if (problem !== null) problems.push(problem)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { count, answered, problems }
}

/** Whether a body is the contract's error for that status. */
export function isEnvelope(text: string, status: number): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } }
    return error?.code === status && typeof error.message === 'string' && error.message !== ''
  } catch {
    return false
  }
}

async function readAll(gateway: TestGateway, path: string, init: TestRequest) {
  const response = await gateway.request(path, init)
  return { status: response.status, text: await response.text() }
}
