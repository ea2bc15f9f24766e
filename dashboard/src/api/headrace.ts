import { address, send } from './client.ts'

type Query = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>
>

/** Reads JSON below `/v1`. */
export async function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await send('GET', address(path, {}, query), signal === undefined ? {} : { signal })
  return (await response.json()) as T
}

/** Sends JSON below `/v1` and reads what comes back. */
export async function change<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await send(
    method,
    path,
    body === undefined ? {} : { body: JSON.stringify(body), type: 'application/json' },
  )
  const text = await response.text()
  return (text === '' ? null : JSON.parse(text)) as T
}

export type Outcome = 'answered' | 'failed' | 'refused' | 'cancelled'

export interface Session {
  id: string
  opened_by: 'link' | 'password' | 'key'
  expires_at: string
  idle_expires_at: string
  role: 'admin' | 'member' | 'viewer'
  person: {
    id: string
    email: string
    first_name: string | null
    last_name: string | null
    has_password: boolean
  }
  organization: {
    id: string
    name: string
    account_mode: 'tracked' | 'prepaid'
    is_filtered_model_catalog_enabled: boolean
  }
  playground: {
    key_id: string
    limit: number | null
    limit_remaining: number | null
    limit_reset: string | null
  } | null
  allowed: string[]
  version: string
}

export interface OpenSession {
  id: string
  is_current: boolean
  opened_by: string
  created_at: string
  last_used_at: string
  expires_at: string
  user_agent: string | null
  address: string | null
  person: { id: string; email: string; first_name: string | null; last_name: string | null }
}

export interface Member {
  id: string
  email: string
  first_name: string | null
  last_name: string | null
  role: string
  headrace: {
    role: 'admin' | 'member' | 'viewer'
    state: 'active' | 'invited' | 'key'
    has_password: boolean
    created_at: string
    joined_at: string | null
    last_used_at: string | null
    playground: { key_id: string; limit: number | null; limit_reset: string | null } | null
  }
}

export interface RequestRow {
  id: string
  generation_id: string | null
  created_at: string
  outcome: Outcome
  status: number
  error_type: string | null
  operation: string | null
  model: string | null
  provider: string | null
  provider_name: string | null
  key_id: string | null
  key_name: string | null
  user: string | null
  session_id: string | null
  batch_id: string | null
  streamed: boolean
  attempts: number
  prompt_tokens: number | null
  completion_tokens: number | null
  first_byte_ms: number | null
  total_ms: number
  cost_nanocredits: string | null
  is_estimated: boolean
}

export interface Page<Row> {
  data: Row[]
  next_cursor: string | null
  searched_to: string | null
}

export interface Mark {
  event: string
  attempt?: number
  ms: number
}

export interface Attempt {
  number: number
  deployment: string
  provider_name: string
  model: string
  outcome: 'answered' | 'failed' | 'cancelled'
  status: number | null
  error_type: string | null
  message: string | null
  started_ms: number
  headers_ms: number | null
  first_token_ms: number | null
  ended_ms: number
}

export interface Posting {
  account: string
  transaction_id: string
  kind: string
  amount_nanocredits: string
  created_at: string
  reference?: string | null
}

export interface RequestLife extends Omit<RequestRow, 'attempts'> {
  attempts: Attempt[]
  client_address: string | null
  hold: { amount_nanocredits: string } | null
  marks: Mark[]
  excluded: { provider: string; model: string; step: string; reason: string }[]
  finish_reason: string | null
  usage: {
    prompt_tokens: number
    completion_tokens: number
    cached_tokens: number
    reasoning_tokens: number
    audio_seconds: number
    characters: number
  } | null
  postings: Posting[]
  has_content: boolean
}

export interface Figures {
  cost_nanocredits: string
  charged_requests: number
  requests: number
  errors: number | null
  p50_ms: number | null
  p95_ms: number | null
  prompt_tokens: number
  completion_tokens: number
}

export interface OverTime {
  cost_nanocredits: string[]
  requests: number[]
  errors: (number | null)[]
  p50_ms: (number | null)[]
  p95_ms: (number | null)[]
}

export interface SpendGroup extends Figures {
  id: string | null
  name: string
  is_other: boolean
  over_time: OverTime
}

export interface Spend {
  from: string
  to: string
  bucket: string
  zone: string
  by: string
  buckets: string[]
  total: Figures
  before: Figures
  over_time: OverTime
  groups: SpendGroup[]
  warnings: string[]
}

/** The sums of whole days beside those of the postings themselves. */
export interface LedgerComparison {
  from: string
  to: string
  rollups_nanocredits: string
  ledger_nanocredits: string
  equals: boolean
}

export interface Deployment {
  id: string
  provider: string
  provider_name: string
  state: 'healthy' | 'failing' | 'cooling_down' | 'out' | 'unknown'
  since: string | null
  next_try_at: string | null
  last_error: { type: string; status: number | null; message: string | null; at: string } | null
  models: number
  running: number
  waiting: number
  limit: number | null
  last_30m: { requests: number; errors: number; p50_ms: number | null }
  next: string | null
}

export interface SystemState {
  version: string
  database: string
  schema_version: number
  now: string
  is_sandbox: boolean
  processes: {
    id: string
    host: string
    pid: number
    version: string
    role: string
    started_at: string
    seen_at: string
    requests_running: number
    storage_queue: number
    captures_queued: number
    log_queued: number
    log_dropped: number
  }[]
  queues: {
    batches_open: number
    items_waiting: number
    oldest_waiting_seconds: number | null
    deliveries_waiting: number
    oldest_delivery_seconds: number | null
  }
  request_log: { is_on: boolean; days: number; oldest_at: string | null }
}

export interface DoctorReport {
  checked_at: string
  problems: number
  warnings: number
  findings: { level: 'ok' | 'warning' | 'problem'; subject: string; message: string; next: string | null }[]
}

export interface Balance {
  account_mode: 'prepaid' | 'tracked'
  granted_nanocredits: string
  captured_nanocredits: string
  held_nanocredits: string | null
  balance_nanocredits: string | null
}
