/** What one test file has printed, without the results of tests that passed. */
interface Section {
  lines: string[]
  skipped: number
  /** Shown up to this line, because a test of the file failed. */
  shown: number
}

const headerPattern = /^(\S+\.test\.ts):$/
const resultPattern = /^\((pass|fail|skip|todo)\) /
const countPattern =
  /^ *\d+ (?:pass|fail|skip|todo|error|snapshots?|expect\(\) calls?)\b|^\d+ tests? (?:failed|skipped|todo)/
/** A failed test, or an error outside any. */
const failurePattern = /^\(fail\) |^# Unhandled error|^error: Cannot find/
/** What a file says that cannot run everything. */
const reasonPattern = /^(?:skipped|NOT RUN)\b/

/**
 * Keeps back what files print whose tests pass, and passes on all that a file prints of which a test fails. `bun test` puts
 * the name of a file over each part of its output; the parts of files that run at once alternate.
 */
export class RunReport {
  readonly #write: (text: string) => void
  readonly #sections = new Map<string, Section>()
  #rest = ''
  #file: string | null = null
  /** The count at the end, and what comes with it. */
  #tail: string[] | null = null
  passed = 0

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  /** Says what was skipped. After a failure shows also the end of the run, and everything where no test is known to have failed. */
  end(isGreen: boolean): void {
    if (this.#rest !== '') this.#take(this.#rest)
    const isUnexplained = !isGreen && ![...this.#sections.values()].some(({ shown }) => shown > 0)
    for (const [file, { skipped, lines }] of this.#sections) {
      if (isUnexplained) this.#write(`\n${file}:\n${lines.join('\n')}\n`)
      const reason = lines.find((line) => reasonPattern.test(line))
      if (skipped > 0 || reason !== undefined)
        this.#write(`${file}: ${skipped} skipped${reason === undefined ? '' : ` (${reason})`}\n`)
    }
    if (!isGreen) this.#write(`${(this.#tail ?? []).join('\n')}\n`)
  }

  #take(line: string): void {
    if (this.#tail === null && countPattern.test(line)) this.#tail = []
    const file = headerPattern.exec(line)?.[1]
    if (this.#tail !== null) this.#tail.push(line)
    else if (file !== undefined) this.#file = file
    else if (this.#file !== null) this.#add(this.#file, line)
  }

  #add(file: string, line: string): void {
    const section = this.#sections.get(file) ?? { lines: [], skipped: 0, shown: 0 }
    this.#sections.set(file, section)
    const result = resultPattern.exec(line)?.[1]
    if (result === 'pass') {
      this.passed += 1
      return
    }
    if (result === 'skip' || result === 'todo') section.skipped += 1
    section.lines.push(line)
    if (section.shown === 0 && !failurePattern.test(line)) return
    const fresh = section.lines.slice(section.shown).join('\n')
    this.#write(section.shown === 0 ? `\n${file}:\n${fresh}\n` : `${fresh}\n`)
    section.shown = section.lines.length
  }
}
