import type { ItemError } from './result-line.ts'

/** The members of a stored result line that its failure is told from. */
interface FailedLine {
  id: string
  custom_id: string
  error?: ItemError | null
}

/**
 * A failed item's line of the error file that OpenAI's clients read, newline included; the lines of the output file are
 * the stored ones.
 */
export function errorLine(line: Uint8Array): Buffer {
  const { id, custom_id, error = null } = JSON.parse(Buffer.from(line).toString('utf8')) as FailedLine
  const shown = error === null ? null : { code: error.type, message: error.message, param: error.param }
  return Buffer.from(`${JSON.stringify({ id, custom_id, response: null, error: shown })}\n`)
}
