import { cpSync } from 'node:fs'
import { extname, join } from 'node:path'
import { createPackages, type Packages, type PackageSet } from '../clients/packages.ts'
import { rootFolder } from '../tidy/sources.ts'
import { judge } from '../vendor-sdks/compare.ts'
import type { Difference, Vendor } from '../vendor-sdks/vendor.ts'
import { isInSuite, vendors } from '../vendor-sdks/vendors.ts'
import { startVendorWorld } from '../vendor-sdks/world.ts'
import { type Outcome, outcomesOf } from './named-tests.ts'
import { notRun, type ProofResult, type ProofRow } from './proof.ts'

const suiteFile = 'test/vendor-sdks/npm-sdks.test.ts'

/** A row for each vendor with an SDK, or for each of some, in the order of the alphabet. */
export async function vendorRows(prefix: string, slugs?: readonly string[]): Promise<readonly ProofRow[]> {
  const chosen = vendors.filter(({ slug }) => slugs?.includes(slug) ?? true)
  const results = new Map([...(await resultsOfSuite(chosen)), ...(await resultsOfInstalled(chosen))])
  return chosen.map((vendor): ProofRow => {
    const { slug, packages, differences } = vendor
    const { status, figures } = results.get(slug) ?? notRun('nothing was compared')
    const versions = Object.entries(packages.versions).map(([name, version]) => `${name} ${version}`)
    const title = `${versions.join(', ')} of ${packages.registry === 'npm' ? 'npm' : 'PyPI'} beside the gateway`
    return { id: `${prefix}${slug}`, title, status, figures: [...figures, ...differences.map(lineOf)] }
  })
}

function lineOf({ of, at, sdk, ours, why }: Difference): string {
  const sent = (value: string | null | undefined) =>
    value === null || value === undefined ? 'nothing' : value
  const values = sdk === undefined && ours === undefined ? '' : `: ${sent(sdk)}, ours ${sent(ours)}`
  return `listed: ${of === undefined ? '' : `${of}, `}${at}${values}: ${why}`
}

/** The SDKs among this repository's packages, by their tests. */
async function resultsOfSuite(listed: readonly Vendor[]): Promise<Map<string, ProofResult>> {
  const inSuite = listed.filter(isInSuite)
  if (inSuite.length === 0) return new Map()
  const outcomes = await outcomesOf({ file: suiteFile, names: inSuite.map(({ slug }) => `${slug}: `) })
  return new Map(inSuite.map(({ slug }) => [slug, judgeVendor(slug, outcomes)]))
}

function judgeVendor(slug: string, outcomes: readonly Outcome[]): ProofResult {
  const own = outcomes.filter(({ name }) => name.startsWith(`${slug}: `))
  const broken = own.filter(({ isPassed }) => !isPassed)
  return {
    status: own.length > 0 && broken.length === 0 ? 'PASS' : 'FAIL',
    figures: [
      `${own.length} tests hold but for ${broken.length}`,
      ...broken.map(({ name, message }) => `DOES NOT HOLD: ${name}: ${message}`),
    ],
  }
}

/** The SDKs of PyPI, and those of npm that are too large for everybody: installed for this run. */
async function resultsOfInstalled(listed: readonly Vendor[]): Promise<Map<string, ProofResult>> {
  const packages = createPackages()
  try {
    const results = new Map<string, ProofResult>()
    for (const registry of ['npm', 'python'] as const) {
      const chosen = listed.filter((vendor) => !isInSuite(vendor) && vendor.packages.registry === registry)
      if (chosen.length === 0) continue
      for (const [slug, result] of await compareInstalled(packages, registry, chosen))
        results.set(slug, result)
    }
    return results
  } finally {
    packages.remove()
  }
}

async function compareInstalled(
  packages: Packages,
  registry: PackageSet['registry'],
  listed: readonly Vendor[],
): Promise<[string, ProofResult][]> {
  const versions = Object.assign({}, ...listed.map((vendor) => vendor.packages.versions)) as Record<
    string,
    string
  >
  const { folder, reason } = await packages.install({ name: `vendor-sdks-${registry}`, registry, versions })
  if (folder === null) return listed.map(({ slug }) => [slug, notRun(reason)])
  const programs = join(folder, 'programs')
  cpSync(join(rootFolder, 'test/vendor-sdks/programs'), programs, { recursive: true })
  const chosen = listed.map((vendor): Vendor => {
    // A program finds the packages beside it, and must not have the name of one.
    const program = join(programs, `program-of-${vendor.slug}${extname(vendor.program)}`)
    cpSync(vendor.program, program)
    return { ...vendor, program }
  })
  const world = await startVendorWorld(chosen)
  try {
    const errors = await world.runPrograms(
      registry === 'npm'
        ? [process.execPath, '--no-env-file', join(programs, 'run.ts')]
        : [join(folder, 'bin/python'), join(programs, 'run.py')],
    )
    const results: [string, ProofResult][] = []
    for (const vendor of chosen) {
      const lines = judge(await world.compareVendor(vendor), vendor.differences)
      const broken = Object.entries(errors).filter(([name]) => name.startsWith(`${vendor.program} `))
      if (lines.length > 0) lines.push(...broken.map(([name, message]) => `its program: ${name}: ${message}`))
      results.push([vendor.slug, { status: lines.length === 0 ? 'PASS' : 'FAIL', figures: lines }])
    }
    return results
  } finally {
    await world.stop()
  }
}
