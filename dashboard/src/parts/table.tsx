import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePlace } from './way-back.ts'

/** Where a cell stands when a row has two lines, on a narrow screen. */
export type PhonePlace = 'line-1' | 'line-1-end' | 'line-2' | 'line-2-end' | 'wide-only'

export interface Column<Row> {
  key: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  phone: PhonePlace
  /** Stands before the cell on a narrow screen, which shows no header: `Started`. */
  phoneWord?: string
}

/** Rows below a hairline each. A row that leads somewhere is one link, in its first cell. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  linkOf,
  isCompact = false,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  linkOf?: (row: Row) => string | null
  isCompact?: boolean
}) {
  return (
    <div className="table-wrap">
      {/* Two lines take `display: grid`, which would take the table's meaning away; the roles keep it. */}
      <table className={`table two-lines ${isCompact ? 'compact' : ''}`} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, header, isNumber }) => (
              <th
                key={key}
                role="columnheader"
                scope="col"
                className={isNumber === true ? 'number' : undefined}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column, index) => (
                <td
                  key={column.key}
                  role="cell"
                  className={`${column.phone} ${column.isNumber === true ? 'number' : ''}`}
                >
                  {column.phoneWord !== undefined && (
                    <span className="phone-word" aria-hidden>
                      {column.phoneWord}{' '}
                    </span>
                  )}
                  <CellLink to={index === 0 ? (linkOf?.(row) ?? null) : null}>{column.cell(row)}</CellLink>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CellLink({ to, children }: { to: string | null; children: ReactNode }) {
  if (to === null) return children
  return <RowLink to={to}>{children}</RowLink>
}

/** The page that it opens knows the filters of this list, for its way back. */
function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const list = usePlace()
  return (
    <Link to={to} state={{ list }} className="row-link">
      {children}
    </Link>
  )
}
