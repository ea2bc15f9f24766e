import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ProviderRows } from './provider-rows.ts'

// A provider's rows are in its own folder, so that deleting the folder deletes them too. They are found by file name:
// this file names no provider.

const folder = join(import.meta.dir, '../../src/providers')

type ListKind = Exclude<keyof ProviderRows, 'withoutSdk'>
type RowOf<Kind extends ListKind> = NonNullable<ProviderRows[Kind]>[number] & { preset: string }

/** Every provider that has rows, by slug. */
export const rowsBySlug: ReadonlyMap<string, ProviderRows> = new Map(
  await Promise.all(
    globSync('*/rows.case.ts', { cwd: folder })
      .toSorted()
      .map(async (file) => {
        const { rows } = (await import(join(folder, file))) as { rows: ProviderRows }
        return [dirname(file), rows] as const
      }),
  ),
)

/** The rows of one kind of all providers, each with the slug of its provider. */
export function rowsOf<Kind extends ListKind>(kind: Kind): RowOf<Kind>[] {
  return [...rowsBySlug].flatMap(([preset, rows]) => {
    const found: readonly object[] = rows[kind] ?? []
    return found.map((row) => ({ preset, ...row }) as RowOf<Kind>)
  })
}
