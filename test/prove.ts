/**
 * `npm run prove [names]`: runs the proofs and prints one row for each, with its figures and PASS, FAIL or NOT RUN.
 * `npm run prove -- outsiders` runs a folder of them, `npm run prove -- outsiders/11` those of it whose file name begins so;
 * `npm run prove 2` and `npm run prove 2.3` choose among the older ones, which have numbers. What the suites print
 * meanwhile goes to stderr, so that the table alone is stdout. Exits with 0 only when every row passed.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRunFolder } from './support/after-the-end.ts'
import type { Proof, ProofResult } from './prove/proof.ts'

const folder = join(import.meta.dir, 'prove')
const numberedPattern = /^(\d+)-(\d+)\.ts$/

interface Listed {
  /** What its row begins with, and what chooses it: `2.3`, `outsiders/11-plausible-counts`. */
  id: string
  /** Relative to the folder of proofs. */
  file: string
}

/** The folders whose files each export a proof; the other folders hold what several proofs use. */
const named = ['outsiders']

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

function isWanted({ id }: Listed, wanted: readonly string[]): boolean {
  const isChosen = (word: string): boolean =>
    id === word || id.startsWith(`${word}.`) || id.startsWith(`${word}/`) || id.startsWith(`${word}-`)
  return wanted.length === 0 || wanted.some((word) => isChosen(word))
}

async function load({ file }: Listed): Promise<Proof> {
  const module = (await import(join(folder, file))) as { proof: Proof }
  return module.proof
}

async function runProof(proof: Proof): Promise<ProofResult> {
  try {
    return await proof.run()
  } catch (error) {
    return {
      status: 'FAIL',
      figures: [`broke off: ${error instanceof Error ? error.message : String(error)}`],
    }
  }
}

async function prove(wanted: readonly string[]): Promise<boolean> {
  const chosen = listProofs().filter((listed) => isWanted(listed, wanted))
  if (chosen.length === 0) {
    console.error(`there is no proof ${wanted.join(', ')}`)
    return false
  }
  await createRunFolder('headrace-prove-')
  let passed = 0
  for (const listed of chosen) {
    const proof = await load(listed)
    const startMs = performance.now()
    const { status, figures } = await runProof(proof)
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(`${listed.id}  ${status}  ${proof.title} (${seconds} s)`)
    for (const figure of figures) console.log(`      ${figure}`)
    if (status === 'PASS') passed += 1
  }
  console.log(`${passed} of ${chosen.length} proofs passed`)
  return passed === chosen.length
}

process.exit((await prove(process.argv.slice(2))) ? 0 : 1)
