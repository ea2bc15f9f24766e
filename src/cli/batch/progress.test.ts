import { expect, test } from 'bun:test'
import { createPaint, widthOf } from '../paint.ts'
import { createProgress, renderBar } from './progress.ts'

const paint = createPaint(false, {})

function recorded(isTty: boolean, afterMs?: number) {
  const written: string[] = []
  const clock = { nowMs: 0 }
  const progress = createProgress({
    write: (text) => void written.push(text),
    isTty,
    columns: 80,
    paint,
    nowMs: () => clock.nowMs,
    label: 'batch',
    ...(afterMs === undefined ? {} : { afterMs }),
  })
  return { written, clock, progress }
}

test('a bar is as long as its share, and never wider than the terminal', () => {
  for (const columns of [30, 60, 200]) {
    const line = renderBar({ done: 25, total: 100, note: '' }, { columns, paint, label: 'x', elapsedMs: 0 })
    expect(line).toContain(' 25 %  25/100')
    if (columns > 30) expect(widthOf(line)).toBeLessThan(columns)
  }
  const over = renderBar({ done: 5, total: 4, note: '' }, { columns: 80, paint, label: 'x', elapsedMs: 0 })
  expect(over).toContain('100 %')
})

test('a total that is not known yet shows no share', () => {
  const line = renderBar(
    { done: 0, total: 0, note: 'validating' },
    { columns: 80, paint, label: 'x', elapsedMs: 0 },
  )
  expect(line).toContain('  0 %  0/0')
})

test('on a terminal one line is drawn over itself, at most ten times a second', () => {
  const { written, clock, progress } = recorded(true)
  for (let step = 0; step <= 100; step++) {
    clock.nowMs += 10
    progress.update(step, 100)
  }
  progress.end()
  expect(written.length).toBeLessThan(15)
  expect(written.every((text) => text === '\n' || text.startsWith('\r'))).toBe(true)
  expect(written.at(-1)).toBe('\n')
  expect(written.at(-2)).toContain('100/100')
})

test('in a log each quarter is one line, and the end is always there', () => {
  const { written, progress } = recorded(false)
  for (let step = 0; step <= 1_000; step++) progress.update(step, 1_000)
  progress.end()
  expect(written).toHaveLength(5)
  expect(written.at(-1)).toContain('1000/1000')
})

test('a log also shows at which share an interrupted transfer stopped', () => {
  const { written, progress } = recorded(false)
  progress.update(1, 10)
  progress.update(4, 10)
  progress.update(4, 10, 'cancelled')
  progress.end()
  expect(written.at(-1)).toContain('4/10')
  expect(written.at(-1)).toContain('cancelled')
})

test('a quick transfer draws no bar', () => {
  const { written, clock, progress } = recorded(true, 1_000)
  clock.nowMs = 900
  progress.update(10, 10)
  progress.end()
  expect(written).toEqual([])
})
