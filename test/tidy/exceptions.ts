/** A known deviation. The count may only shrink; at zero the line goes. */
export interface Exception {
  rule: string
  file: string
  count: number
  reason: string
}

/** House style §12: not a place to park new findings. */
export const exceptions: readonly Exception[] = []
