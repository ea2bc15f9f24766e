import { FaultSpecError, parseFaults, type Faults } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { faultDrawsMax, faultRulesMax } from './limits.ts'
import { fractionOf } from './random.ts'

/** The conditions of a rule. Every given member must match; without members the rule matches every request. */
interface RuleMatch {
  /** The end of the path, such as `/chat/completions`. */
  path?: string
  /** A part of the path, such as `/batches/`. */
  pathContains?: string
  /** `LINE` for a line of a batch, which no other rule matches. */
  method?: string
  /** The model exactly as the request names it. */
  model?: string
  /** A substring of the request body; of a form, of its text fields and file names. */
  bodyContains?: string
}

/** What rules call a line of a batch. */
export const lineMethod = 'LINE'

interface FaultRule {
  match: RuleMatch
  spec: string
  faults: Faults
  /** The share of matching requests that it hits, from 0 to 1. */
  probability: number
  /** The number of matching requests that the rule spares before its first hit. */
  after: number
  /** The largest number of hits. */
  times: number
  matched: number
  struck: number
}

/** The parts of a request that a rule can match, and that decide its random draw. */
export interface RuleSubject {
  method: string
  path: string
  model: string | null
  body: string
}

/** The fault rules of one mount. */
export interface FaultRules {
  /** Replaces the rules and forgets the counts of the old ones. Throws `FaultSpecError`. */
  set(rules: unknown): void
  /**
   * The faults of all rules that hit this request (a later rule overrules an earlier one), and the rules'
   * specifications.
   */
  draw(subject: RuleSubject): { faults: Faults; specs: string[] }
  /** The rules with their numbers of matches and hits, as the admin endpoint shows them. */
  list(): JsonObject[]
}

/**
 * Creates an empty set of rules. A draw depends on the seed, the rule, the body and how often that body has come, but not
 * on the order in which different requests arrive: the same set of requests meets the same faults at any concurrency.
 */
export function createFaultRules(seed: number): FaultRules {
  let rules: FaultRule[] = []
  let drawn = new Map<string, number>()

  function isStruck(rule: FaultRule, index: number, subject: RuleSubject): boolean {
    if (!matches(rule.match, subject)) return false
    rule.matched++
    if (rule.matched <= rule.after || rule.struck >= rule.times) return false
    if (rule.probability >= 1) return true
    const key = `${index} ${subject.path} ${Bun.hash.wyhash(subject.body)}`
    const turn = drawn.get(key) ?? 0
    if (drawn.size >= faultDrawsMax) drawn = new Map()
    drawn.set(key, turn + 1)
    return fractionOf(`${key} ${turn}`, seed) < rule.probability
  }

  return {
    set(list) {
      rules = parseRules(list)
      drawn = new Map()
    },
    draw(subject) {
      const faults: Faults = {}
      const specs: string[] = []
      for (const [index, rule] of rules.entries()) {
        if (!isStruck(rule, index, subject)) continue
        rule.struck++
        Object.assign(faults, rule.faults)
        specs.push(rule.spec)
      }
      return { faults, specs }
    },
    list: () => rules.map(shown),
  }
}

function matches(match: RuleMatch, subject: RuleSubject): boolean {
  if (subject.method === lineMethod && match.method !== lineMethod) return false
  if (match.path !== undefined && !subject.path.endsWith(match.path)) return false
  if (match.pathContains !== undefined && !subject.path.includes(match.pathContains)) return false
  if (match.method !== undefined && match.method !== subject.method) return false
  if (match.model !== undefined && match.model !== subject.model) return false
  return match.bodyContains === undefined || subject.body.includes(match.bodyContains)
}

function shown(rule: FaultRule): JsonObject {
  const { path, pathContains, method, model, bodyContains } = rule.match
  const match = { path, path_contains: pathContains, method, model, body_contains: bodyContains }
  const { spec, probability, after, matched, struck } = rule
  const times = Number.isFinite(rule.times) ? rule.times : null
  return { match, fault: spec, probability, after, times, matched, struck }
}

function parseRules(list: unknown): FaultRule[] {
  if (!Array.isArray(list)) throw new FaultSpecError('Send a list of rules, or an object with "rules".')
  if (list.length > faultRulesMax) throw new FaultSpecError(`At most ${faultRulesMax} rules are kept.`)
  return list.map((rule, index) => {
    try {
      return parseRule(rule)
    } catch (error) {
      if (error instanceof FaultSpecError) throw new FaultSpecError(`Rule ${index}: ${error.message}`)
      throw error
    }
  })
}

const ruleMembers = ['match', 'fault', 'probability', 'after', 'times']
const matchMembers = ['path', 'path_contains', 'method', 'model', 'body_contains']

function parseRule(rule: unknown): FaultRule {
  if (!isObject(rule)) throw new FaultSpecError('a rule is an object.')
  onlyMembers(rule, ruleMembers)
  if (typeof rule['fault'] !== 'string')
    throw new FaultSpecError('"fault" must be a specification such as "status=503".')
  return {
    match: parseMatch(rule['match'] ?? {}),
    spec: rule['fault'],
    faults: parseFaults(rule['fault']),
    probability: numberMember(rule, 'probability', { min: 0, max: 1, otherwise: 1 }),
    after: numberMember(rule, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
    times: numberMember(rule, 'times', {
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      otherwise: Number.POSITIVE_INFINITY,
    }),
    matched: 0,
    struck: 0,
  }
}

function parseMatch(match: unknown): RuleMatch {
  if (!isObject(match)) throw new FaultSpecError('"match" must be an object.')
  onlyMembers(match, matchMembers)
  for (const [name, value] of Object.entries(match)) {
    if (typeof value !== 'string') throw new FaultSpecError(`"match.${name}" must be a string.`)
  }
  const parsed: RuleMatch = {}
  if (typeof match['path'] === 'string') parsed.path = match['path']
  if (typeof match['path_contains'] === 'string') parsed.pathContains = match['path_contains']
  if (typeof match['method'] === 'string') parsed.method = match['method']
  if (typeof match['model'] === 'string') parsed.model = match['model']
  if (typeof match['body_contains'] === 'string') parsed.bodyContains = match['body_contains']
  return parsed
}

function onlyMembers(value: JsonObject, known: readonly string[]): void {
  // Without its misspelt member a rule would match every request, so an unknown member is refused.
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new FaultSpecError(`unknown member "${unknown}"; known are ${known.join(', ')}.`)
}

function numberMember(
  rule: JsonObject,
  name: string,
  range: { min: number; max: number; otherwise: number },
): number {
  const value = rule[name] ?? range.otherwise
  if (typeof value === 'number' && value >= range.min && (value <= range.max || value === range.otherwise))
    return value
  throw new FaultSpecError(`"${name}" must be a number of at least ${range.min}.`)
}
