import type { ReactNode } from 'react'

/** Large figures beside each other, each below its word; those of a sum have every digit. */
export function Figures({ isSum = false, children }: { isSum?: boolean; children: ReactNode }) {
  return <dl className={isSum ? 'figures sum' : 'figures'}>{children}</dl>
}

export function Figure({
  word,
  change,
  children,
}: {
  word: string
  /** What it was before, or else. */
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

/** Figures that are still read: their words stand already, so that only the values come. */
export function FiguresPlace({
  words,
  hasChange = false,
  isSum = false,
}: {
  words: readonly string[]
  hasChange?: boolean
  isSum?: boolean
}) {
  return (
    <div role="status" aria-label="Loading">
      <Figures isSum={isSum}>
        {words.map((word) => (
          <Figure key={word} word={word} {...(hasChange ? { change: '–' } : {})}>
            <span className="skeleton figure-place" />
          </Figure>
        ))}
      </Figures>
    </div>
  )
}
