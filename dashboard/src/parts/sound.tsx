import { useEffect, useState } from 'react'

const barWidth = 2
const gap = 1
const height = 32
const shownMax = 320

/** How loud a recording is over its time. A picture: what it shows is also said by its length. */
export function Peaks({ peaks, label }: { peaks: readonly number[]; label: string }) {
  const step = Math.max(1, Math.ceil(peaks.length / shownMax))
  const shown = peaks.filter((_, index) => index % step === 0)
  const width = Math.max(1, shown.length * (barWidth + gap))
  return (
    <svg
      className="peaks"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="xMinYMid meet"
    >
      {shown.map((peak, index) => {
        const size = Math.max(2, peak * height)
        return (
          <rect
            key={index}
            x={index * (barWidth + gap)}
            y={(height - size) / 2}
            width={barWidth}
            height={size}
            rx={1}
          />
        )
      })}
    </svg>
  )
}

/** An address of the bytes for as long as the component lives. */
export function useBlobUrl(blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (blob === null) {
      setUrl(null)
      return
    }
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}
