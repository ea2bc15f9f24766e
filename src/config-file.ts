import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { modalityNames } from './canonical/operation.ts'
import { usageTokensMax } from './core/limits/billing.ts'
import { describeFault } from './json/faults.ts'
import { broadcastsSchema } from './config-broadcasts.ts'
import { headerName, headerValue } from './config-headers.ts'
import { identitySchema } from './config-identity.ts'
import { namesShape } from './config-names.ts'
import { pricesSchema } from './config-prices.ts'
import { describeIssue } from './formats/schema-issue.ts'

/** The least memory for bodies that an operator may set. */
const bodyMemoryMegabytesMin = 64
const commitDelayMsMax = 100
const requestLogDaysMax = 3_650

/** Longest time of a transcription in seconds, as the operator may set it: from a short voice message to a day of sound on a slow machine. */
const transcriptionSecondsMin = 5
const transcriptionSecondsMax = 86_400

const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use lower-case letters, digits, ".", "_" and "-"')
/** An address of a server. */
// Paths of operations are put behind it.
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
  .refine((url) => !/[?#]/.test(url), {
    error: 'must end with the version; what follows a "?" goes into "query"',
  })

const count = z.int().positive()
const quota = z.int().positive().max(1_000_000_000).optional()
const audioSchema = z
  .strictObject({
    verbose_json: z.boolean().optional().describe('It takes `verbose_json`, with times of segments'),
    word_times: z.boolean().optional().describe('It times words'),
    diarize: z.boolean().optional().describe('It takes `diarize` and tells speakers apart'),
    segment_speakers: z
      .boolean()
      .optional()
      .describe('It tells the speaker of each segment, but of no word, so that `diarize` is refused'),
    keyterms: z
      .union([
        z.boolean(),
        z.strictObject({
          count_max: count.optional().describe('Most terms of one call'),
          characters_max: count.optional().describe('Most characters of one term'),
          words_max: count.optional().describe('Most words of one term'),
          tokens_max: count.optional().describe('Most tokens of all terms together'),
          forbidden: z.string().max(64).optional().describe('Characters that no term may contain'),
        }),
      ])
      .optional()
      .describe('It takes `keyterms`: true, or with these bounds'),
    upload_formats: z
      .array(z.enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac', 'pcm']))
      .min(1)
      .optional()
      .describe(
        'Formats of files that it transcribes; all by default. Without `pcm` such samples are sent as WAV',
      ),
    upload_bytes_max: count.optional().describe('Most bytes of a file to transcribe'),
    audio_seconds_max: count.optional().describe('Longest audio to transcribe'),
    languages: z
      .array(z.string().regex(/^[a-z]{2}$/))
      .min(1)
      .optional()
      .describe('Languages that callers may name, as codes of two letters; all by default'),
    speech_formats: z
      .array(z.enum(['mp3', 'pcm', 'opus', 'aac', 'flac']))
      .min(1)
      .optional()
      .describe(
        'Formats that it gives itself; `mp3` and `pcm` by default, and where only one of the two is named the gateway makes the other of it',
      ),
    speed: z
      .strictObject({ min: z.number().positive(), max: z.number().positive() })
      .optional()
      .describe('The range of `speed`; by default it takes none'),
    input_characters_max: count.optional().describe('Most characters to speak at once'),
    voices: z.array(z.string().min(1)).min(1).optional().describe('Shown in the list of models'),
    default_voice: z.string().min(1).optional().describe('Sent where the caller names none'),
  })
  .describe('What an audio model can do. What is left out is taken from its name.')

const modelSchema = z.strictObject({
  id: z.string().min(1).max(256).describe('Public id, such as acme/large'),
  upstream: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The name the provider knows; by default what it lists by this id, else the part after the author',
    ),
  modality: z
    .enum(modalityNames)
    .optional()
    .describe(
      'What the model does; by default what its server tells, at a known provider what its name does, else language',
    ),
  prices: pricesSchema.optional(),
  audio: audioSchema.optional(),
  context_length: z.int().positive().optional(),
  output_tokens_max: z.int().positive().optional(),
  requests_per_minute: quota.describe(
    'The provider’s quota of requests a minute for this model, in the place of the one of the whole provider',
  ),
  tokens_per_minute: quota.describe('In the same way its quota of tokens a minute for this model'),
  batch_upstream: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'The name that the batch service of the provider knows, where that is another one: at `azure` the deployment of the type Global Batch or Data Zone Batch. Switches its batch service on for the model',
    ),
})

/** The operations of batches. */
const batchOperations = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'] as const

