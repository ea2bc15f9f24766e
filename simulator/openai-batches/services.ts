import { isObject, type JsonObject } from '../json.ts'
import type { StoredBatch } from './kept-batches.ts'
import type { InputLine, LineBounds } from './lines.ts'

/** What differs between the services with OpenAI's files and batches. */
export interface OpenAiService {
  /** What a batch may be for. */
  endpoints: readonly string[]
  /** The members that the request for a batch may have. */
  members: readonly string[]
  /** The values of `completion_window`; null among them where it may be left out. */
  windows: readonly (string | null)[]
  /** Its lines may leave out method and address. */
  hasBareLines?: boolean
  /** 50,000 lines when left out. */
  bounds?: LineBounds
  /** What it has against the request of a line. */
  faultOf?(body: JsonObject): string | undefined
  /** A batch as the service shows it, made of OpenAI's form. */
  show(batch: JsonObject, stored: StoredBatch): JsonObject
}

const ofOpenAi = ['input_file_id', 'endpoint', 'completion_window', 'metadata', 'output_expires_after']

const openai: OpenAiService = {
  endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/completions'],
  members: ofOpenAi,
  windows: ['24h'],
  bounds: { lines: 50_000, texts: 50_000 },
  show: (batch) => batch,
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
const asDate = (seconds: unknown) =>
  typeof seconds === 'number' ? new Date(seconds * 1000).toISOString() : null

/**
 * Azure's pages show states with a capital, dates as text, and counts that are null at first; only deployments for batches
 * take lines, which are here those whose names say so.
 */
const azure: OpenAiService = {
  endpoints: ['/v1/chat/completions', '/v1/responses', '/chat/completions', '/responses'],
  members: ofOpenAi,
  windows: ['24h'],
  bounds: { lines: 100_000 },
  faultOf: ({ model }) =>
    String(model).includes('batch')
      ? undefined
      : `The deployment ${String(model)} is not of the type Global Batch or Data Zone Batch.`,
  show: ({ status, created_at: created, expires_at: expires, request_counts: counts, ...rest }, { ran }) => ({
    ...rest,
    status: capitalised(String(status)),
    created_at: asDate(created),
    expires_at: asDate(expires),
    request_counts: ran === null ? { total: null, completed: null, failed: null } : counts,
  }),
}

const novitaStates: Readonly<Record<string, string>> = { in_progress: 'PROGRESS', finalizing: 'PROGRESS' }

/** Novita takes no metadata, and its states are in capitals. */
const novita: OpenAiService = {
  endpoints: ['/v1/chat/completions', '/v1/completions'],
  members: ['input_file_id', 'endpoint', 'completion_window'],
  windows: ['24h', '48h'],
  hasBareLines: true,
  show: ({ status, errors, request_counts: counts, usage: _usage, model: _model, ...rest }) => ({
    ...rest,
    status: novitaStates[String(status)] ?? String(status).toUpperCase(),
    errors: isObject(errors) ? JSON.stringify(errors['data']) : '',
    metadata: {},
    ...(isObject(counts) ? counts : {}),
    request_counts: counts,
  }),
}

/** Zhipu names the operation by the version of its address, and deletes the input itself unless it is told not to. */
const zhipu: OpenAiService = {
  endpoints: ['/v4/chat/completions'],
  members: ['input_file_id', 'endpoint', 'auto_delete_input_file', 'metadata'],
  windows: [null],
  show: ({ model: _model, usage: _usage, ...rest }) => rest,
}

/** The services with OpenAI's files and batches. */
export const services = { openai, azure, novita, zhipu } satisfies Record<string, OpenAiService>

/** By the names that a mount's settings have: also those with batches of their own. */
const ownServices = ['together', 'xai', 'openrouter'] as const
export type BatchServiceName = keyof typeof services | (typeof ownServices)[number]
export const batchServiceNames = [...Object.keys(services), ...ownServices] as BatchServiceName[]

/** What differs from OpenAI's; nothing for a service with batches of its own. */
export function openAiServiceOf(name: BatchServiceName): OpenAiService {
  return Object.entries(services).find(([each]) => each === name)?.[1] ?? openai
}

/** The operation that runs lines of an endpoint: some services name it without its version. */
export function livePathOf(endpoint: string): string {
  return `/v1${endpoint.replace(/^\/v\d(?=\/)/, '')}`
}

/** Reads a line of a batch for this endpoint; null for one that is none. */
export function parseLine(text: string, endpoint: string, service: OpenAiService): InputLine | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || typeof value['custom_id'] !== 'string' || !isObject(value['body'])) return null
    const { custom_id: customId, method, url, body } = value
    const isBare = service.hasBareLines === true && method === undefined && url === undefined
    if (!isBare && (method !== 'POST' || typeof url !== 'string')) return null
    const fault = service.faultOf?.(body)
    return { customId, url: isBare ? endpoint : String(url), body, ...(fault === undefined ? {} : { fault }) }
  } catch {
    return null
  }
}
