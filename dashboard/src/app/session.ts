import { queryOptions, useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { call } from '../api/client.ts'
import type { Schemas } from '../api/openapi.gen.ts'

export type Session = Schemas['Session']

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await call('GET /headrace/session', { signal })).data,
  staleTime: 60_000,
})

export const SessionContext = createContext<Session | null>(null)

/** Who is signed in. Only below the gate, where somebody is. */
export function useSession(): Session {
  const session = use(SessionContext)
  const { data } = useQuery({ ...sessionQuery, enabled: session !== null })
  if (session === null) throw new Error('nobody is signed in')
  return data ?? session
}

/** Whether the server lets this person call an operation, such as `POST /keys`. */
export function useMay(): (operation: string) => boolean {
  const { allowed } = useSession()
  const set = new Set(allowed)
  return (operation) => set.has('*') || set.has(operation)
}
