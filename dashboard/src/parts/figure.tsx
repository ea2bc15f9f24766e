import type { ReactNode } from 'react'

/** A figure of a `dl.figures`: a word above it, and what it was before below. */
export function Figure({
  word,
  change,
  children,
}: {
  word: string
  change?: ReactNode
  children: ReactNode
}) {
  return (
    <div className="figure">
      <dt>{word}</dt>
      <dd>{children}</dd>
      {change !== undefined && <dd className="change">{change}</dd>}
    </div>
  )
}
