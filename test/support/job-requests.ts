import { expect } from 'bun:test'
import type { BatchJobs } from '../../src/canonical/batch-jobs.ts'
import type { StreamedBody, UpstreamRequest } from '../../src/canonical/upstream.ts'
import { sentByAdapter, sentTo } from './sent-requests.ts'

/** The input of a job in tests. */
export const jobLines = '{"custom_id":"h1_0"}\n'

export const jobFile: StreamedBody = {
  contentLength: jobLines.length,
  open: () => new Blob([jobLines]).stream(),
}

/** A request of a job, and the call of the vendor's SDK at this origin that means the same. */
export type JobCall = readonly [
  request: UpstreamRequest | null | undefined,
  call: (origin: string) => PromiseLike<unknown>,
]

/** Fails unless each request is what the SDK sends. `base` is the path of the address that the gateway has. */
export async function expectSdkRequests(
  base: string,
  calls: readonly JobCall[],
  reply: unknown = { id: 'x', data: [] },
): Promise<void> {
  for (const [request, call] of calls) {
    if (request === null || request === undefined) throw new Error('every call has a request')
    const [sent] = await sentTo([{ body: reply }], call)
    if (sent === undefined) throw new Error('the SDK has sent something')
    expect(await sentByAdapter(base, request)).toEqual(sent)
  }
}

/** The requests for the files of a service with OpenAI's. */
export function fileRequests(jobs: BatchJobs) {
  const input = jobs.resources[`${jobs.name}.batch_input`]
  return {
    // A file that has to be announced first has no request of its own.
    upload: jobs.upload?.begin === undefined ? jobs.upload?.request('headrace-1', jobFile, null) : null,
    remove: input?.remove?.('file-1'),
    list: input?.listing?.request(null),
  }
}
