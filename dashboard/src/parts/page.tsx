import { Link, useRouter } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { Stale, type Readable } from './reading.tsx'
import { useListBefore } from './way-back.ts'

/** The head of a page; its title is also that of the tab. */
export function PageHead({
  title,
  back,
  children,
  beside,
  of: query,
}: {
  title: string
  back?: { to: string; word: string }
  children?: ReactNode
  beside?: ReactNode
  /** What the page reads; its head says when that is old. */
  of?: Readable<unknown>
}) {
  useEffect(() => {
    document.title = `${title} · Headrace`
  }, [title])
  return (
    <div className="page-head">
      {back && <Back {...back} />}
      <h1>{title}</h1>
      {beside}
      {query && <Stale of={query} />}
      {children !== undefined && <div className="page-actions">{children}</div>}
    </div>
  )
}

/** To the list, with the filters and at the place that a row of it was followed from. */
function Back({ to, word }: { to: string; word: string }) {
  const { history } = useRouter()
  const search = useListBefore(to)
  return (
    <Link
      to={to}
      {...(search !== null && { search })}
      className="page-back"
      aria-label={word}
      title={word}
      onClick={(event) => {
        const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
        if (search === null || isElsewhere) return
        event.preventDefault()
        history.back()
      }}
    >
      <ChevronLeft size={18} aria-hidden />
    </Link>
  )
}

/** A part of a page with a heading above a hairline. */
export function Panel({
  title,
  actions,
  of: query,
  children,
}: {
  title: ReactNode
  actions?: ReactNode
  /** What the panel reads; its head says when that is old. */
  of?: Readable<unknown>
  children: ReactNode
}) {
  return (
    <section className="panel">
      <div className="panel-head">
        <h2>{title}</h2>
        {query && <Stale of={query} />}
        {actions !== undefined && <div className="panel-actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}

/** What stands where nothing is yet, with the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** A place of the final height while something is read; it shows after 150 ms. Panels below it come with what it stands for. */
export function Skeleton({ height, label = 'Loading' }: { height: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="reading">
      <div className="skeleton" style={{ height }} />
    </div>
  )
}

/** Rows of the final height while a table is read. */
export function SkeletonRows({ rows = 8, height = 36 }: { rows?: number; height?: number }) {
  return (
    <div role="status" aria-label="Loading" className="reading">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} style={{ height }} className="skeleton-row">
          <div className="skeleton" />
        </div>
      ))}
    </div>
  )
}
