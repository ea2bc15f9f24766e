import { existsSync } from 'node:fs'
import { modes, visit, type Visit, type VisitOptions } from './browser.ts'
import { notRun, type Proof } from '../proof.ts'

/** What a journey found wrong, and the figures that it measured. */
export interface Journey {
  faults: readonly string[]
  figures: readonly string[]
}

/** A proof that makes a journey in both modes. */
export function journeyProof(
  title: string,
  journey: (visit: Visit) => Promise<Journey>,
  options: VisitOptions = {},
): Proof {
  return {
    title,
    async run() {
      if (!existsSync('/usr/bin/chromium')) return notRun('there is no /usr/bin/chromium')
      const figures: string[] = []
      let isWrong = false
      for (const mode of modes) {
        const found: string[] = []
        const faults = await visit(
          mode,
          async (opened) => {
            const result = await journey(opened)
            found.push(...result.figures)
            return result.faults
          },
          options,
        ).catch((error: unknown) => [`broke off: ${error instanceof Error ? error.message : String(error)}`])
        if (faults.length > 0) isWrong = true
        figures.push(...found.map((figure) => `${mode.name}: ${figure}`))
        figures.push(`${mode.name}: ${faults.length} faults`, ...faults.map((fault) => `  ${fault}`))
      }
      return { status: isWrong ? 'FAIL' : 'PASS', figures }
    },
  }
}

/** A fault where what was measured is not within its bound. */
export function atMost(word: string, value: number, most: number): string[] {
  return value <= most ? [] : [`${word} is ${value}, more than ${most}`]
}
