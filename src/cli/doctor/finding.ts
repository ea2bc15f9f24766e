/** One thing that was looked at. */
export interface Finding {
  level: 'ok' | 'warning' | 'problem'
  /** What was looked at, in a word or two. */
  subject: string
  message: string
  /** The next command or step; null when nothing is to be done. */
  next: string | null
}
