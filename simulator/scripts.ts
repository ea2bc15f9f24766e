import { invalidRequest } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import { scriptsMax, scriptTurnsMax } from './limits.ts'
import type { Prompt } from './prompt.ts'
import { objectAt, parseTurn, type ScriptedTurn } from './script-turn.ts'

/** Which requests a script answers. Every given member must match; none given matches every request. */
interface ScriptMatch {
  /** The end of the path, such as `/messages`. */
  path?: string
  /** The model exactly as the request names it. */
  model?: string
  /** Text of the user before the model's first turn; it identifies one conversation among many. */
  marker?: string
  /** Text of the user's last message; it identifies one kind of request in a conversation. */
  said?: string
  /** True for requests with tools, false for requests without: agents send small side requests without tools. */
  tools?: boolean
}

interface Script {
  match: ScriptMatch
  turns: ScriptedTurn[]
  /** `history` plays the turn that the conversation has come to, `call` the next one at every request. */
  advance: 'history' | 'call'
  /** Requests answered. */
  calls: number
  /** The turn that each request got, counted from 0; only of the first requests when there are very many. */
  played: number[]
}

/** The parts of a request that a script matches. */
export interface ScriptSubject {
  path: string
  model: string
  prompt: Prompt
}

/** The scripts of one mount. */
export interface Scripts {
  /** Replaces the scripts. Throws `ApiError`. */
  set(scripts: unknown): void
  /** The turn for this request, of the first script that matches it; null when none does. */
  play(subject: ScriptSubject): ScriptedTurn | null
  /** The scripts with their played turns, as the admin endpoint shows them. */
  list(): JsonObject[]
}

/** The answer after the end of a script: plain text, which ends an agent's loop. */
const epilogue: ScriptedTurn = {
  thinking: null,
  redacted: null,
  text: 'The script is over.',
  calls: [],
  refusal: null,
  finish: null,
  usage: {},
}

/** Creates an empty set of scripts. */
export function createScripts(): Scripts {
  let scripts: Script[] = []
  return {
    set(list) {
      scripts = parseScripts(list)
    },
    play(subject) {
      const script = scripts.find(({ match }) => matches(match, subject))
      if (script === undefined) return null
      const at = script.advance === 'call' ? script.calls : subject.prompt.modelTurns
      script.calls++
      if (script.played.length < scriptTurnsMax) script.played.push(at)
      return script.turns[at] ?? epilogue
    },
    list: () =>
      scripts.map(({ match, turns, advance, calls, played }) => ({
        match,
        turns: turns.length,
        advance,
        calls,
        played,
      })),
  }
}

function matches(match: ScriptMatch, { path, model, prompt }: ScriptSubject): boolean {
  if (match.path !== undefined && !path.endsWith(match.path)) return false
  if (match.model !== undefined && match.model !== model) return false
  if (match.tools !== undefined && match.tools !== prompt.tools.length > 0) return false
  if (match.said !== undefined && !prompt.said.includes(match.said)) return false
  return match.marker === undefined || prompt.opening.includes(match.marker)
}

function parseScripts(list: unknown): Script[] {
  if (!Array.isArray(list)) throw invalidRequest('Send a list of scripts, or an object with "scripts".')
  if (list.length > scriptsMax) throw invalidRequest(`At most ${scriptsMax} scripts are kept.`)
  return list.map((script, index) => parseScript(script, `scripts[${index}]`))
}

function parseScript(value: unknown, param: string): Script {
  const script = objectAt(value, param, ['match', 'turns', 'advance'])
  const { turns, advance = 'history' } = script
  if (!Array.isArray(turns) || turns.length > scriptTurnsMax)
    throw invalidRequest(`'${param}.turns' must be a list of at most ${scriptTurnsMax} turns.`, param)
  if (advance !== 'history' && advance !== 'call')
    throw invalidRequest(`'${param}.advance' must be "history" or "call".`, `${param}.advance`)
  return {
    match: parseMatch(script['match'] ?? {}, `${param}.match`),
    turns: turns.map((turn, at) => parseTurn(turn, `${param}.turns[${at}]`)),
    advance,
    calls: 0,
    played: [],
  }
}

function parseMatch(value: unknown, param: string): ScriptMatch {
  const given = objectAt(value, param, ['path', 'model', 'marker', 'said', 'tools'])
  const match: ScriptMatch = {}
  for (const [name, wanted] of Object.entries(given)) {
    if (name === 'tools' && typeof wanted === 'boolean') match.tools = wanted
    else if (isTextMember(name) && typeof wanted === 'string') match[name] = wanted
    else throw invalidRequest(`'${param}.${name}' is of the wrong type.`, `${param}.${name}`)
  }
  return match
}

const textMembers = ['path', 'model', 'marker', 'said'] as const

function isTextMember(name: string): name is (typeof textMembers)[number] {
  return textMembers.some((member) => member === name)
}

/** The list of scripts in the body of an admin request. */
export function scriptsIn(body: unknown): unknown {
  return isObject(body) ? body['scripts'] : body
}
