import { ApiError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { audioJobsMax } from '../limits.ts'
import type { Heard } from './hearing.ts'

/** The result of listening: words, or the reason for none. */
export type Listened = { heard: Heard } | { failure: string }

/** A posted file that was heard already, so its bytes are not needed again. */
export interface AudioUpload {
  api: string
  /** The address or id by which jobs name the file. */
  name: string
  listened: Listened
}

/** A running job; each poll advances it. */
export interface AudioJob {
  id: string
  /** Slug of the API that has the job. */
  api: string
  createdAtMs: number
  /** The request as the API has read it. */
  request: unknown
  /** Name of the upload that the job reads; null for an address. */
  uploadName: string | null
  /** Resolves when the job could be finished; a fault's `failure` is available at once. */
  work: Promise<Listened>
  /** The result of `work`, once it is known. */
  listened: Listened | null
  /** The number of polls so far. */
  looks: number
  /** The job never ends. */
  isEndless: boolean
  isRemoved: boolean
}

/** The state of a job. */
export type JobStage = 'queued' | 'running' | 'ended'

/** The jobs and uploads of one mount, of all its APIs. */
export interface AudioJobs {
  keep(upload: AudioUpload): void
  uploadOf(api: string, name: string): AudioUpload | null
  begin(job: Omit<AudioJob, 'createdAtMs' | 'looks' | 'listened' | 'isRemoved'>): AudioJob
  /** The job with this id, even a removed one; null when there never was such a job. */
  find(api: string, id: string): AudioJob | null
  /** All jobs of an API, the newest first, removed ones included. */
  list(api: string): AudioJob[]
  /** Deletes the job's content and the upload that it reads. */
  remove(job: AudioJob): void
  /** The counts for tests: created resources, and those that still exist. */
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
 * One poll of the job: `queued` at the first, then `running`, and `ended` after a number of polls. A job runs
 * at least until its sound is recognised, whatever the number of polls.
 */
export async function lookAt(job: AudioJob, looksBeforeEnd: number): Promise<JobStage> {
  job.looks += 1
  if (job.isEndless) return job.looks === 1 ? 'queued' : 'running'
  if (job.looks <= looksBeforeEnd) return job.looks === 1 ? 'queued' : 'running'
  await job.work
  return 'ended'
}

/** The result that the faults of the creating request force; null when there are none. */
export function faultyWork({ jobError }: Faults): Promise<Listened> | null {
  return jobError === undefined ? null : Promise.resolve({ failure: jobError })
}

/** The words without every n-th one, like a provider whose word list lacks words of its text. */
export function withLosses<Word>(words: readonly Word[], { loseWords }: Faults): Word[] {
  if (loseWords === undefined) return [...words]
  return words.filter((_, index) => (index + 1) % loseWords !== 0)
}
