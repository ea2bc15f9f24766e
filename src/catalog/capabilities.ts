import type { AudioCapabilities } from '../canonical/endpoint.ts'
import { modalities, modalityRow, type Modality } from '../canonical/operation.ts'

/**
 * What is known of the models whose names fit. A member that is left out is decided by the next rule that fits, and
 * so is each of `audio`. Listings
 * rarely say such things; the operator's configuration overrules all of them.
 */
export interface ModelRule {
  name: RegExp
  /** The kind of model; null when none of the operations serves it. */
  modality?: Modality | null
  /** A language model takes images besides text. */
  sees?: boolean
  /** A language model takes audio besides text. */
  hears?: boolean
  /** It thinks before it answers. */
  reasons?: boolean
  /** It searches unasked. */
  searches?: boolean
  /** A language model that is offered for transcriptions as well, where its provider has an adapter for them. */
  transcribes?: boolean
  /** What an audio model offers beyond the least. */
  audio?: Partial<AudioCapabilities>
}

/** What a model can do, as far as its name tells. */
export interface ModelTraits {
  /** Null when none of the operations serves it. */
  modality: Modality | null
  sees: boolean
  hears: boolean
  reasons: boolean
  searches: boolean
  transcribes: boolean
  audio: Partial<AudioCapabilities>
}

/**
 * What the usual words of names mean, whoever made the model: the end of every provider's own rules, and all there is
 * for a server nobody knows. Names of makers and of their families stand in the folders of providers.
 */
const generalRules: readonly ModelRule[] = [
  ...Object.entries(modalities).flatMap(([modality, { named }]) =>
    named === null ? [] : [{ name: named, modality: modality as Modality }],
  ),
  { name: /moderation|image|video|rerank|realtime|(^|[-/])live-|-ocr/i, modality: null },
  { name: /vision|-vl/i, sees: true },
  { name: /reason|think/i, reasons: true },
  { name: /-search-(preview|api)|deep-?research|:online$/i, searches: true },
]

/** What the name of a model tells by the rules of its provider, then by the general ones; an unknown name is a language model's. */
export function traitsOf(upstreamModel: string, rules: readonly ModelRule[]): ModelTraits {
  const found: Omit<ModelRule, 'name'> = {}
  for (const rule of rules) addTold(found, rule, upstreamModel)
  for (const rule of generalRules) addTold(found, rule, upstreamModel)
  const { modality = 'language', sees = false, hears = false, reasons = false, searches = false } = found
  const { transcribes = false, audio = {} } = found
  return { modality, sees, hears, reasons, searches, transcribes, audio }
}

/** Adds what a rule that fits says of what no rule before it said. */
function addTold(found: Omit<ModelRule, 'name'>, rule: ModelRule, upstreamModel: string): void {
  if (!rule.name.test(upstreamModel)) return
  const { modality, sees, hears, reasons, searches, transcribes, audio } = rule
  if (modality !== undefined) found.modality = found.modality === undefined ? modality : found.modality
  if (sees !== undefined) found.sees ??= sees
  if (hears !== undefined) found.hears ??= hears
  if (reasons !== undefined) found.reasons ??= reasons
  if (searches !== undefined) found.searches ??= searches
  if (transcribes !== undefined) found.transcribes ??= transcribes
  if (audio !== undefined) found.audio = { ...audio, ...found.audio }
}

/** What a model of this kind takes and gives, as the public catalog names it. */
export function modalitiesOf(
  modality: Modality,
  { sees, hears }: Pick<ModelTraits, 'sees' | 'hears'>,
): { input: string[]; output: string[] } {
  const { inputs, outputs, isConversation } = modalityRow(modality)
  const besides = isConversation ? [...(sees ? ['image'] : []), ...(hears ? ['audio'] : [])] : []
  return { input: [...inputs, ...besides], output: [...outputs] }
}

/** The least an audio model may be taken to offer. Addresses are fetched by the gateway unless an adapter says otherwise. */
export const leastAudio: AudioCapabilities = {
  verboseJson: false,
  wordTimes: false,
  diarize: false,
  segmentSpeakers: false,
  keyterms: null,
  entities: false,
  url: false,
  uploadFormats: null,
  uploadBytesMax: null,
  audioMillisecondsMax: null,
  languages: null,
  speed: null,
  speechFormats: ['mp3', 'pcm'],
  inputCharactersMax: null,
  voiceCloning: false,
  multipleReferences: false,
  referenceTranscripts: false,
  imageReference: false,
  defaultVoice: null,
  isVoiceOptional: false,
  voices: null,
}
