import { useLocation } from '@tanstack/react-router'

/** A list as it was when a row of it was followed. */
interface ListPlace {
  path: string
  search: Readonly<Record<string, unknown>>
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The list whose row led here; the entry before this one. */
    list?: ListPlace
  }
}

/** The page that is shown, with its filters. */
export function usePlace(): ListPlace {
  const { pathname, search } = useLocation()
  return { path: pathname, search }
}

/** The filters of the list at `path` when a row of it led to this page; null when the visit began otherwise. */
export function useListBefore(path: string | null): ListPlace['search'] | null {
  const { list } = useLocation().state
  return list !== undefined && list.path === path ? list.search : null
}
