import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'
import type { Schemas } from './openapi.gen.ts'

export type Key = Schemas['Key']

const keysMax = 100

/** The keys of the organization, the disabled ones too. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }) => {
    const keys: Key[] = []
    // A page a call; an organization with more than ten thousand keys sees the first of them.
    for (let offset = 0; offset < 100 * keysMax; offset += keysMax) {
      const { data } = await call('GET /keys', {
        query: { include_disabled: 'true', kind: 'all', offset, limit: keysMax },
        signal,
      })
      keys.push(...data)
      if (data.length < keysMax) break
    }
    return keys
  },
})
