import type { Price, PriceUnit } from './usage.ts'

/** What a caller can ask for. A batch's JSON field `endpoint` names one of these. */
export type OperationName =
  | 'chat_completions'
  | 'responses'
  | 'messages'
  | 'embeddings'
  | 'transcription'
  | 'speech'
  | 'rerank'

/** A wire format of text operations; providers alone speak the last, for conversations and embeddings. */
export type TextFormat = 'chat' | 'responses' | 'messages' | 'embeddings' | 'gemini' | 'rerank'

/** Formats that have no other to be translated into or from. */
export type OwnFormat = Exclude<TextFormat, 'chat' | 'responses' | 'messages' | 'embeddings' | 'gemini'>

/**
 * What the catalog, the configuration and routing must know of a kind of model, so that none of them asks for its name.
 * What a call of it uses and is held for is its row of `billing/metering/modalities.ts`.
 */
export interface ModalityRow {
  /** What such a model takes and gives, in the contract's words. */
  inputs: readonly string[]
  outputs: readonly string[]
  /** Where it is asked, below the version segment. */
  path: string
  /** What providers' listings call it: as the type of a model, and as what the model gives. */
  listedTypes: readonly string[]
  listedOutputs: readonly string[]
  /** The mode by which LiteLLM's configuration calls it. */
  importedModes: readonly string[]
  /** The words by which names tell it, whoever made the model; null where no word does. The order of the rows counts. */
  named: RegExp | null
  /** Its models take and give what a chat does: thinking, pictures and tools belong to them, and an output that is counted. */
  isConversation: boolean
  /** It has abilities of sound (`AudioCapabilities`), of which routing asks for each by itself. */
  hasSound: boolean
  /** What it puts out is sound, where a price list names its output tokens. */
  speaks: boolean
  /** Features of its calls may be charged for besides. */
  hasSurcharges: boolean
  /** Text operations alone: the format whose parameters tell what an endpoint honours; null where none are told. */
  toldParameters: 'chat' | 'embeddings' | null
  /** Parameters that its endpoints are shown with where none are told. */
  shownParameters: readonly string[]
  /** Whether the batch service runs its operations. */
  isBatchable: boolean
  /** Sets of units of which one must be stated for a call to have a price. */
  pricedBy: readonly (readonly PriceUnit[])[]
  /** The unit that `pricing.prompt` of the contract shows: the first of these that has a price. */
  promptUnits: readonly PriceUnit[]
  /** One number to order endpoints by: a float and a mixture, never money. */
  comparedPrice(price: Price): number
}

/** Three parts of input to one of output: what chat traffic looks like, so that one number compares two price lists. */
const inputShare = 3
const outputShare = 1

/** Every kind of model that an operation is served by. */
export const modalities = {
  language: {
    inputs: ['text'],
    outputs: ['text'],
    path: '/chat/completions',
    listedTypes: ['chat', 'language', 'code'],
    listedOutputs: ['text'],
    importedModes: ['chat', 'completion', 'responses'],
    named: null,
    isConversation: true,
    hasSound: false,
    speaks: false,
    hasSurcharges: false,
    toldParameters: 'chat',
    shownParameters: [],
    isBatchable: true,
    pricedBy: [['inputToken', 'outputToken']],
    promptUnits: ['inputToken'],
    comparedPrice: ({ inputToken = 0n, outputToken = 0n }) =>
      (inputShare * Number(inputToken) + outputShare * Number(outputToken)) / (inputShare + outputShare),
  },
  embedding: {
    inputs: ['text'],
    outputs: ['embeddings'],
    path: '/embeddings',
    listedTypes: ['embedding'],
    listedOutputs: ['embeddings', 'embedding'],
    importedModes: ['embedding'],
    named: /embed|retrieval/i,
    isConversation: false,
    hasSound: false,
    speaks: false,
    hasSurcharges: false,
    toldParameters: 'embeddings',
    shownParameters: [],
    isBatchable: true,
    pricedBy: [['inputToken']],
    promptUnits: ['inputToken'],
    comparedPrice: ({ inputToken = 0n }) => Number(inputToken),
  },
  transcription: {
    inputs: ['audio'],
    outputs: ['transcription'],
    path: '/audio/transcriptions',
    listedTypes: ['transcribe'],
    listedOutputs: ['transcription'],
    importedModes: ['audio_transcription'],
    named: /^(?!.*(?:realtime|live)).*(?:transcribe|(?:^|[-/])asr|speech-to-text)/i,
    isConversation: false,
    hasSound: true,
    speaks: false,
    hasSurcharges: true,
    toldParameters: null,
    shownParameters: ['temperature'],
    isBatchable: false,
    pricedBy: [['audioHour'], ['inputToken', 'outputToken'], ['inputAudioToken', 'outputToken']],
    promptUnits: ['inputToken'],
    comparedPrice: ({ audioHour, inputAudioToken, inputToken }) =>
      Number(audioHour ?? inputAudioToken ?? inputToken ?? 0n),
  },
  speech: {
    inputs: ['text'],
    outputs: ['speech'],
    path: '/audio/speech',
    listedTypes: ['audio'],
    listedOutputs: ['speech'],
    importedModes: ['audio_speech'],
    named: /(^|[-/])tts|-tts\b|-tts-|text-to-speech/i,
    isConversation: false,
    hasSound: true,
    speaks: true,
    hasSurcharges: false,
    toldParameters: null,
    shownParameters: [],
    isBatchable: false,
    pricedBy: [['character'], ['utf8Byte'], ['audioHour'], ['inputToken', 'outputAudioToken']],
    promptUnits: ['character', 'utf8Byte', 'inputToken'],
    comparedPrice: ({ character, utf8Byte, outputAudioToken, audioHour }) =>
      Number(character ?? utf8Byte ?? outputAudioToken ?? audioHour ?? 0n),
  },
  rerank: {
    inputs: ['text'],
    outputs: ['rerank'],
    path: '/rerank',
    listedTypes: ['rerank', 'reranker'],
    listedOutputs: ['rerank'],
    importedModes: ['rerank'],
    named: /rerank/i,
    isConversation: false,
    hasSound: false,
    speaks: false,
    hasSurcharges: false,
    toldParameters: null,
    shownParameters: [],
    isBatchable: false,
    pricedBy: [['searchUnit'], ['inputToken']],
    promptUnits: ['inputToken'],
    // A search unit pays for a hundred pieces of five hundred tokens.
    comparedPrice: ({ searchUnit, inputToken = 0n }) =>
      searchUnit === undefined ? Number(inputToken) : Number(searchUnit) / 50_000,
  },
} as const satisfies Record<string, ModalityRow>

/** What kind of model serves an operation. */
export type Modality = keyof typeof modalities

/** Kinds of models that are asked with text, through interfaces. */
export type TextModality = {
  [Name in Modality]: (typeof modalities)[Name]['hasSound'] extends true ? never : Name
}[Modality]

/** Every kind, by its name. */
export const modalityNames = Object.keys(modalities) as readonly Modality[]

/** Whether endpoints of the kind have abilities of sound. */
export function isSoundModality(modality: Modality): modality is Exclude<Modality, TextModality> {
  return modalities[modality].hasSound
}

/** The row of a kind, without the narrow types of its values. */
export function modalityRow(modality: Modality): ModalityRow {
  return modalities[modality]
}
