/**
 * `npm run prove -- NAME …`: runs proofs and prints a row for each, with its figures and PASS, FAIL or NOT RUN. Without names it
 * runs all. A name is a folder below `test/prove` (`money`), a file in it (`money/invoice`), or the file alone (`invoice`).
 * What the suites print meanwhile goes to stderr, so that the table alone is stdout. Exits with 0 only when every row passed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { createRunFolder } from './support/after-the-end.ts'
import type { Proof, ProofOfRows, ProofResult, ProofRow } from './prove/proof.ts'

const folder = join(import.meta.dir, 'prove')
interface Listed {
  /** The name that its row begins with: `money/invoice`. */
  id: string
  /** Relative to the folder of proofs. */
  file: string
}

/** Every file in a folder of the proofs that exports one; the others hold what several proofs use. */
function listProofs(): Listed[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.includes(sep) && file.endsWith('.ts') && isProof(file))
    .map((file) => ({ id: file.slice(0, -'.ts'.length).replaceAll(sep, '/'), file }))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
}

function isProof(file: string): boolean {
  return readFileSync(join(folder, file), 'utf8').includes('\nexport const proof')
}

function isWanted({ id }: { id: string }, wanted: readonly string[]): boolean {
  const isChosen = (word: string) => id === word || id.startsWith(`${word}/`) || id.endsWith(`/${word}`)
  return wanted.length === 0 || wanted.some((word) => isChosen(word))
}

/** Whether a proof may have a row that is wanted. */
function mayHaveRows({ id }: Listed, wanted: readonly string[]): boolean {
  return wanted.some((word) => word.startsWith(`${id}/`))
}

async function load({ file }: Listed): Promise<Proof | ProofOfRows> {
  const module = (await import(join(folder, file))) as { proof: Proof | ProofOfRows }
  return module.proof
}

/** The rows of a proof; one that breaks off has failed. */
async function rowsOf(listed: Listed, wanted: readonly string[]): Promise<readonly ProofRow[]> {
  const proof = await load(listed)
  if ('run' in proof) return [{ id: listed.id, title: proof.title, ...(await runProof(proof)) }]
  try {
    const rows = await proof.rows()
    return rows.filter((row) => isWanted(row, wanted) || isWanted(listed, wanted))
  } catch (error) {
    return [{ id: listed.id, title: 'rows', ...brokenOff(error) }]
  }
}

async function runProof(proof: Proof): Promise<ProofResult> {
  try {
    return await proof.run()
  } catch (error) {
    return brokenOff(error)
  }
}

function brokenOff(error: unknown): ProofResult {
  const reason = error instanceof Error ? error.message : String(error)
  return { status: 'FAIL', figures: [`broke off: ${reason}`] }
}

async function prove(wanted: readonly string[]): Promise<boolean> {
  const listed = listProofs()
  const chosen = listed.filter((one) => isWanted(one, wanted) || mayHaveRows(one, wanted))
  if (chosen.length === 0) {
    console.error(
      `there is no proof ${wanted.join(', ')}; there are:\n${listed.map(({ id }) => id).join('\n')}`,
    )
    return false
  }
  await createRunFolder('headrace-prove-')
  let passed = 0
  let count = 0
  for (const one of chosen) {
    const startMs = performance.now()
    const rows = await rowsOf(one, wanted)
    const seconds = Math.round((performance.now() - startMs) / 1000)
    for (const { id, status, title, figures } of rows) {
      console.log(`${id}  ${status}  ${title} (${seconds} s)`)
      for (const figure of figures) console.log(`      ${figure}`)
      if (status === 'PASS') passed += 1
    }
    count += rows.length
  }
  console.log(`${passed} of ${count} proofs passed`)
  return count > 0 && passed === count
}

process.exit((await prove(process.argv.slice(2))) ? 0 : 1)
