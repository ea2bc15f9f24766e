/**
 * A request to a language model, in the form that all formats share. Caller halves create it and upstream halves read it;
 * neither knows the other. No member has the spelling of a wire format, except `extras` and `opaque`.
 */

/** A wire format of conversations. Callers use the first three, providers all. */
export type ConversationFormat = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere'

/**
 * Members that only one format knows, by format, as they stood on the wire. The same format writes them back; another
 * leaves them out.
 */
export type Extras = Readonly<Partial<Record<ConversationFormat, Readonly<Record<string, unknown>>>>>

/** Bytes as base64, an address to be fetched, or a file that the provider keeps under an id of its own. */
export type MediaSource =
  | { kind: 'data'; mediaType: string; base64: string }
  | { kind: 'url'; url: string }
  | { kind: 'provider_file'; fileId: string }

/** A mark: the provider should keep the prompt up to here in its cache. */
export interface CacheMark {
  ttl: '5m' | '1h' | null
}

interface PartBase {
  cache?: CacheMark
  extras?: Extras
}

/** Text by the caller or by a model. */
export interface TextPart extends PartBase {
  type: 'text'
  text: string
  annotations?: readonly Annotation[]
}

/** An image. `detail` as the formats of OpenAI name it: `auto`, `low`, `high`, `original`. */
export interface ImagePart extends PartBase {
  type: 'image'
  source: MediaSource
  detail: string | null
}

/** A document, such as a PDF. `context` is background about it for the model. */
export interface FilePart extends PartBase {
  type: 'file'
  source: MediaSource | { kind: 'text'; text: string }
  name: string | null
  context: string | null
  /** Whether the answer should cite it. */
  citations: boolean
}

/** Sound to listen to. `format` is a short name such as `wav`. */
export interface AudioPart extends PartBase {
  type: 'audio'
  base64: string
  format: string
}

/** A model's call of a tool. */
export interface ToolCallPart extends PartBase {
  type: 'tool_call'
  /** Unique within the conversation. */
  id: string
  name: string
  /** JSON text of an object for a `function`, free text for a `custom` tool; empty means no arguments. */
  arguments: string
  kind: 'function' | 'custom'
}

/** The result of a tool call. */
export interface ToolResultPart extends PartBase {
  type: 'tool_result'
  callId: string
  content: readonly (TextPart | ImagePart | FilePart | OpaquePart)[]
  isError: boolean
}

/**
 * A model's thoughts. `text` has its own words, `summary` a summary of them; both are null when the provider shows
 * neither. The provider's proof (`signature` of a shown text, `sealed` in place of one) goes back unchanged and in its
 * place, in the format `origin`, and only to a provider that can open it: the one whose slug is `sealer`, or without a
 * `sealer` the maker of that format.
 */
export interface ReasoningPart extends PartBase {
  type: 'reasoning'
  id: string | null
  text: string | null
  summary: readonly string[] | null
  signature: string | null
  sealed: string | null
  origin: ConversationFormat | null
  sealer?: string
}

/** The model's own explanation of why it does not answer. */
export interface RefusalPart extends PartBase {
  type: 'refusal'
  text: string
}

/**
 * A part that only one format has, such as a search that the provider itself made. It goes back only to that format;
 * `words`, when present, say the same inside the result of a tool for a provider of another format.
 */
export interface OpaquePart extends PartBase {
  type: 'opaque'
  format: ConversationFormat
  value: Readonly<Record<string, unknown>>
  words?: string
}

/** A part of a turn. */
export type Part =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OpaquePart

/**
 * A source of a statement in a text. `start` and `end` are character positions; null when the source is for the whole
 * text.
 */
export interface Annotation {
  url: string | null
  title: string | null
  citedText: string | null
  start: number | null
  end: number | null
  extras?: Extras
}

/**
 * The consecutive parts of one side. `tool` turns have only results, of calls in the `assistant` turn before them.
 * Turns of one role may follow each other; an upstream half whose format forbids that joins them.
 */
export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: readonly Part[]
  /** The speaker's name, when several speakers share a role and the format has names. */
  name: string | null
  /** Where it began in the caller's request, such as `messages[3]`; for errors. */
  place: string
  extras?: Extras
}

/** A tool that the model may call. */
export interface Tool {
  kind: 'function' | 'custom'
  name: string
  description: string | null
  /** JSON schema of the arguments; null means that the tool takes none. */
  parameters: Readonly<Record<string, unknown>> | null
  strict: boolean | null
  /** The form of a `custom` tool's input, as chat completions write it; absent or null for any text. */
  format?: Readonly<Record<string, unknown>> | null
  cache?: CacheMark
  extras?: Extras
}

/** A tool that the provider itself runs; only its own format can carry it. */
export interface ProviderTool {
  kind: 'provider'
  format: ConversationFormat
  value: Readonly<Record<string, unknown>>
}

/** Which tools must or may be called. `allowed` narrows the list; its tools are named. */
export type ToolChoice =
  | { kind: 'auto' | 'required' | 'none' }
  | { kind: 'named'; name: string; tool: 'function' | 'custom' }
  | { kind: 'allowed'; mode: 'auto' | 'required'; names: readonly string[] }

/** The required form of the answer's text. */
export type OutputFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | {
      kind: 'schema'
      name: string
      description: string | null
      schema: Readonly<Record<string, unknown>> | null
      strict: boolean | null
    }

/** The effort of thinking before the answer. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How the model should think. Null leaves it to the model. */
export interface ReasoningWish {
  effort: Effort | null
  /** The most tokens for thinking. */
  budgetTokens: number | null
  /** The kind of summary, such as `auto`, `concise`, `detailed`; null asks for none. */
  summary: string | null
  /** False: the model may think, but its thoughts must not be shown. */
  isShown: boolean
}

/** Numbers that tune an answer without changing its meaning; one that an upstream cannot take is dropped and listed. */
export interface Tuning {
  temperature: number | null
  topP: number | null
  topK: number | null
  minP: number | null
  seed: number | null
  presencePenalty: number | null
  frequencyPenalty: number | null
  repetitionPenalty: number | null
  logitBias: Readonly<Record<string, number>> | null
  verbosity: 'low' | 'medium' | 'high' | null
  serviceTier: string | null
  cacheKey: string | null
}

/** A whole request. */
export interface Conversation {
  /** The caller's format, which wrote the extras. */
  format: ConversationFormat
  turns: readonly Turn[]
  tools: readonly (Tool | ProviderTool)[]
  toolChoice: ToolChoice | null
  /** False: at most one call in a turn. */
  isParallel: boolean | null
  outputTokensMax: number | null
  choices: number
  stop: readonly string[]
  output: OutputFormat
  reasoning: ReasoningWish | null
  /**
   * How many of the likeliest tokens to show for each token; null for no probabilities, 0 for only the chosen token's.
   */
  logprobs: number | null
  tuning: Tuning
  userId: string | null
  metadata: Readonly<Record<string, string>> | null
  /** Marks the whole prompt for the provider's cache. */
  cache?: CacheMark
  stream: boolean
  /**
   * Names of members that only the caller's own format has; inside messages and tools as paths, such as
   * `messages[].name`. A `needed` member changes the meaning of the answer, so a call with one can be sent only in the
   * caller's format. In other formats the optional ones are left out and listed.
   */
  ownMembers: {
    needed: readonly string[]
    optional: readonly string[]
    /** Members that no format knows, of a caller whose format no provider is asked in: left out and listed everywhere. */
    unknown?: readonly string[]
  }
  extras?: Extras
}
