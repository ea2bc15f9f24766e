import type { Price, PriceUnit } from './usage.ts'

/** The operations of the API. A batch's JSON field `endpoint` names one of these. */
export type OperationName =
  | 'chat_completions'
  | 'responses'
  | 'messages'
  | 'embeddings'
  | 'transcription'
  | 'speech'
  | 'rerank'
  | 'completions'

/** A wire format of text operations. Only providers use the last one, for conversations and embeddings. */
export type TextFormat =
  | 'chat'
  | 'responses'
  | 'messages'
  | 'embeddings'
  | 'gemini'
  | 'converse'
  | 'cohere'
  | 'invoke'
  | 'rerank'
  | 'completions'

/** Formats that are never translated. */
export type OwnFormat = Exclude<
  TextFormat,
  'chat' | 'responses' | 'messages' | 'embeddings' | 'gemini' | 'converse' | 'cohere'
>

/**
 * The facts about a modality that the catalog, the configuration and routing need, so that none of them compares its name.
 * How its calls are metered and held is in its row of `billing/metering/modalities.ts`.
 */
export interface ModalityRow {
  /** The model's inputs and outputs, in the contract's words. */
  inputs: readonly string[]
  outputs: readonly string[]
  /** The operation's path, below the version segment. */
  path: string
  /** The words of providers' listings for it, as a model's type or as its output. */
  listedTypes: readonly string[]
  listedOutputs: readonly string[]
  /** The mode by which LiteLLM's configuration calls it. */
  importedModes: readonly string[]
  /** Words in model names that mean this modality, whoever made the model; null when there are none. Earlier rows win. */
  named: RegExp | null
  /** Whether its models hold conversations: with thinking, pictures and tools, and with counted output. */
  isConversation: boolean
  /** Whether it has audio capabilities (`AudioCapabilities`), which routing checks one by one. */
  hasSound: boolean
  /** Whether its output is sound, so that the output tokens of a price list are tokens of sound. */
  speaks: boolean
  /** Whether features of its calls may have a surcharge. */
  hasSurcharges: boolean
  /** For text operations: the format whose parameters an endpoint can honour; null when endpoints list no parameters. */
  toldParameters: 'chat' | 'embeddings' | null
  /** The parameters that its endpoints show when they list none. */
  shownParameters: readonly string[]
  /** Whether the batch service runs its operations. */
  isBatchable: boolean
  /** Sets of units; a call has a price when all units of one set have one. */
  pricedBy: readonly (readonly PriceUnit[])[]
  /** The unit that `pricing.prompt` of the contract shows: the first of these that has a price. */
  promptUnits: readonly PriceUnit[]
  /** One number to order endpoints by. It is a float and a mixture, so never use it for money. */
  comparedPrice(price: Price): number
}

/** Three parts of input to one of output, like typical chat traffic, so that one number can compare two price lists. */
const inputShare = 3
const outputShare = 1

/** The modalities, with a row each. */
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
      firstAboveZero(audioHour, inputAudioToken, inputToken),
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
      firstAboveZero(character, utf8Byte, outputAudioToken, audioHour),
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
    // One search unit covers a hundred pieces of five hundred tokens.
    comparedPrice: ({ searchUnit = 0n, inputToken }) =>
      searchUnit > 0n ? Number(searchUnit) / 50_000 : firstAboveZero(inputToken),
  },
} as const satisfies Record<string, ModalityRow>

/** A unit that is free must not hide the one that the call is billed by. */
function firstAboveZero(...prices: readonly (bigint | undefined)[]): number {
  return Number(prices.find((price) => price !== undefined && price > 0n) ?? 0n)
}

/** The modality of a model. */
export type Modality = keyof typeof modalities

/** Modalities whose operations take text, through interfaces. */
export type TextModality = {
  [Name in Modality]: (typeof modalities)[Name]['hasSound'] extends true ? never : Name
}[Modality]

/** Every kind, by its name. */
export const modalityNames = Object.keys(modalities) as readonly Modality[]

/** Whether endpoints of the modality have audio capabilities. */
export function isSoundModality(modality: Modality): modality is Exclude<Modality, TextModality> {
  return modalities[modality].hasSound
}

/** The row of a modality, without the narrow types of its values. */
export function modalityRow(modality: Modality): ModalityRow {
  return modalities[modality]
}
