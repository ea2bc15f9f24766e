import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import { useShownTheme } from '../app/theme.ts'
import { useZone } from './values.tsx'

export interface Series {
  name: string
  /** A token: `--s1`. */
  colour: string
  values: readonly (number | null)[]
}

interface ChartProps {
  /** What it shows, for who does not see it. The figures stand in a table behind it. */
  label: string
  /** The beginnings of the buckets, ISO 8601. */
  buckets: readonly string[]
  series: readonly Series[]
  kind: 'bars' | 'lines'
  format: (value: number) => string
  /** Whether the last bucket is not over yet; it is hatched. */
  isLastOpen: boolean
  height?: number
  onBucket?: (index: number) => void
}

/** Charts with the same name share their crosshair. */
const crosshair = uPlot.sync('headrace')

/** Stacked bars for sums, or lines for rates, on a baseline of zero. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useShownTheme()
  const zone = useZone()
  const { buckets, series, kind, height = 180, label } = props
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const element = place.current
    if (element === null || buckets.length === 0) return
    const colour = (name: string) => resolve(element, name)
    const stacked = kind === 'bars' ? stack(series) : series.map(({ values }) => values)
    // The whole stack is drawn first and each part of it before the part that it covers.
    const order =
      kind === 'bars' ? series.map((_, index) => series.length - 1 - index) : series.map((_, index) => index)
    const data = [buckets.map((at) => Date.parse(at) / 1000), ...order.map((index) => stacked[index] ?? [])]
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
        legend: { show: false },
        cursor: {
          sync: { key: crosshair.key },
          drag: { x: false, y: false },
          points: { show: kind === 'lines' },
          y: false,
        },
        padding: [8, 8, 0, 0],
        scales: {
          x: { time: true, range: (_, low, high) => widened(low, high, buckets) },
          y: { range: (_, __, high) => [0, high > 0 ? high * 1.08 : 1] },
        },
        axes: [
          {
            ...axis(colour, { size: 28, space: 72 }),
            grid: { show: false },
            values: (_, ticks) => ticks.map((tick) => tickWords(tick, zone)),
          },
          {
            ...axis(colour, { size: 64, space: 36 }),
            values: (_, ticks) => ticks.map((tick) => latest.current.format(tick)),
          },
        ],
        series: [
          {},
          ...order.map((index) => ({
            label: series[index]?.name ?? '',
            ...drawing(kind, colour(series[index]?.colour ?? '--s7')),
          })),
        ],
        hooks: {
          draw: [
            (drawn) => latest.current.isLastOpen && kind === 'bars' && hatch(drawn, colour('--surface')),
          ],
        },
      },
      data as unknown as uPlot.AlignedData,
      element,
    )
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    const click = () => {
      const index = chart.cursor.idx
      if (index !== null && index !== undefined) latest.current.onBucket?.(index)
    }
    chart.over.addEventListener('click', click)
    return () => {
      resized.disconnect()
      chart.destroy()
    }
  }, [buckets, series, kind, height, theme, zone])
  return (
    <div
      ref={place}
      className={`chart ${props.onBucket === undefined ? '' : 'opens'}`}
      role="img"
      aria-label={label}
      style={{ height }}
    />
  )
}

/** Each series on top of those before it. */
function stack(series: readonly Series[]): number[][] {
  const sums: number[] = []
  return series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0)
      sums[index] = sum
      return sum
    }),
  )
}

const barShare = 0.72
const barWidthMax = 40

function drawing(kind: ChartProps['kind'], colour: string): uPlot.Series {
  // Points, because a bucket between two gaps has no line.
  if (kind === 'lines')
    return {
      stroke: colour,
      width: 1.5,
      spanGaps: false,
      points: { show: true, size: 4, fill: colour, width: 0 },
    }
  const bars = uPlot.paths.bars?.({ size: [barShare, barWidthMax] })
  return {
    stroke: colour,
    fill: colour,
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  }
}

/** `16:00`, or the day where one begins. */
function tickWords(seconds: number, zone: string): string {
  const date = new Date(seconds * 1000)
  const time = date.toLocaleTimeString('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })
  if (time !== '00:00') return time
  return date.toLocaleDateString('en-GB', { timeZone: zone, day: 'numeric', month: 'short' })
}

function axis(colour: (name: string) => string, given: { size: number; space: number }): uPlot.Axis {
  return {
    ...given,
    font: '12px Inter, system-ui, sans-serif',
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
}

/** Half a bucket of room at both ends, so that the first and the last bar are whole. */
function widened(low: number, high: number, buckets: readonly string[]): [number, number] {
  const step = buckets.length > 1 ? (high - low) / (buckets.length - 1) : 3600
  return [low - step * 0.6, high + step * 0.6]
}

const hatchStepPx = 6

/** Lines across the last bar: its bucket is not over. */
function hatch(chart: uPlot, colour: string): void {
  const times = chart.data[0]
  const last = times.at(-1)
  const before = times.at(-2)
  if (last === undefined) return
  const { ctx, bbox } = chart
  const centre = chart.valToPos(last, 'x', true)
  const step = before === undefined ? bbox.width : centre - chart.valToPos(before, 'x', true)
  const half = Math.min(step * barShare, barWidthMax * devicePixelRatio) / 2 + 1
  const highest = Math.max(0, ...chart.data.slice(1).map((values) => values.at(-1) ?? 0))
  const top = chart.valToPos(highest, 'y', true)
  ctx.save()
  ctx.beginPath()
  // No higher than the bar: the lines of the axis stay whole.
  ctx.rect(centre - half, top, half * 2, bbox.top + bbox.height - top)
  ctx.clip()
  ctx.strokeStyle = colour
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.beginPath()
  for (let at = -bbox.height; at < half * 2 + bbox.height; at += hatchStepPx * devicePixelRatio) {
    ctx.moveTo(centre - half + at, bbox.top + bbox.height)
    ctx.lineTo(centre - half + at + bbox.height, bbox.top)
  }
  ctx.stroke()
  ctx.restore()
}

/** The colour of a token as a canvas takes it. */
function resolve(element: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
