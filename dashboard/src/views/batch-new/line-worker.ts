import type { LineReport } from '../../values/line-check.ts'
import type { WorkerNews, WorkerTask } from './line-check.worker.ts'

// The address is built into a path of this origin; the policy wants it to be said so.
const policy = window.trustedTypes?.createPolicy('headrace-worker', {
  createScriptURL: (url: string) => url,
})

function startWorker(): Worker {
  const url = new URL('./line-check.worker.js', import.meta.url).href
  return new Worker((policy?.createScriptURL(url) ?? url) as string, { type: 'module' })
}

export interface CheckProgress {
  bytes: number
  lines: number
  faultCount: number
}

/** Runs a task in a worker of its own, which ends with it or with the signal. */
export function runLineTask(
  task: WorkerTask,
  given: { signal: AbortSignal; onProgress: (progress: CheckProgress) => void },
): Promise<{ report: LineReport; body: Blob | null }> {
  return new Promise((resolve, reject) => {
    const worker = startWorker()
    const end = (finish: () => void) => {
      worker.terminate()
      finish()
    }
    given.signal.addEventListener(
      'abort',
      () => end(() => reject(new DOMException('Stopped', 'AbortError'))),
      {
        once: true,
      },
    )
    worker.onerror = ({ message }) => end(() => reject(new Error(message || 'the worker did not start')))
    worker.onmessage = ({ data }: MessageEvent<WorkerNews>) => {
      if (data.type === 'progress') given.onProgress(data)
      else if (data.type === 'failed') end(() => reject(new Error(data.message)))
      else end(() => resolve({ report: data.report, body: data.type === 'packed' ? data.body : null }))
    }
    worker.postMessage(task)
  })
}
