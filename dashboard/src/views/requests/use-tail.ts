import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import type { Operations, Schemas } from '../../api/openapi.gen.ts'

const everyMs = 2000
const pageSize = 50
const keptMax = 200

type LoggedRequest = Schemas['LoggedRequest']
export type RequestsQuery = Operations['GET /headrace/requests']['query']

/**
 * The calls that ended lately, by the same filters as the list. A call is written when it ends and stands where it began,
 * so the newest page is read again each time and put over what is known. Sleeps while nobody sees the tab.
 */
export function useTail(
  query: RequestsQuery,
  isOn: boolean,
): { rows: readonly LoggedRequest[]; failure: ApiFailure | null } {
  const [rows, setRows] = useState<readonly LoggedRequest[]>([])
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const filters = JSON.stringify(query)
  useEffect(() => {
    setRows([])
    setFailure(null)
    if (!isOn) return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const ask = async () => {
      if (!document.hidden) {
        try {
          const { signal } = controller
          const asked = { ...withoutTimes(filters), limit: pageSize }
          const { data } = await call('GET /headrace/requests', { query: asked, signal })
          if (data.length > 0) setRows((before) => newestFirst([...before, ...data]).slice(0, keptMax))
          setFailure(null)
        } catch (error) {
          if (controller.signal.aborted) return
          setFailure(asFailure(error))
        }
      }
      timer = setTimeout(() => void ask(), everyMs)
    }
    void ask()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [filters, isOn])
  return { rows, failure }
}

/** Each call once, the one that began last first. */
export function newestFirst(rows: readonly LoggedRequest[]): LoggedRequest[] {
  const known = new Map(rows.map((row) => [row.id, row]))
  return [...known.values()].toSorted((left, right) => right.created_at.localeCompare(left.created_at))
}

function withoutTimes(filters: string): RequestsQuery {
  const { from: _, to: __, ...query } = JSON.parse(filters) as RequestsQuery
  return query
}
