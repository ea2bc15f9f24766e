import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { everyCut, parseAnswer, type ParsedAnswer } from '../../test/support/answers-testing.ts'
import { isThorough } from '../../test/support/thorough.ts'

const rounds = isThorough ? 40 : 1
const answersOfRound = 5_000

/** Node's parser's reading of an answer. */
interface Reference {
  status: number
  headers: [string, string][]
  body: string
  isWhole: boolean
  error: string | null
}

/**
 * Why an answer that llhttp takes is refused here: two readers of it may disagree on where it ends or what it says. There
 * is no table of answers that llhttp refuses and that are taken here, because there are none.
 */
const stricter: Readonly<Record<string, string>> = {
  version: 'llhttp takes line breaks before an answer, and the versions 0.9 and 2.0',
  'character in a head': 'llhttp takes control characters in the reason behind a status',
  'transfer encoding': 'llhttp takes chunks of HTTP/1.0, and other encodings beside chunks',
  'body of a status that has none': 'llhttp takes a body of 204 for stated and not sent',
  trailer: 'llhttp takes a transfer encoding after the body that it would be about',
  'chunk extension': 'llhttp takes quotes and empty names in extensions',
}

/** How two readings of one answer compare: `same`, or what is wrong or needs an explanation. */
function compare(text: string, reference: Reference, cuts: readonly number[]): string {
  const own = parseAnswer(text, cuts, true)
  const atOnce = parseAnswer(text, [], true)
  // The reasons may differ when an answer has two faults.
  const isSplitAlike = own.end === 'whole' ? Bun.deepEquals(own, atOnce) : atOnce.end !== 'whole'
  if (!isSplitAlike) return 'depends on the reads'
  if (own.end !== 'whole') return reference.isWhole ? own.end : 'refused by both'
  if (!reference.isWhole) return `llhttp alone refuses: ${reference.error}`
  return isSame(own, reference) ? 'same' : 'read differently'
}

test('our parser reads no answer differently from Node’s, and accepts none that Node’s refuses', () => {
  const random = createRandom(7)
  const found = new Map<string, { count: number; example: string }>()
  for (let round = 0; round < rounds; round += 1) {
    const answers = Array.from({ length: answersOfRound }, () => mutated(answer(random), random))
    const references = parseByNode(answers)
    for (const [index, text] of answers.entries()) {
      const reference = references[index]
      if (reference === undefined) throw new Error('Node left an answer out')
      const outcome = compare(
        text,
        reference,
        everyCut(text).filter(() => random(4) === 0),
      )
      const { count, example } = found.get(outcome) ?? { count: 0, example: text }
      found.set(outcome, { count: count + 1, example })
    }
  }
  expect(found.get('same')?.count).toBeGreaterThan((rounds * answersOfRound) / 3)
  const explained = Object.keys(stricter).map((reason) => `bad answer: ${reason}`)
  const others = [...found].filter(
    ([outcome]) => !['same', 'refused by both', ...explained].includes(outcome),
  )
  expect(others).toEqual([])
  if (isThorough) expect(explained.filter((reason) => !found.has(reason))).toEqual([])
}, 600_000)

function isSame(own: ParsedAnswer, reference: Reference): boolean {
  return (
    own.status === reference.status &&
    own.body === reference.body &&
    Bun.deepEquals(own.headers, reference.headers)
  )
}

function parseByNode(answers: readonly string[]): Reference[] {
  const program = join(import.meta.dirname, '../../test/support/llhttp-answers.mjs')
  const run = Bun.spawnSync(['node', '--no-warnings', program], {
    stdin: Buffer.from(JSON.stringify(answers)),
  })
  expect(run.stderr.toString()).toBe('')
  return JSON.parse(run.stdout.toString()) as Reference[]
}

type Random = (below: number) => number

function createRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * below)
  }
}

function pick<T>(of: readonly T[], random: Random): T {
  const value = of[random(of.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

function times(count: number, make: () => string): string {
  return Array.from({ length: count }, make).join('')
}

/** A valid answer of any kind. */
function answer(random: Random): string {
  const interim = pick(
    ['', '', '', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early\r\nlink: a\r\n\r\n'],
    random,
  )
  const status = pick([200, 200, 200, 201, 204, 304, 400, 429, 500], random)
  const first = `HTTP/1.${pick([1, 1, 1, 1, 0], random)} ${status}${pick([' OK', ' Too Many', ' ', ''], random)}\r\n`
  const lines = Array.from(
    { length: random(4) },
    () => `${word(random)}:${pick(['', ' ', '\t '], random)}${word(random)}${pick(['', ' '], random)}`,
  )
  lines.push(
    ...pick([[], [], ['Connection: close'], ['connection: keep-alive'], ['Keep-Alive: timeout=5']], random),
  )
  const body =
    status === 204 || status === 304 ? '' : times(random(40), () => String.fromCharCode(random(256)))
  const kind =
    body === '' ? pick(['none', 'length', 'chunked'], random) : pick(['length', 'chunked', 'close'], random)
  if (kind === 'length') lines.push(`${pick(['Content-Length', 'content-length'], random)}: ${body.length}`)
  if (kind === 'chunked' && status !== 204)
    lines.push(`transfer-encoding: ${pick(['chunked', 'Chunked'], random)}`)
  const head = `${interim}${first}${lines.map((line) => `${line}\r\n`).join('')}\r\n`
  return head + (kind === 'chunked' && status !== 204 && status !== 304 ? chunksOf(body, random) : body)
}

function chunksOf(body: string, random: Random): string {
  let text = ''
  for (let at = 0; at < body.length;) {
    const part = body.slice(at, at + 1 + random(12))
    text += `${pick(['', '0'], random)}${part.length.toString(16)}${pick(['', '', ';a', ';a=b'], random)}\r\n${part}\r\n`
    at += part.length
  }
  return `${text}${pick(['0', '00'], random)}\r\n${pick(['', '', 'x-end: 1\r\n'], random)}\r\n`
}

function word(random: Random): string {
  return times(1 + random(8), () => pick([...'abcdefghijklmnopqrstuvwxyz-0123456789'], random))
}

const insertions = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '=',
  '"',
  '0',
  'f',
  '-',
  '+',
  '\0',
  '\x7f',
  '\xff',
  ' x',
  'content-length: 3\r\n',
  'Content-Length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: gzip, chunked\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'connection: upgrade\r\nupgrade: x\r\n',
  'ffffffff',
  'Transfer-Encoding : chunked\r\n',
]

/** Half of the answers are unchanged, the others have up to three changes. */
function mutated(text: string, random: Random): string {
  let changed = text
  for (let count = random(2) * (1 + random(3)); count > 0; count -= 1) {
    const at = random(changed.length + 1)
    const kind = random(4)
    if (kind < 2) changed = changed.slice(0, at) + pick(insertions, random) + changed.slice(at)
    else if (kind === 2) changed = changed.slice(0, at) + changed.slice(at + 1 + random(3))
    else changed = changed.slice(0, at) + String.fromCharCode(random(256)) + changed.slice(at + 1)
  }
  return changed
}