const batchesSchema = z
  .union([
    z.boolean(),
    z.strictObject({
      endpoints: z
        .partialRecord(z.enum(batchOperations), z.string().startsWith('/').max(256).nullable())
        .optional()
        .describe(
          'The names of operations in its batches, such as `{"/v1/chat/completions": "/chat/completions"}`; null for one that it does not run',
        ),
      items: count.optional().describe('Most items of one of its jobs'),
      bytes: count.optional().describe('Most bytes of the lines of one of its jobs'),
      texts: count.optional().describe('Most texts to embed in one of its jobs'),
      look_seconds: z
        .int()
        .min(1)
        .max(3_600)
        .optional()
        .describe('Least seconds between two looks at a job; 60 at `azure`, which asks for that'),
    }),
  ])
  .describe(
    'The batch service of the provider. `false` never uses it. `true`, or an object with what differs, uses it: a server of preset `custom` then has OpenAI’s files and batches',
  )

// It travels in a header, where anything else would fail every call after it was answered and billed.
const headerText = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[\x20-\x7e\xa0-\xff]*$/, { error: 'must be of Latin letters, digits and signs' })

const providerSchema = z.strictObject({
  id: slug.optional().describe('Unique name of this deployment; by default the preset'),
  preset: slug.describe('The provider; `custom` is any other server'),
  name: headerText.optional().describe('What callers see; by default the name of the preset'),
  base_url: httpUrl.optional(),
  api_key: z.string().min(1).optional(),
  key_form: z
    .string()
    .min(1)
    .optional()
    .describe(
      'How the key travels, where a provider has several ways: `bearer` for a token of Entra at `azure` and `azure-speech`',
    ),
  headers: z
    .record(headerName, headerValue)
    .optional()
    .describe('Sent with every request to it, such as `{"x-team": "${env:TEAM}"}`; values are never shown'),
  query: z
    .record(z.string().min(1), z.string())
    .optional()
    .describe('Added to the address of every request to it; values are never shown'),
  region: z.string().min(1).max(64).optional(),
  project: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('The project at Google to which calls belong, where the preset’s address has one'),
  identity: identitySchema.optional(),
  weight: z.number().positive().max(1000).default(1),
  concurrency: z.int().positive().max(100_000).optional().describe('Most calls at once; left out, it adapts'),
  requests_per_minute: quota.describe(
    'The provider’s quota of requests a minute. The gateway stays within it, all its processes together: other deployments are asked instead, or a call waits a moment or gets 429 with the wait',
  ),
  tokens_per_minute: quota.describe(
    'The provider’s quota of tokens a minute, of prompts and answers, in the same way. A call counts with what it is expected to use, and with what it used once it has ended',
  ),
  client: z
    .enum(['fetch'])
    .optional()
    .describe(
      'The HTTP client for requests to it: `fetch` is the runtime’s own, for a server whose answers the gateway’s stricter client refuses. Left out, the gateway’s own is used, except through an outbound proxy',
    ),
  caller_logins: z
    .boolean()
    .optional()
    .describe(
      'Take a login of the caller’s own at this provider, which comes in `Authorization` beside a key in `x-headrace-key`; such calls cost no credits. Only at the provider’s own address',
    ),
  cache_marks: z
    .boolean()
    .optional()
    .describe(
      'This server of your own takes `cache_control`: marks that callers of messages set go to it. Callers of chat completions send it what they like. Only for preset `custom`',
    ),
  max_tokens_field: z
    .enum(['max_tokens', 'max_completion_tokens'])
    .optional()
    .describe(
      'The member by which this server of your own limits output. Left out, limits of messages and responses calls go as `max_tokens`, and a chat call’s as it came. Only for preset `custom`',
    ),
  discover: z.boolean().optional().describe('Ask the provider which models it has'),
  only_models: z
    .boolean()
    .optional()
    .describe('Offer only the models of `models`; the provider is not asked'),
  models: z.array(modelSchema).default([]),
  batches: batchesSchema.optional(),
  data_policy: z
    .strictObject({ zdr: z.boolean(), trains: z.boolean(), stores: z.boolean() })
    .partial()
    .optional(),
})

/** A secret of one's own choice, as it travels in a header. */
export const secretPattern = /^[\x21-\x7e]{16,512}$/
const metricsToken = z
  .string()
  .regex(secretPattern, { error: 'must have 16 to 512 printable characters and no spaces' })

