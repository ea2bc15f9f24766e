import { ApiError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { audioJobsMax } from '../limits.ts'
import type { Heard } from './hearing.ts'

/** What listening came to: words, or why there are none. */
export type Listened = { heard: Heard } | { failure: string }

/** A file that somebody has posted, heard already: nobody reads its bytes again. */
export interface AudioUpload {
  api: string
  /** Its address or id, by which jobs name it. */
  name: string
  listened: Listened
}

/** A job as it goes on: it advances whenever somebody looks at it. */
export interface AudioJob {
  id: string
  /** Slug of the API that has it. */
  api: string
  createdAtMs: number
  /** What was asked for, as the API has read it. */
  request: unknown
  /** Name of the upload that it was made of; null for an address. */
  uploadName: string | null
  /** Resolves when the job could be done; `failure` of a fault is there at once. */
  work: Promise<Listened>
  /** What `work` came to, once it has. */
  listened: Listened | null
  /** How often its state was asked for. */
  looks: number
  /** It never comes to an end. */
  isEndless: boolean
  isRemoved: boolean
}

/** How far a job is. */
export type JobStage = 'queued' | 'running' | 'ended'

/** The jobs and uploads of one mount, of all the APIs that have such. */
export interface AudioJobs {
  keep(upload: AudioUpload): void
  uploadOf(api: string, name: string): AudioUpload | null
  begin(job: Omit<AudioJob, 'createdAtMs' | 'looks' | 'listened' | 'isRemoved'>): AudioJob
  /** The job with this id, also a removed one; null when there never was one. */
  find(api: string, id: string): AudioJob | null
  /** All of an API, the newest first, also removed ones. */
  list(api: string): AudioJob[]
  /** Its content is gone, and the upload that it was made of. */
  remove(job: AudioJob): void
  /** What a test counts: what was made, and what of it is still there. */
  counts(): Record<string, number>
  clear(): void
}

export function createAudioJobs(): AudioJobs {
  const uploads = new Map<string, AudioUpload>()
  const jobs = new Map<string, AudioJob>()
  let uploadsMade = 0
  return {
    keep(upload) {
      if (uploads.size >= audioJobsMax) throw full()
      uploadsMade += 1
      uploads.set(`${upload.api} ${upload.name}`, upload)
    },
    uploadOf: (api, name) => uploads.get(`${api} ${name}`) ?? null,
    begin(begun) {
      if (jobs.size >= audioJobsMax) throw full()
      const job: AudioJob = { ...begun, createdAtMs: Date.now(), looks: 0, listened: null, isRemoved: false }
      void job.work.then((listened) => (job.listened = listened))
      jobs.set(`${job.api} ${job.id}`, job)
      return job
    },
    find: (api, id) => jobs.get(`${api} ${id}`) ?? null,
    list: (api) => [...jobs.values()].filter((job) => job.api === api).toReversed(),
    remove(job) {
      job.isRemoved = true
      uploads.delete(`${job.api} ${job.uploadName}`)
    },
    counts: () => ({
      jobs_made: jobs.size,
      jobs_left: [...jobs.values()].filter(({ isRemoved }) => !isRemoved).length,
      uploads_made: uploadsMade,
      uploads_left: uploads.size,
    }),
    clear() {
      uploads.clear()
      jobs.clear()
      uploadsMade = 0
    },
  }
}

function full(): ApiError {
  return new ApiError({
    status: 503,
    message: 'The simulator has too many jobs; POST /admin/reset forgets them.',
  })
}

/**
 * Somebody looks at the job: `queued` at the first look, then `running`, and `ended` after so many looks. It takes as
 * long as listening takes, whatever the number of looks.
 */
export async function lookAt(job: AudioJob, looksBeforeEnd: number): Promise<JobStage> {
  job.looks += 1
  if (job.isEndless) return job.looks === 1 ? 'queued' : 'running'
  if (job.looks <= looksBeforeEnd) return job.looks === 1 ? 'queued' : 'running'
  await job.work
  return 'ended'
}

/** What becomes of a job by the faults of the request that made it; null where they leave it alone. */
export function faultyWork({ jobError }: Faults): Promise<Listened> | null {
  return jobError === undefined ? null : Promise.resolve({ failure: jobError })
}

/** The same words without every so manyth, as a provider loses them that still has them in its text. */
export function withLosses<Word>(words: readonly Word[], { loseWords }: Faults): Word[] {
  if (loseWords === undefined) return [...words]
  return words.filter((_, index) => (index + 1) % loseWords !== 0)
}
