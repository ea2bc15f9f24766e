import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Vendor, VendorSdk } from './vendor.ts'

const folder = join(import.meta.dir, '../../src/providers')
const programs = new Map(
  globSync('*/sdk-program.*', { cwd: folder }).map((file) => [dirname(file), join(folder, file)]),
)

/** Every vendor with an official SDK. */
export const vendors: readonly Vendor[] = await Promise.all(
  globSync('*/sdk.case.ts', { cwd: folder })
    .toSorted()
    .map(async (file) => {
      const { sdk } = (await import(join(folder, file))) as { sdk: VendorSdk }
      const slug = dirname(file)
      const program = programs.get(slug)
      if (program === undefined) throw new Error(`${slug} has no program of its SDK`)
      return { ...sdk, slug, program }
    }),
)

/** Whether an SDK is among this repository's own packages; the others are installed for a proof. */
export const isInSuite = ({ packages }: Vendor): boolean =>
  packages.registry === 'npm' && packages.isLarge !== true
