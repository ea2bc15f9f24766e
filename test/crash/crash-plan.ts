/** Right before a commit point or right after it. */
export type When = 'before' | 'after'

/** A commit point and the side of it on which a process ends. */
export interface CrashSite {
  point: string
  when: When
}

/** A site at which a process is to end, once it has passed it `skip` times. */
export interface ArmedSite extends CrashSite {
  skip: number
}

/** What a test gateway does to itself. */
export interface CrashPlan {
  /** The first of these to be reached kills the process. */
  armed: readonly ArmedSite[]
  /** File to which the site that killed the process is appended; null when nobody asks. */
  report: string | null
  /** In place of the database's clock, in SQL; null for the real one. */
  nowExpression: string | null
  /** How long every durable commit takes in addition. */
  fsyncDelayMs: number
}

/** Nothing happens. */
export const noCrash: CrashPlan = { armed: [], report: null, nowExpression: null, fsyncDelayMs: 0 }

/** The plan in an environment variable; nothing happens without one. */
export function parsePlan(text: string | undefined): CrashPlan {
  return text ? { ...noCrash, ...(JSON.parse(text) as Partial<CrashPlan>) } : noCrash
}

/** A site as one word. */
export function keyOfPoint({ point, when }: CrashSite): string {
  return `${point} ${when}`
}
