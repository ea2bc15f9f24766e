import type { ReactNode } from 'react'

/** Large figures beside each other, each below its word. */
export function Figures({ children }: { children: ReactNode }) {
  return <dl className="figures">{children}</dl>
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
}: {
  words: readonly string[]
  hasChange?: boolean
}) {
  return (
    <div role="status" aria-label="Loading">
      <Figures>
        {words.map((word) => (
          <Figure key={word} word={word} {...(hasChange ? { change: '–' } : {})}>
            <span className="skeleton figure-place" />
          </Figure>
        ))}
      </Figures>
    </div>
  )
}