/** The configuration file, `headrace.config.json`. */
export const configFileSchema = z.strictObject({
  $schema: z.string().optional(),
  host: z.string().min(1).optional(),
  port: z.int().min(0).max(65_535).optional(),
  data: z.string().min(1).optional(),
  database_url: z.string().min(1).optional(),
  blob_url: z.string().min(1).optional(),
  base_path: z.string().optional(),
  trusted_proxies: z.array(z.string()).optional(),
  fetch_hosts: z
    .array(
      z.string().regex(/^[\w.-]+(?::\d{1,5})?$|^\[[\da-fA-F:.]+\](?::\d{1,5})?$/, {
        error: 'must be a host, or a host and a port, such as "minio.internal:9000"',
      }),
    )
    .optional()
    .describe(
      'Hosts from which media that callers name by address is fetched, and whose addresses go on to servers of your own, although they are not public, such as `minio.internal:9000`',
    ),
  callback_hosts: z
    .array(
      z.string().regex(/^[\w.-]+(?::\d{1,5})?$|^\[[\da-fA-F:.]+\](?::\d{1,5})?$/, {
        error: 'must be a host, or a host and a port, such as "hooks.internal:9000"',
      }),
    )
    .optional()
    .describe(
      'Hosts to which the events of batches may be posted (`callback_url`) although they are not public, also without TLS, such as `hooks.internal:9000`',
    ),
  batch_items_max: z
    .int()
    .min(1)
    .optional()
    .describe('Items of one batch; a larger one is 413. No limit but the 200 MB of a body when left out'),
  batch_queued_items_max: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Items of one organization that its batches still have to run; a batch beyond that is 429 until some have ended. No limit when left out',
    ),
  transcription_timeout_seconds: z
    .int()
    .min(transcriptionSecondsMin)
    .max(transcriptionSecondsMax)
    .optional()
    .describe(
      'Longest time of a transcription, from when its audio has been received to its answer, which is 504 then; 1200 by default',
    ),
  unknown_prices: z
    .enum(['bill_base', 'refuse'])
    .optional()
    .describe(
      'What becomes of calls on prepaid and limited accounts that ask for something with a surcharge whose amount nobody tells: `bill_base` (the default) bills them without it and marks them as estimated, `refuse` answers 404',
    ),
  uncounted_input_tokens: z
    .int()
    .min(0)
    .max(usageTokensMax)
    .optional()
    .describe(
      'Tokens set aside besides for input that nobody can count before a call: documents, files by id, addresses that the provider fetches, and what its searches and tools find; at most the context of the model. 32000 by default',
    ),
  body_memory_mb: z
    .int()
    .min(bodyMemoryMegabytesMin)
    .optional()
    .describe(
      'Megabytes that the large bodies of running calls may take together, copies included: about three times their size, six times for speech. A call beyond them waits up to 10 seconds and then gets 503. A quarter of the memory of the machine, or of what its cgroup may have, by default',
    ),
  commit_delay_ms: z
    .int()
    .min(0)
    .max(commitDelayMsMax)
    .optional()
    .describe(
      'Milliseconds for which the record of a finished call may wait for the records of others, so that one write to the disk serves them all; the answer, or the end of a stream, waits with it. Counts only while calls end closer together than that. 0 by default; 20 is a good value for a disk that wears or is slow',
    ),
  broadcasts: broadcastsSchema.optional(),
  request_log_days: z
    .int()
    .min(0)
    .max(requestLogDaysMax)
    .optional()
    .describe(
      'Days for which the log of calls is kept, answered and not: who, when, what became of it, each attempt, tokens, times and cost, and nothing of what was said. 30 by default; 0 writes none',
    ),
  log_level: z.enum(['silent', 'error', 'warn', 'info', 'debug']).optional(),
  role: z.enum(['all', 'api', 'worker']).optional(),
  share_port: z.boolean().optional().describe('Let several processes of this machine listen on the port.'),
  metrics_token: metricsToken.optional(),
  metrics_host: z.string().min(1).optional(),
  metrics_port: z.int().min(0).max(65_535).optional(),
  providers: z.array(providerSchema).default([]),
  ignored_variables: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, { error: 'must be the name of an environment variable' }))
    .optional()
    .describe(
      'Environment variables that switch no provider on, such as `OPENAI_API_KEY` where it holds the key of another server; `${env:NAME}` still reads them',
    ),
  prices: z
    .record(z.string(), pricesSchema)
    .default({})
    .describe('Prices by public model id, for every provider'),
  ...namesShape,
})

/** Prices of one model as the operator writes them, in USD. */
export type ModelPrices = z.output<typeof pricesSchema>
/** One deployment as the operator writes it. */
export type ProviderConfig = z.output<typeof providerSchema>

