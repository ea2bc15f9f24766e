import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'
import type { Schemas } from './openapi.gen.ts'

export type Key = Schemas['Key']

const pageSize = 100
/** An organization with more keys sees the first of them. */
const keysMax = 10_000

/** The keys of the organization, the disabled ones too. */
export const keysQuery = queryOptions({ queryKey: ['keys'], queryFn: ({ signal }) => listKeys(signal) })

export async function listKeys(signal: AbortSignal): Promise<Key[]> {
  const keys: Key[] = []
  for (let offset = 0; offset < keysMax; offset += pageSize) {
    const query = { include_disabled: 'true', kind: 'all', offset, limit: pageSize } as const
    const { data } = await call('GET /keys', { query, signal })
    keys.push(...data)
    if (data.length < pageSize) break
  }
  return keys
}
