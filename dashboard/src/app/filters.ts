import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** The query of the address: what a page shows of all there is. It survives a reload and can be sent to a colleague. */
export type Filters = Readonly<Record<string, string>>

/** The filters of the address, and a way to change some; an empty value takes a filter away. */
export function useFilters(): [Filters, (changes: Readonly<Record<string, string | null>>) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const filters = Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  )
  const set = useCallback(
    (changes: Readonly<Record<string, string | null>>) => {
      void navigate({
        to: '.',
        replace: true,
        resetScroll: false,
        search: (before: Record<string, unknown>) =>
          Object.fromEntries(
            Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== ''),
          ),
      } as never)
    },
    [navigate],
  )
  return [filters, set]
}
