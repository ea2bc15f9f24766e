import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createPackages, type Packages, type PackageSet } from '../clients/packages.ts'
import { rootFolder } from '../tidy/sources.ts'
import { judge } from '../vendor-sdks/compare.ts'
import type { Difference, Vendor } from '../vendor-sdks/vendor.ts'
import { isInSuite, vendors } from '../vendor-sdks/vendors.ts'
import { startVendorWorld } from '../vendor-sdks/world.ts'
import { layBefore, type Outcome, outcomesOf } from './before-and-now.ts'
import { notRun, type ProofResult, type ProofRow } from './proof.ts'

/** Vendors at which the version that outsiders attacked would have failed; their tests must show it. */
const failedBefore: ReadonlySet<string> = new Set([
  'cartesia',
  'gladia',
  'lmnt',
  'resemble',
  'speechmatics',
  'together',
  'xai',
])
const suiteFile = 'test/vendor-sdks/npm-sdks.test.ts'

/** A row for each vendor with an SDK, in the order of the alphabet. */
export async function vendorRows(prefix: string): Promise<readonly ProofRow[]> {
  const results = new Map([...(await resultsOfSuite()), ...(await resultsOfInstalled())])
  return vendors.map((vendor): ProofRow => {
    const { slug, sdk, differences } = vendor
    const { status, figures } = results.get(slug) ?? notRun('nothing was compared')
    const versions = Object.entries(sdk.versions).map(([name, version]) => `${name} ${version}`)
    const title = `${versions.join(', ')} of ${sdk.registry === 'npm' ? 'npm' : 'PyPI'} beside the gateway`
    return { id: `${prefix}${slug}`, title, status, figures: [...figures, ...differences.map(lineOf)] }
  })
}

function lineOf({ of, at, sdk, ours, why }: Difference): string {
  const sent = (value: string | null | undefined) =>
    value === null || value === undefined ? 'nothing' : value
  const values = sdk === undefined && ours === undefined ? '' : `: ${sent(sdk)}, ours ${sent(ours)}`
  return `listed: ${of === undefined ? '' : `${of}, `}${at}${values}: ${why}`
}

/** The SDKs among this repository's packages: their tests on this version and on the one before. */
async function resultsOfSuite(): Promise<Map<string, ProofResult>> {
  const inSuite = vendors.filter(isInSuite)
  const before = layBefore()
  const names = inSuite.map(({ slug }) => `${slug}: `)
  const now = await outcomesOf(rootFolder, { file: suiteFile, names })
  const then = before === null ? [] : await outcomesOf(before, { file: suiteFile, names })
  return new Map(inSuite.map(({ slug }) => [slug, judgeVendor(slug, now, then)]))
}

function judgeVendor(slug: string, now: readonly Outcome[], then: readonly Outcome[]): ProofResult {
  const isOf = ({ name }: Outcome) => name.startsWith(`${slug}: `)
  const ofNow = now.filter(isOf)
  const broken = ofNow.filter(({ isPassed }) => !isPassed)
  const ofThen = then.filter(isOf).filter(({ isPassed }) => !isPassed)
  const isSeen = !failedBefore.has(slug) || ofThen.length > 0
  const isHeld = ofNow.length > 0 && broken.length === 0
  return {
    status: isHeld && isSeen ? 'PASS' : 'FAIL',
    figures: [
      `${ofNow.length} tests hold but for ${broken.length}`,
      ...broken.map(({ name, message }) => `DOES NOT HOLD: ${name}: ${message}`),
      ...ofThen.map(({ name, message }) => `failed before: ${name}: ${message}`),
      ...(isSeen ? [] : ['DID NOT FAIL BEFORE']),
    ],
  }
}

/** The SDKs of PyPI, and those of npm that are too large for everybody: installed for this run. */
async function resultsOfInstalled(): Promise<Map<string, ProofResult>> {
  const packages = createPackages()
  try {
    const results = new Map<string, ProofResult>()
    for (const registry of ['npm', 'python'] as const) {
      const chosen = vendors.filter((vendor) => !isInSuite(vendor) && vendor.sdk.registry === registry)
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
  chosen: readonly Vendor[],
): Promise<[string, ProofResult][]> {
  const versions = Object.assign({}, ...chosen.map(({ sdk }) => sdk.versions)) as Record<string, string>
  const { folder, reason } = await packages.install({ name: `vendor-sdks-${registry}`, registry, versions })
  if (folder === null) return chosen.map(({ slug }) => [slug, notRun(reason)])
  const programs = join(folder, 'programs')
  cpSync(join(rootFolder, 'test/vendor-sdks/programs'), programs, { recursive: true })
  const world = await startVendorWorld(chosen)
  try {
    await world.runPrograms(
      registry === 'npm'
        ? [process.execPath, '--no-env-file', join(programs, 'run.ts')]
        : [join(folder, 'bin/python'), join(programs, 'run.py')],
    )
    const results: [string, ProofResult][] = []
    for (const vendor of chosen) {
      const lines = judge(await world.compareVendor(vendor), vendor.differences)
      results.push([vendor.slug, { status: lines.length === 0 ? 'PASS' : 'FAIL', figures: lines }])
    }
    return results
  } finally {
    await world.stop()
  }
}
