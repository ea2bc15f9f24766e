/** Whose format a request comes in. */
export const callers = ['chat', 'responses', 'messages'] as const
/** Whose format its provider speaks. */
export const upstreams = ['chat', 'responses', 'messages', 'gemini', 'converse', 'cohere'] as const
export type Caller = (typeof callers)[number]
export type Upstream = (typeof upstreams)[number]
/** Those whose cells stand in a file of their own; the cells of the others stand in the rows. */
export type ColumnUpstream = Exclude<Upstream, 'chat' | 'responses' | 'messages'>
export type Json = Record<string, unknown>

/** What becomes of a feature between one caller's format and one upstream's. */
export type Cell =
  /** The provider gets it, or the caller: `expected` is a part of that body. */
  | { is: 'carried'; expected: Json; streamed?: Json; absent: readonly string[]; note: string }
  /** The answer's metadata lists these members under `approximated`, and some that are left out besides. */
  | { is: 'approximated'; how: string; listed: readonly string[]; expected: Json; lost: readonly string[] }
  /** 400, with the member at fault. */
  | { is: 'refused'; param: string; status: 400 | 404 }
  /** The answer's metadata lists these members under `dropped`, and the provider's body has none of `absent`. */
  | { is: 'dropped'; listed: readonly string[]; absent: readonly string[]; expected: Json }
  | { is: 'impossible'; why: string }

/** Stands in requests for where files lie that only the gateway can fetch. */
export const filesUrl = 'http://files.invalid'

/** The feature arrives whole; `absent` are paths that the body must not have. */
export function carried(
  expected: Json,
  more: { note?: string; streamed?: Json; absent?: string[] } = {},
): Cell {
  return { is: 'carried', note: '', absent: [], ...more, expected }
}

/** The feature arrives in another way, which the caller is told of. */
export function approximated(
  how: string,
  listed: readonly string[],
  expected: Json,
  lost: readonly string[] = [],
): Cell {
  return { is: 'approximated', how, listed, expected, lost }
}

/** The request is refused with this `param`; 404 of what keeps a call from endpoints that would do. */
export function refused(param: string, status: 400 | 404 = 400): Cell {
  return { is: 'refused', param, status }
}

/** Tuning that the provider does not get. */
export function dropped(listed: readonly string[], absent: readonly string[], expected: Json = {}): Cell {
  return { is: 'dropped', listed, absent, expected }
}

/** One of the two formats has no room for it. */
export function impossible(why: string): Cell {
  return { is: 'impossible', why }
}

/** One caller's part of a row: what it asks, and what becomes of that; or why its format cannot ask. */
export type CallerCells =
  | { ask: Json; toChat: Cell; toMessages: Cell; toResponses?: Cell }
  | { cannotAsk: string }

/** A reply of a provider that speaks chat completions. */
export interface ChatReply {
  message: Json
  finish: string
  usage?: Json
  logprobs?: Json
}

/** A reply of a provider that speaks OpenAI's responses. */
export interface ResponsesReply {
  output: readonly Json[]
  /** How it ended, where that is not as it should. */
  end?: Json
  usage?: Json
}

/** A reply of a provider that speaks Anthropic's messages. */
export interface MessagesReply {
  content: readonly Json[]
  stop: Json
  usage?: Json
}

/** A reply of a provider that speaks Gemini's format, of one candidate. */
export interface GeminiReply {
  parts: readonly Json[]
  finish: string
  /** More members of the candidate. */
  candidate?: Json
  usage?: Json
  /** Why the prompt was blocked: then there is no candidate. */
  blocked?: Json
}

/** A reply of a provider that speaks Bedrock's Converse. */
export interface ConverseReply {
  content: readonly Json[]
  stop: string
  usage?: Json
}

/** A reply of a provider that speaks Cohere's chat. */
export interface CohereReply {
  content?: readonly Json[]
  /** What it says before its calls of tools. */
  plan?: string
  calls?: readonly Json[]
  citations?: readonly Json[]
  finish: string
  usage?: Json
}

/** Cells of a row in a column that has a file of its own; a caller who cannot ask has none. */
export type ColumnCells = Partial<Record<Caller, Cell>>

/** What the provider of such a column says, null where it cannot say so, and what each caller gets of it. */
export interface ColumnAnswer<Reply> {
  given: Reply | null
  cells: Readonly<Record<Caller, Cell>>
}

/** A row about what a request asks for. Models are those of `rows.ts` unless it names others. */
export interface AskedRow {
  kind: 'asked'
  id: string
  title: string
  /** The provider's model, by upstream, where the feature depends on it. */
  models?: Partial<Record<Upstream, string>>
  /** What the providers answer, where that matters; else a word. */
  text?: string
  cells: Readonly<Record<Caller, CallerCells>>
}

/** A row about what an answer says: each cell's `expected` is a part of the caller's body, whole and streamed. */
export interface AnsweredRow {
  kind: 'answered'
  id: string
  title: string
  given: { chat: ChatReply | null; messages: MessagesReply | null; responses?: ResponsesReply | null }
  cells: Readonly<Record<Caller, { fromChat: Cell; fromMessages: Cell; fromResponses?: Cell }>>
}

export type Row = AskedRow | AnsweredRow

/** Every pair of formats. */
export const pairs: readonly { caller: Caller; upstream: Upstream }[] = callers.flatMap((caller) =>
  upstreams.map((upstream) => ({ caller, upstream })),
)

/** Of a row that says nothing of a format; the test of the page finds it. */
const missing: Cell = impossible('')

/** The cell of a row, of a format whose cells stand in it. */
export function cellOf(row: Row, caller: Caller, upstream: Exclude<Upstream, ColumnUpstream>): Cell {
  if (row.kind === 'answered') {
    const { fromChat, fromMessages, fromResponses = missing } = row.cells[caller]
    return { chat: fromChat, responses: fromResponses, messages: fromMessages }[upstream]
  }
  const cells = row.cells[caller]
  if ('cannotAsk' in cells) return impossible(cells.cannotAsk)
  const { toChat, toMessages, toResponses = missing } = cells
  return { chat: toChat, responses: toResponses, messages: toMessages }[upstream]
}
