import type { AnswerContext, UpstreamErrorResponse, UpstreamFailure } from '../canonical/upstream.ts'
import { GatewayError, type ErrorType } from '../core/errors.ts'
import { retryAfterMsMax } from '../core/limits/text.ts'
import { isMarkup, redactForCaller } from './redact.ts'
import { readLimitReset, readRetryAfter } from './retry-after.ts'
import { parseErrorBody, readShape, type ReportedError } from './upstream-error-body.ts'

/**
 * A provider's error. The message has its status and code, which any log may show. The provider's own words are
 * separate, bounded and without secrets; they may repeat the caller's text, so they are never logged unchanged.
 */
export class ProviderReport extends Error {
  readonly said: string
  /** Of its answer; null where it reported the error in another way. */
  readonly status: number | null

  constructor(message: string, said: string, status: number | null = null) {
    super(message)
    this.said = said
    this.status = status
  }
}

/**
 * Why an attempt failed and what may follow, by status, headers and body. The status alone is not reliable: some
 * providers refuse a key with 400 or 403, and some answer 429 for an account without money.
 *
 * The caller's message is the gateway's own. The provider's words are shown only when the caller's request is at fault
 * (400, 413, 422), shortened and without addresses, hosts, account names and anything that looks like a key.
 */
export function readUpstreamFailure(response: UpstreamErrorResponse): UpstreamFailure {
  const reported = parseErrorBody(response.body)
  const { status, headers } = response
  const kind = classify(status, reported)
  // The reset of a rate limit puts no money into an account.
  const isLimit = status === 429 && kind === 'rate'
  const retryAfterMs =
    readRetryAfter(headers) ?? delayOf(reported) ?? (isLimit ? readLimitReset(headers) : null)
  return toFailure(kind, { ...response, reported, retryAfterMs })
}

/** The secrets and names that a reader of answers needs to clean error messages. */
export type ReportContext = Pick<AnswerContext, 'hideSecrets' | 'modelNames' | 'parameterNames'>

/** Only the error of `readReportedFailure`. */
export function readReportedError(wire: unknown, context: ReportContext): GatewayError {
  return readReportedFailure(wire, context).error
}

/**
 * An error object inside a successful answer or stream; a `code` from 400 to 599 is the status it should have had.
 * Secrets in an error response were removed earlier; here `hideSecrets` removes them.
 */
export function readReportedFailure(
  wire: unknown,
  { hideSecrets, modelNames, parameterNames = [] }: ReportContext,
): UpstreamFailure {
  const { message, type, code, param, reason, retryDelayMs } = readShape({ error: wire })
  const reported: ReportedError = {
    message: hideSecrets(message),
    type: hideSecrets(type),
    code: hideSecrets(code),
    param: param === null ? null : hideSecrets(param),
    reason: hideSecrets(reason),
    retryDelayMs,
  }
  const status = statusOfReport(reported)
  const kind = classify(status, reported)
  const retryAfterMs = delayOf(reported)
  const facts = { status, reported, modelNames, retryAfterMs, requestedModel: '', parameterNames }
  return toFailure(kind, facts)
}

/** The status that an error inside a stream would have had as a response. */
function statusOfReport({ code, type }: ReportedError): number {
  const status = Number(code)
  if (Number.isInteger(status) && status >= 400 && status < 600) return status
  const words = `${code} ${type}`.toLowerCase()
  if (words.includes('rate_limit')) return 429
  return contextCodes.has(code.toLowerCase()) || words.includes('invalid_request') ? 400 : 502
}

type Kind =
  | 'credential'
  | 'balance'
  | 'rate'
  | 'overloaded'
  | 'timeout'
  | 'context'
  | 'content'
  | 'model'
  | 'too_large'
  | 'request'
  | 'failed'

const contextCodes = new Set([
  'context_length_exceeded',
  'too_many_tokens',
  'too_many_prompt_tokens',
  'exceed_context_size_error',
])
const contextPattern =
  /prompt is too long|maximum context length|context (?:window|length|size)|too many tokens|exceeds the maximum number of tokens|input tokens exceeded|max context length|maximum input length|input is too long for (?:the )?requested model/i
/**
 * Only at the beginning: later in a message the provider may repeat the caller's text, and a caller must not be able to
 * fake this.
 */
const credentialPattern =
  /^(?:(?:invalid|incorrect|wrong|missing|expired|no) (?:or \w+ )?(?:api[ _-]?key|authentication|credentials?|token)|api[ _-]?key (?:is )?(?:not valid|invalid|expired|required|missing|not found)|unauthorized|the security token)/i
const credentialCodes = new Set([
  'invalid_api_key',
  'api_key_invalid',
  'authentication_error',
  'unauthenticated',
])
const balancePattern =
  /insufficient[_ ](?:quota|balance|credits?|funds)|exceeded[_ ](?:your[_ ])?current[_ ]quota|payment required|credit balance is too low/i
