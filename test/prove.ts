/**
 * `npm run prove [names]`: runs the proofs and prints one row for each, with its figures and PASS, FAIL or NOT RUN.
 * `npm run prove -- outsiders` runs a folder of them, `npm run prove -- outsiders/11` those of it whose file name begins so;
 * `npm run prove 2` and `npm run prove 2.3` choose among the older ones, which have numbers. What the suites print
 * meanwhile goes to stderr, so that the table alone is stdout. Exits with 0 only when every row passed.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRunFolder } from './support/after-the-end.ts'
import type { Proof, ProofOfRows, ProofResult, ProofRow } from './prove/proof.ts'

const folder = join(import.meta.dir, 'prove')
const numberedPattern = /^(\d+)-(\d+)\.ts$/

interface Listed {
  /** What its row begins with, and what chooses it: `2.3`, `outsiders/11-plausible-counts`. */
  id: string
  /** Relative to the folder of proofs. */
  file: string
}

/** The folders whose files each export a proof; the other folders hold what several proofs use. */
const named = ['outsiders', 'house']

function listProofs(): Listed[] {
  const numbered = readdirSync(folder)
    .flatMap((file) => {
      const match = numberedPattern.exec(file)
      return match === null ? [] : [{ issue: Number(match[1]), number: Number(match[2]), file }]
    })
    .toSorted((left, right) => left.issue - right.issue || left.number - right.number)
    .map(({ issue, number, file }) => ({ id: `${issue}.${number}`, file }))
  const inFolders = named.flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.ts'))
      .toSorted()
      .map((file) => ({ id: `${name}/${file.slice(0, -'.ts'.length)}`, file: join(name, file) })),
  )
  return [...numbered, ...inFolders]
}

function isWanted({ id }: { id: string }, wanted: readonly string[]): boolean {
  const isChosen = (word: string): boolean =>
    id === word || id.startsWith(`${word}.`) || id.startsWith(`${word}/`) || id.startsWith(`${word}-`)
  return wanted.length === 0 || wanted.some((word) => isChosen(word))
}

/** Whether a proof may have a row that is wanted. */
function mayHaveRows({ id }: Listed, wanted: readonly string[]): boolean {
  return wanted.some((word) => word.startsWith(`${id}-`))
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
  const chosen = listProofs().filter((listed) => isWanted(listed, wanted) || mayHaveRows(listed, wanted))
  if (chosen.length === 0) {
    console.error(`there is no proof ${wanted.join(', ')}`)
    return false
  }
  await createRunFolder('headrace-prove-')
  let passed = 0
  let count = 0
  for (const listed of chosen) {
    const startMs = performance.now()
    const rows = await rowsOf(listed, wanted)
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
