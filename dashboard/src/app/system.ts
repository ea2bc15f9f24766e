import { queryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'

/** The state of the gateway: its version, its processes, and whether the simulator answers. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }) => (await call('GET /headrace/system', { signal })).data,
  staleTime: 60_000,
  retry: false,
})
