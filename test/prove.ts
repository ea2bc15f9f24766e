/**
 * `npm run prove [numbers]`: runs the numbered proofs of the issues and prints one row for each, with its figures and
 * PASS, FAIL or NOT RUN. `npm run prove 2` runs those of issue 2, `npm run prove 2.3 2.4` two of them. What the suites
 * print meanwhile goes to stderr, so that the table alone is stdout. Exits with 0 only when every row passed.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRunFolder } from './support/after-the-end.ts'
import type { Proof, ProofResult } from './prove/proof.ts'

const folder = join(import.meta.dir, 'prove')
const filePattern = /^(\d+)-(\d+)\.ts$/

interface Numbered {
  issue: number
  number: number
}

function listProofs(): Numbered[] {
  return readdirSync(folder)
    .map((name) => filePattern.exec(name))
    .filter((match) => match !== null)
    .map(([, issue, number]) => ({ issue: Number(issue), number: Number(number) }))
    .toSorted((left, right) => left.issue - right.issue || left.number - right.number)
}

function isWanted({ issue, number }: Numbered, wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.includes(`${issue}`) || wanted.includes(`${issue}.${number}`)
}

async function load({ issue, number }: Numbered): Promise<Proof> {
  const module = (await import(join(folder, `${issue}-${number}.ts`))) as { proof: Proof }
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
  const chosen = listProofs().filter((numbered) => isWanted(numbered, wanted))
  if (chosen.length === 0) {
    console.error(`there is no proof ${wanted.join(', ')}`)
    return false
  }
  await createRunFolder('headrace-prove-')
  let passed = 0
  for (const numbered of chosen) {
    const proof = await load(numbered)
    const startMs = performance.now()
    const { status, figures } = await runProof(proof)
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(`${numbered.issue}.${numbered.number}  ${status}  ${proof.title} (${seconds} s)`)
    for (const figure of figures) console.log(`      ${figure}`)
    if (status === 'PASS') passed += 1
  }
  console.log(`${passed} of ${chosen.length} proofs passed`)
  return passed === chosen.length
}

process.exit((await prove(process.argv.slice(2))) ? 0 : 1)
