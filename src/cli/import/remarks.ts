/** The names of a list that an import shows before it only counts the rest. */
const importNamesShown = 3
import type { YamlValue } from './yaml-tree.ts'

/** A setting that was not imported, or not unchanged; never contains a secret. */
export interface Remark {
  /** The line in the YAML file; null for a row of the database. */
  line: number | null
  /** The subject: a path in the file, or a row and its column. */
  subject: string
  message: string
}

/** Collects remarks for the report. */
export class Remarks {
  readonly #found: Remark[] = []

  /** Adds a remark about a value of the file. */
  about({ line, path }: Pick<YamlValue, 'line' | 'path'>, message: string): void {
    this.#found.push({ line, subject: path, message })
  }

  /** Adds a remark about a row of the database. */
  aboutRow(subject: string, message: string): void {
    this.#found.push({ line: null, subject, message })
  }

  /** Adds a remark about many names of one row: the first few, and their number. */
  aboutNames(subject: string, names: readonly string[], message: (shown: string) => string): void {
    if (names.length === 0) return
    const shown = names.slice(0, importNamesShown).map((name) => `"${name}"`)
    const more = names.length - shown.length
    this.aboutRow(subject, message(more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')))
  }

  /** The remarks about the file by line, then those about the database by subject. */
  sorted(): readonly Remark[] {
    return this.#found.toSorted(
      (left, right) =>
        (left.line ?? lastLine) - (right.line ?? lastLine) || compare(left.subject, right.subject),
    )
  }
}

/** Rows of the database follow all lines of the file. */
const lastLine = Number.MAX_SAFE_INTEGER

/** Does not use a language's rules, so that the order is the same everywhere. */
function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** LiteLLM refuses a call with tuning that its provider does not take, unless `drop_params` is on. */
export const dropParamsReason = 'tuning that a provider does not take is left out and listed here, always'

const sentReason = '"broadcasts" sends every generation to addresses and OpenTelemetry collectors here'
/** Whose choice it is that an answer is given again. */
export const cachedReason = 'callers choose for each call here, by the header X-OpenRouter-Cache'

/** Why settings of these names are not imported, wherever they occur. */
const reasons: Readonly<Record<string, string>> = {
  drop_params: dropParamsReason,
  num_retries: 'a call has six attempts here, and what may pass is tried again',
  max_retries: 'a call has six attempts here, and what may pass is tried again',
  retry_policy: 'a call has six attempts here, and what may pass is tried again',
  retry_after: 'the provider says how long to wait, or it is 250 ms',
  timeout: 'each operation has its own time here',
  request_timeout: 'each operation has its own time here',
  stream_timeout: 'each operation has its own time here',
  allowed_fails: 'an endpoint that fails is asked last for 30 s here',
  allowed_fails_policy: 'an endpoint that fails is asked last for 30 s here',
  cooldown_time: 'an endpoint that fails is asked last for 30 s here',
  disable_cooldowns: 'an endpoint that fails is asked last for 30 s here',
  rpm: '"requests_per_minute" of a provider or of its model is the quota here',
  tpm: '"tokens_per_minute" of a provider or of its model is the quota here',
  success_callback: sentReason,
  failure_callback: sentReason,
  callbacks: sentReason,
  service_callbacks: 'metrics are at /metrics, and storage is not told of calls otherwise',
  cache: cachedReason,
  cache_params: cachedReason,
  redis_host: 'processes share their state in the database here',
  redis_port: 'processes share their state in the database here',
  redis_password: 'processes share their state in the database here',
  redis_url: 'processes share their state in the database here',
  set_verbose: 'log_level says how much is logged here',
  json_logs: 'the log is always JSON here',
  content_policy_fallbacks: 'a refused content does not lead to another model here',
  temperature: 'a request has no defaults of the operator here',
  max_tokens: 'a request has no defaults of the operator here',
  include: 'files that this one includes are not read; import their content',
  max_budget:
    'the credits of a prepaid organization limit all its calls here (npx headrace org set mode prepaid); deployments have no limit',
  budget_duration: 'credits are not renewed by themselves here; limits of keys are',
  database_url: 'give it as --database to carry keys, teams and budgets',
}

/** Reports every setting in the file that no part of the import has read. */
export function remarkUnread(file: YamlValue, remarks: Remarks): void {
  for (const value of file.unread()) {
    const name =
      value.path
        .replace(/\[\d+\]$/, '')
        .split('.')
        .at(-1) ?? ''
    const isFact = name.startsWith('supports_')
    const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
    remarks.about(
      value,
      isFact ? 'what a model can do is known here by its name' : (reason ?? 'has no counterpart here'),
    )
  }
}
