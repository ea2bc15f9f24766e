import { useEffect, useState } from 'react'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { read, type Page, type RequestRow } from '../../api/headrace.ts'

const everyMs = 1000
const keptMax = 200

/** The calls that end from now on, by the same filters as the list. Sleeps while nobody sees the tab. */
export function useTail(
  query: Readonly<Record<string, string>>,
  isOn: boolean,
): { rows: readonly RequestRow[]; failure: ApiFailure | null } {
  const [rows, setRows] = useState<readonly RequestRow[]>([])
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const filters = JSON.stringify(query)
  useEffect(() => {
    setRows([])
    setFailure(null)
    if (!isOn) return
    const controller = new AbortController()
    let cursor: string | null = null
    let timer: ReturnType<typeof setTimeout>
    const ask = async () => {
      if (!document.hidden) {
        try {
          const page: Page<RequestRow> = await read<Page<RequestRow>>(
            '/headrace/requests',
            { ...withoutTimes(filters), order: 'asc', limit: 100, ...(cursor === null ? {} : { cursor }) },
            controller.signal,
          )
          cursor = page.next_cursor ?? cursor
          if (page.data.length > 0) setRows((before) => [...page.data, ...before].slice(0, keptMax))
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

function withoutTimes(filters: string): Record<string, string> {
  const query = JSON.parse(filters) as Record<string, string>
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'from' && name !== 'to'))
}
