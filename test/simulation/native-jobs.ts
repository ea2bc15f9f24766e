import type { JobItems, JobPlace } from '../../src/batches/lanes/native/job-contract.ts'
import type { UpstreamRequest } from '../../src/canonical/upstream.ts'
import { joinPieces } from '../../src/core/body.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { readUpstreamFailure } from '../../src/formats/upstream-errors.ts'
import type { BatchJobs } from '../../src/canonical/batch-jobs.ts'
import { messageJobs } from '../../src/formats/jobs/message-jobs.ts'
import { openAiBatchJobs } from '../../src/providers/openai/jobs.ts'
import type { UpstreamResponse } from '../../src/transport/exchange.ts'
import { answer, failed, itemCost, type Process } from './batches-world.ts'

/** A batch service as simulations use it. */
export interface SimulatedService {
  jobs: BatchJobs
  /** The path of the request that creates a job, at the simulator. */
  createPath: string
  /** Of a live request. */
  livePath: string
  model: string
  /** The member of the simulator's counters. */
  counters: string
}

export const simulatedServices = {
  openai: {
    jobs: openAiBatchJobs,
    createPath: '/v1/batches',
    livePath: '/chat/completions',
    model: 'gpt-4o-mini',
    counters: 'batches',
  },
  anthropic: {
    jobs: messageJobs,
    createPath: '/v1/messages/batches',
    livePath: '/messages',
    model: 'claude-haiku-4-5',
    counters: 'message_batches',
  },
} satisfies Record<string, SimulatedService>

/** Whether the machine of a process and the endpoint of its jobs are there. */
interface JobWorld {
  service: SimulatedService
  isAlive(): boolean
  isConfigured(): boolean
}

/** The provider of jobs in simulations: the simulator, asked over `url`. */
export function jobItemsOf(
  url: string,
  process: Process,
  { service, isAlive, isConfigured }: JobWorld,
): JobItems {
  const place: JobPlace = {
    deploymentId: 'sim',
    providerName: 'Simulated',
    credentialId: 'operator:sim',
    jobs: service.jobs,
    async send(request, { signal }) {
      const sent = await sendTo(url, request, signal, isAlive)
      // A machine that lost its power meanwhile hears no answer.
      if (!isAlive()) throw new GatewayError('provider_failed', 'the machine is off')
      return sent
    },
    readFailure: async (response) =>
      readUpstreamFailure({
        status: response.status,
        headers: response.headers,
        body: await response.readAll(65_536),
        requestedModel: '',
        parameterNames: [],
      }),
  }
  return {
    placeOf: () => (isConfigured() ? place : null),
    endpointFor: () =>
      isConfigured()
        ? { endpointId: 'sim/gpt-4o-mini', price: { price: { inputToken: 5n }, longPrices: [] } }
        : null,
    async encode(item) {
      const body = {
        ...JSON.parse(new TextDecoder().decode(item.body)),
        model: service.model,
        max_tokens: 20,
      }
      const text = JSON.stringify(body)
      if (text.includes('cannot be encoded'))
        throw new GatewayError('invalid_request', 'This item cannot be encoded.')
      return {
        path: service.livePath,
        headers: {},
        model: service.model,
        body: Buffer.from(text),
        texts: 0,
        // More than its share of what the batch may cost, by far.
        worstNanocredits: text.includes('may cost most') ? itemCost * 20n : itemCost,
      }
    },
    async charge(item, _, given) {
      if (given.status >= 400) return failed('invalid_request')
      // What an answer costs is held when it is there, as the live path covers it.
      const charged = await answer(item, process, itemCost)
      return { ...charged, response: { status_code: 200, request_id: 'req_1', body: given.body } }
    },
  }
}

async function sendTo(
  url: string,
  { method, path, headers, body }: UpstreamRequest,
  signal: AbortSignal,
  isAlive: () => boolean,
): Promise<UpstreamResponse> {
  if (!isAlive()) throw new GatewayError('provider_failed', 'the machine is off')
  let bytes: Blob | Uint8Array<ArrayBuffer> | null = null
  if (body !== null) bytes = 'open' in body ? await new Response(body.open()).blob() : joinPieces(body)
  try {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { ...headers, authorization: 'Bearer test', 'anthropic-version': '2023-06-01' },
      body: bytes,
      signal,
    })
    const whole = await response.bytes()
    let isRead = false
    return {
      status: response.status,
      headers: response.headers,
      body: {
        read: async () => {
          if (isRead) return { done: true, value: undefined }
          isRead = true
          return { done: false, value: whole }
        },
        cancel: () => {},
      },
      readAll: async () => whole,
    }
  } catch (cause) {
    throw new GatewayError('provider_failed', 'The provider cannot be reached.', { cause })
  }
}