/** Anthropic's words with status 400; also only at the beginning. */
const creditPattern = /^your credit balance is too low\b/i
/** Rev AI's problem type: a URL with this as its last part. */
const outOfCreditPattern = /\/out-of-credits?$/i
/** The words of providers that answer 403 for a missing balance, such as Rev AI and xAI. */
const spentPattern =
  /(?:\b(?:not|no)|n't) (?:have )?(?:enough |sufficient |any )?(?:credits?|balance|funds)\b|\binsufficient (?:credits?|balance|funds)\b|\b(?:used|spent) all (?:of )?(?:its |your )?(?:available )?credits\b|\bout of credits?\b/i
const contentPattern = /content[_ ](?:policy|filter|management)|moderation|safety system|flagged/i
const overloadPattern =
  /overloaded|capacity|loading model|model is loading|unavailable_error|temporarily unavailable/i

/** Statuses that refuse the request itself; 414 and 431 concern the URL, which some servers count as a header. */
const requestStatuses: ReadonlySet<number> = new Set([400, 413, 414, 415, 422, 431])

function classify(status: number, reported: ReportedError): Kind {
  const words = `${reported.code} ${reported.type} ${reported.message}`
  // ElevenLabs answers this when the account has no credits left.
  if (status === 401 && reported.code === 'quota_exceeded') return 'balance'
  if (isCredentialFault(status, reported)) return 'credential'
  if (isBalanceFault(status, reported, words)) return 'balance'
  if (requestStatuses.has(status)) return classifyRequest(status, reported, words)
  if (status === 403) return classifyForbidden(reported, words)
  if (status === 404) return isVoiceFault(reported) ? 'request' : 'model'
  if (status === 408 || status === 504 || status === 524) return 'timeout'
  if (status === 429) return fitsLimit(reported) ? 'rate' : 'too_large'
  if (status === 498 || status === 503 || status === 529 || (status >= 500 && overloadPattern.test(words))) {
    return 'overloaded'
  }
  return 'failed'
}

/** OpenAI's first words (seen from 2024 to 2026) when a single request exceeds a whole limit. */
const sizePattern = /^request too large for\b/i
/** `Limit 30000, Used 12, Requested 31538`, for any limit. A request that is not larger than the limit passes later. */
const limitPattern = /\blimit:? (\d{1,12}), (?:used:? \d{1,12}, )?requested:? (\d{1,12})\b/i

/** Whether the request can ever pass the limit that refused it. False only when the provider clearly says so. */
function fitsLimit({ message }: ReportedError): boolean {
  if (sizePattern.test(message)) return false
  const [, limit, requested] = limitPattern.exec(message) ?? []
  return limit === undefined || Number(requested) <= Number(limit)
}

/** The names of one model in refusals of a right: its own, those of Amazon's profiles, and Google's of its publisher. */
const modelRightPattern = /\bmodel\b|\binference-profile\b|\bpublishers\/[\w-]+\/models\//i

/** A firewall's page, or a missing right to one model, must not take a whole deployment out. */
function classifyForbidden(reported: ReportedError, words: string): Kind {
  if (isMarkup(reported.message)) return 'failed'
  if (contentPattern.test(words)) return 'content'
  return modelRightPattern.test(words) ? 'model' : 'credential'
}

/** The missing thing is the model unless the provider says that it is the voice. */
function isVoiceFault({ param, message }: ReportedError): boolean {
  return param === 'voice' || (/\bvoice(?:_id)?\b/i.test(message) && !/\bmodel\b/i.test(message))
}

function classifyRequest(status: number, reported: ReportedError, words: string): Kind {
  if (contextCodes.has(reported.code.toLowerCase()) || contextCodes.has(reported.type.toLowerCase()))
    return 'context'
  if (contextPattern.test(reported.message)) return 'context'
  // Groq has some models only for accounts whose owner accepted their terms.
  if (reported.code === 'model_not_found' || reported.code === 'model_terms_required') return 'model'
  if (contentPattern.test(words)) return 'content'
  return status === 413 ? 'too_large' : 'request'
}

function isCredentialFault(status: number, reported: ReportedError): boolean {
  if (status === 401 || (status === 404 && reported.code === 'PROJECT_NOT_FOUND')) return true
  if (status !== 400 && status !== 403) return false
  return (
    credentialCodes.has(reported.code.toLowerCase()) ||
    credentialCodes.has(reported.type.toLowerCase()) ||
    credentialCodes.has(reported.reason.toLowerCase()) ||
    credentialPattern.test(reported.message)
  )
}

// Words count only in places where they cannot be the caller's. The hint "add a payment method" in a rate limit does
// not count.
function isBalanceFault(status: number, reported: ReportedError, words: string): boolean {
  const { code, type, message, retryDelayMs } = reported
  if (status === 402 || code === 'insufficient_quota' || type === 'insufficient_quota') return true
  if (status === 400 && creditPattern.test(message)) return true
  if (status === 403 && (outOfCreditPattern.test(type) || spentPattern.test(message))) return true
  // Google calls every limit a quota; a quota with a wait is not a lack of money.
  return (
    status === 429 && code !== 'rate_limit_exceeded' && retryDelayMs === null && balancePattern.test(words)
  )
}

interface FailureFacts {
  status: number
  reported: ReportedError
  retryAfterMs: number | null
  requestedModel: string
  modelNames?: readonly string[]
  parameterNames: readonly string[]
}

interface FailureRule {
  type: ErrorType
  retryElsewhere: boolean
  retrySame: boolean
  credentialFault: boolean
  describe: (facts: FailureFacts) => string
}

const rules: Readonly<Record<Kind, FailureRule>> = {
  credential: {
    type: 'provider_failed',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: true,
    describe: () => "The provider refused the gateway's credential.",
  },
  balance: {
    type: 'provider_failed',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: true,
    describe: () => "The gateway's account with the provider has no quota left.",
  },
  rate: {
    type: 'upstream_rate_limited',
    retryElsewhere: true,
    retrySame: true,
    credentialFault: false,
    describe: ({ retryAfterMs }) =>
      retryAfterMs === null
        ? 'The provider limits the rate of requests. Try again shortly.'
        : `The provider limits the rate of requests. Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`,
  },
  overloaded: {
    type: 'provider_overloaded',
    retryElsewhere: true,
    retrySame: true,
    credentialFault: false,
    describe: () => 'The provider is overloaded. Try again shortly.',
  },
  timeout: {
    type: 'provider_timeout',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: false,
    describe: () => 'The provider did not answer in time.',
  },
  context: {
    type: 'context_length_exceeded',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: false,
    describe: (facts) =>
      `The request does not fit the context of ${facts.requestedModel || 'the model'}. Shorten the input or the output limit.${quote(facts)}`,
  },
  content: {
    type: 'content_policy_violation',
    retryElsewhere: false,
    retrySame: false,
    credentialFault: false,
    describe: () => 'The provider refused the request under its content policy. Change the input.',
  },
  model: {
    type: 'no_matching_endpoint',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: false,
    describe: ({ requestedModel }) =>
      `The provider does not offer ${requestedModel || 'the model'} at present.`,
  },
  too_large: {
    type: 'payload_too_large',
    retryElsewhere: true,
    retrySame: false,
    credentialFault: false,
    describe: (facts) => `The request is too large for the provider. Send less at once.${quote(facts)}`,
  },
  request: {
    type: 'invalid_request',
    retryElsewhere: false,
    retrySame: false,
    credentialFault: false,
    describe: (facts) => {
      const param = parameterOf(facts)
      return `The provider refused the request${param === null ? '' : ` because of "${param}"`}.${quote(facts)}`
    },
  },
  failed: {
    type: 'provider_failed',
    retryElsewhere: true,
    retrySame: true,
    credentialFault: false,
    describe: () => 'The provider failed to answer.',
  },
}

function toFailure(kind: Kind, facts: FailureFacts): UpstreamFailure {
  const { type, describe, ...consequences } = rules[kind]
  // A request that is too large stays too large, whatever the refusal says about a retry.
  const retryAfterMs = kind === 'too_large' ? null : facts.retryAfterMs
  const param = kind === 'request' ? parameterOf(facts) : null
  const cause = new ProviderReport(
    `upstream ${facts.status} ${redactForCaller(facts.reported.code || facts.reported.type)}`.trim(),
    redactForCaller(facts.reported.message, facts.modelNames),
    facts.status,
  )
  const error = new GatewayError(type, describe(facts), {
    cause,
    ...(param === null ? {} : { param }),
    ...(retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  })
  return { error, ...consequences, retryAfterMs }
}

const parameterPattern = /^[\w.[\]-]{1,100}$/
/** Most speech providers report an unknown voice only in words. */
const voicePattern =
  /\b(?:unknown|invalid|no such)\b[^.]{0,40}\bvoice(?:_id)?\b|\bvoice(?:_id)?\b.{0,120}\b(?:not found|not exist|unknown|invalid)\b/i

/** The parameter that the provider names, if the caller sent it. */
function parameterOf({ reported, parameterNames }: FailureFacts): string | null {
  const { param, message } = reported
  if (parameterNames.includes('voice') && voicePattern.test(message)) return 'voice'
  if (param === null || !parameterPattern.test(param)) return null
  const root = param.split(/[.[]/, 1)[0] ?? ''
  return parameterNames.includes(root) || root === 'messages' || root === 'input' ? param : null
}

function quote({ reported, modelNames }: FailureFacts): string {
  const shown = redactForCaller(reported.message, modelNames)
  return shown === '' ? '' : ` It said: ${shown}`
}

/** The wait that an error's body names, bounded. */
function delayOf({ retryDelayMs }: ReportedError): number | null {
  return retryDelayMs === null ? null : Math.min(retryDelayMs, retryAfterMsMax)
}