/** The providers that can be read although other parts of the file are wrong, so that all problems are reported together. */
const outlineSchema = z
  .object({
    providers: z
      .array(
        z
          .object({
            id: z.string(),
            preset: z.string(),
            base_url: z.unknown(),
            api_key: z.unknown(),
            key_form: z.unknown(),
            region: z.unknown(),
            project: z.unknown(),
            identity: z.unknown(),
            caller_logins: z.unknown(),
            cache_marks: z.unknown(),
            max_tokens_field: z.unknown(),
            batches: z.unknown(),
            models: z.unknown(),
          })
          .partial()
          .catch({}),
      )
      .catch([]),
  })
  .catch({ providers: [] })
/** A provider as far as it can be read. */
export type ProviderOutline = z.output<typeof outlineSchema>['providers'][number]

/** The part of a configuration that comes from its file. */
interface FileSources {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Whether the named file may be missing: a command is about to write it. */
  mayLackFile?: boolean
  /** The text that a command is about to write to that path; its references need not lead to anything yet. */
  draft?: { path: string; value: unknown }
}

/** Replaces a draft's reference that leads to nothing yet; it is valid as a secret and as an address. */
export const unresolved = 'https://unresolved.invalid'

/** Reads the file that the environment names, or the default one; adds its errors to `problems`. */
export function readConfigFile(sources: FileSources, problems: string[]) {
  const empty = configFileSchema.parse({})
  const { draft } = sources
  if (draft) return checkFile(draft.value, draft.path, { sources, problems })
  const named = sources.env['HEADRACE_CONFIG']
  const path = resolve(sources.cwd, named || 'headrace.config.json')
  if (!existsSync(path)) {
    if (named && sources.mayLackFile !== true) problems.push(`HEADRACE_CONFIG: there is no file ${path}`)
    return { file: empty, path: null, outlines: [] }
  }
  const raw = parseJsonFile(path, problems)
  if (raw === undefined) return { file: empty, path, outlines: [] }
  return checkFile(raw, path, { sources, problems })
}

function checkFile(
  raw: unknown,
  path: string,
  { sources, problems }: { sources: FileSources; problems: string[] },
) {
  const given = substitute(raw, { ...sources, path, problems }, '')
  const { providers: outlines } = outlineSchema.parse(given)
  const parsed = configFileSchema.safeParse(given, { reportInput: true, error: describeIssue })
  if (parsed.success) return { file: parsed.data, path, outlines }
  for (const issue of parsed.error.issues) {
    const where = issue.path.length > 0 ? issue.path.join('.') : '(top level)'
    problems.push(`${path}: ${where}: ${issue.message}`)
  }
  return { file: { ...configFileSchema.parse({}), ...readableMembers(given) }, path, outlines }
}

/** The members that can be read although others are wrong, so that all problems are reported together. */
function readableMembers(given: unknown): Partial<z.output<typeof configFileSchema>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return {}
  const { shape } = configFileSchema
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const parsed = Object.hasOwn(shape, name) ? shape[name as keyof typeof shape].safeParse(value) : null
      return parsed?.success ? [[name, parsed.data]] : []
    }),
  )
}

function parseJsonFile(path: string, problems: string[]): unknown {
  let text: Buffer
  try {
    text = readFileSync(path)
  } catch (error) {
    problems.push(`${path}: ${error instanceof Error ? error.message : 'cannot be read'}`)
    return undefined
  }
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    problems.push(`${path}: not JSON: ${describeFault(text)}`)
    return undefined
  }
}

interface Substitution extends FileSources {
  path: string
  problems: string[]
}

const reference = /^\$\{(env|file):([^}]+)\}$/
/** A text that was probably meant as a reference, but has something before or after it, or a different word inside. */
const slip = /\$\{\s*\w*\s*:/

/** Replaces strings that are `${env:NAME}` or `${file:path}` as a whole, so that no secret has to stand in the file. */
function substitute(value: unknown, context: Substitution, where: string): unknown {
  if (Array.isArray(value))
    return value.map((entry, index) => substitute(entry, context, `${where}.${index}`))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, substitute(entry, context, `${where}.${key}`)]),
    )
  }
  if (typeof value !== 'string') return value
  const match = reference.exec(value)
  if (!match) {
    // Used literally it would be sent to the provider as a key, or name a folder.
    if (slip.test(value))
      context.problems.push(
        `${context.path}: ${where.slice(1)}: \${env:NAME} or \${file:path} must be the whole value, with nothing around it`,
      )
    return value
  }
  const [, kind, name = ''] = match
  const found = kind === 'env' ? context.env[name] : readSecretFile(resolve(dirname(context.path), name))
  if (found !== undefined && found !== '') return found
  if (context.draft) return unresolved
  context.problems.push(
    `${context.path}: ${where.slice(1)}: ${kind === 'env' ? `variable ${name} is not set` : `file ${name} cannot be read or is empty`}`,
  )
  return 'missing'
}

function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
