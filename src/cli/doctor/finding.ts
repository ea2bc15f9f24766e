/** The result of one check. */
export interface Finding {
  level: 'ok' | 'warning' | 'problem'
  /** The subject of the check, in a word or two. */
  subject: string
  message: string
  /** The next command or step; null when there is nothing to do. */
  next: string | null
}
