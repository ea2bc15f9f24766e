import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './command.ts'
import type { Proof, ProofResult } from './proof.ts'

/** Tests of one file; each begins with one of `names`. */
export interface NamedTests {
  file: string
  names: readonly string[]
}

/** How one test ended; `message` is the first line of what it says when it failed. */
export interface Outcome {
  name: string
  isPassed: boolean
  message: string
}

const testMsMax = 120_000
const fileMsMax = 900_000

/** A proof by tests: each of them passes, and none is missing. `also` runs besides, and adds its figures. */
export function namedTests({
  title,
  tests,
  also,
}: {
  title: string
  tests: readonly NamedTests[]
  also?: () => Promise<ProofResult>
}): Proof {
  return {
    title,
    async run() {
      const figures: string[] = []
      let isGood = tests.length > 0
      for (const chosen of tests) {
        const outcomes = await outcomesOf(chosen)
        for (const name of chosen.names) {
          const { isHeld, figure } = judge(name, outcomes)
          isGood &&= isHeld
          figures.push(figure)
        }
      }
      const more = await also?.()
      if (more !== undefined) figures.push(...more.figures)
      const status = isGood ? (more?.status ?? 'PASS') : 'FAIL'
      return { status, figures }
    },
  }
}

function judge(name: string, outcomes: readonly Outcome[]): { isHeld: boolean; figure: string } {
  const own = outcomes.filter((outcome) => outcome.name.startsWith(name))
  const isHeld = own.length > 0 && own.every((outcome) => outcome.isPassed)
  const broken = own.find((outcome) => !outcome.isPassed)?.message ?? 'not found'
  return { isHeld, figure: `${isHeld ? 'holds' : `DOES NOT HOLD (${broken})`}: ${name}: ${own.length} tests` }
}

/** How the named tests of a file end. */
export async function outcomesOf({ file, names }: NamedTests): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-report-'))
  const report = join(folder, 'report.xml')
  const pattern = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  const flags = [`--timeout=${testMsMax}`, '-t', pattern, '--reporter=junit', `--reporter-outfile=${report}`]
  try {
    const { output } = await runCommand([process.execPath, '--no-env-file', 'test', ...flags, `./${file}`], {
      msMax: fileMsMax,
    })
    if (!existsSync(report) || /^error: Cannot find|SyntaxError: Export/m.test(output))
      return names.map((name) => ({ name, isPassed: false, message: unloadable(output) }))
    return readReport(readFileSync(report, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why a file of tests did not run at all. */
function unloadable(output: string): string {
  return /^(?:error|SyntaxError|TypeError|ReferenceError): .*$/m.exec(output)?.[0] ?? 'could not resolve'
}

const casePattern = /<testcase name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g

function readReport(xml: string): Outcome[] {
  return [...xml.matchAll(casePattern)].flatMap(([, name = '', inner = '']) => {
    if (inner.includes('<skipped')) return []
    const message = /<failure[^>]*?message="([^"]*)"/.exec(inner)?.[1]
    const isPassed = !inner.includes('<failure') && !inner.includes('<error')
    return [{ name: unescaped(name), isPassed, message: shortened(unescaped(message ?? '')) }]
  })
}

const shortened = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 3)
    .map((line) => line.trim())
    .join(' ')
    .slice(0, 160)

const unescaped = (text: string): string =>
  text
    .replaceAll('&#10;', '\n')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
