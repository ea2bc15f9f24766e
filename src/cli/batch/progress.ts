import { duration } from '../amounts.ts'
import type { Paint } from '../paint.ts'

/** How often a progress bar is drawn. */
const progressEveryMs = 100

/** A progress bar for work that takes longer than a second. */
export interface Progress {
  /** Shows the progress, but redraws only from time to time. `note` follows the bar. */
  update(done: number, total: number, note?: string): void
  /** Shows the last state and ends the line. */
  end(): void
}

/** The output and the appearance of a bar. */
export interface ProgressOptions {
  write(text: string): void
  isTty: boolean
  columns: number
  paint: Paint
  /** Monotonic milliseconds. */
  nowMs(): number
  label: string
  /** Nothing is drawn before this many milliseconds, because a quick command needs no bar. 0 by default. */
  afterMs?: number
  /** Formats a count; a plain number by default. */
  show?: (count: number) => string
}

/** The share of progress after which a log gets another line. */
const logStep = 0.25

/** On a terminal one line that is redrawn; elsewhere one line at the start of each quarter. */
export function createProgress(options: ProgressOptions): Progress {
  const startedMs = options.nowMs()
  let drawnMs = -Infinity
  let nextShare = 0
  let hasDrawn = false
  let last: { done: number; total: number; note: string } | null = null

  const draw = () => {
    if (last === null) return
    hasDrawn = true
    const line = renderBar(last, { ...options, elapsedMs: options.nowMs() - startedMs })
    options.write(options.isTty ? `\r\u001b[K${line}` : `${line}\n`)
  }
  return {
    update(done, total, note = '') {
      last = { done, total, note }
      if (options.nowMs() - startedMs < (options.afterMs ?? 0)) return
      const share = total > 0 ? done / total : 0
      const isDue = options.isTty ? options.nowMs() - drawnMs >= progressEveryMs : share >= nextShare
      if (!isDue) return
      drawnMs = options.nowMs()
      nextShare = (Math.floor(share / logStep) + 1) * logStep
      draw()
    },
    end() {
      if (last === null || (!hasDrawn && options.afterMs !== undefined)) return
      if (options.isTty) {
        draw()
        options.write('\n')
      } else if (nextShare <= 1) draw()
      last = null
    },
  }
}

interface Drawing {
  columns: number
  paint: Paint
  label: string
  elapsedMs: number
  show?: (count: number) => string
}

const barWidthMax = 30

/** One line: label, bar, share, counts, time and note. A total of 0 means that it is unknown. */
export function renderBar(state: { done: number; total: number; note: string }, drawing: Drawing): string {
  const { done, total, note } = state
  const share = total > 0 ? Math.min(1, done / total) : 0
  const show = drawing.show ?? String
  const figures = `${String(Math.floor(share * 100)).padStart(3)} %  ${show(done)}/${show(total)}  ${duration(drawing.elapsedMs)}`
  const tail = note === '' ? '' : `  ${note}`
  // A terminal of unknown width reports 0.
  const columns = drawing.columns > 0 ? drawing.columns : 80
  const room = columns - drawing.label.length - figures.length - tail.length - 6
  const width = Math.max(5, Math.min(barWidthMax, room))
  const full = Math.round(share * width)
  const bar = drawing.paint.cyan('█'.repeat(full)) + drawing.paint.dim('░'.repeat(width - full))
  return `${drawing.label} ${bar} ${figures}${drawing.paint.dim(tail)}`
}
