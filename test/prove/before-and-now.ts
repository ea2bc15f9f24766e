import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listFiles, rootFolder } from '../tidy/sources.ts'
import { runCommand } from './command.ts'
import { notRun, type Proof, type ProofResult } from './proof.ts'
import { checkOut, versionOfOutsiders } from './version-before.ts'

/** Tests of one file; each begins with one of `names`. */
export interface NamedTests {
  file: string
  names: readonly string[]
}

/** How one test ended in one version; `message` is the first line of what it says when it failed. */
export interface Outcome {
  name: string
  isPassed: boolean
  message: string
}

const testMsMax = 120_000
const fileMsMax = 900_000

/** A test that cannot even be loaded, or looks for what is not there, shows nothing of how a version behaves. */
const showsNothing = /cannot find module|export named|is not a function|is not defined|could not resolve/i

/**
 * A proof by tests: each passes on this version and fails on the version that outsiders attacked, with today's tests and
 * today's simulator beside the sources of then. A test that is missing, passed before too, or could not be loaded there
 * fails the proof. `also` runs besides, and adds its figures.
 */
export function beforeAndNow({
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
      const before = layBefore()
      if (before === null) return notRun('the history does not reach back to the version before')
      const figures: string[] = []
      let isGood = tests.length > 0
      for (const chosen of tests) {
        const now = await outcomesOf(rootFolder, chosen)
        const then = await outcomesOf(before, chosen)
        for (const name of chosen.names) {
          const { isHeld, figure } = judge(name, now, then)
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

function judge(name: string, now: readonly Outcome[], then: readonly Outcome[]) {
  const ofNow = now.filter((outcome) => outcome.name.startsWith(name))
  const ofThen = then.filter((outcome) => outcome.name.startsWith(name))
  const failed = ofThen.filter((outcome) => !outcome.isPassed && !showsNothing.test(outcome.message))
  const isGreen = ofNow.length > 0 && ofNow.every((outcome) => outcome.isPassed)
  const seen = failed[0]?.message ?? ofThen[0]?.message ?? ''
  const broken = ofNow.find((outcome) => !outcome.isPassed)?.message ?? 'not found'
  const was = failed.length > 0 ? `failed before (${seen})` : `DID NOT FAIL BEFORE (${seen || 'it passed'})`
  return {
    isHeld: isGreen && failed.length > 0,
    figure: `${isGreen ? 'holds' : `DOES NOT HOLD (${broken})`}: ${name}: ${ofNow.length} tests; ${was}`,
  }
}

/** The version that outsiders attacked, with today's tests; null where the history does not reach back so far. */
export function layBefore(): string | null {
  const before = checkOut(versionOfOutsiders)
  if (before !== null) layTestsOver(before)
  return before
}

/** Today's tests, fakes and simulator, over the sources of another version. */
function layTestsOver(root: string): void {
  for (const folder of ['test', 'simulator'])
    cpSync(join(rootFolder, folder), join(root, folder), { recursive: true })
  for (const file of listFiles('src', '.ts')) {
    if (/(\.test|\.case|testing)\.ts$/.test(file)) cpSync(join(rootFolder, file), join(root, file))
  }
}

/** How the named tests of a file end in the version at `root`. */
export async function outcomesOf(root: string, { file, names }: NamedTests): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-report-'))
  const report = join(folder, 'report.xml')
  const pattern = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  const flags = [`--timeout=${testMsMax}`, '-t', pattern, '--reporter=junit', `--reporter-outfile=${report}`]
  try {
    const { output } = await runCommand([process.execPath, '--no-env-file', 'test', ...flags, `./${file}`], {
      cwd: root,
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
