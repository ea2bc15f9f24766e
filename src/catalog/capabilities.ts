import type { AudioCapabilities } from '../canonical/endpoint.ts'
import { modalities, modalityRow, type Modality } from '../canonical/operation.ts'

/**
 * What the names that match tell of their models. For a member that is left out, the next matching rule decides; so for
 * each member of `audio`. Listings rarely say such things. The operator's configuration overrules all rules.
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
  /** It searches the web without being asked to. */
  searches?: boolean
  /** A language model that is offered for transcriptions too, if its provider has an adapter for them. */
  transcribes?: boolean
  /** Audio capabilities beyond the minimum. */
  audio?: Partial<AudioCapabilities>
}

/** What a model can do, as far as rules for its name tell. */
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
 * Rules for common words in names, whoever made the model. They come after every provider's own rules, and are the only
 * rules for an unknown server. Names of authors and model families are in the providers' folders.
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

/** A model's traits by its provider's rules, then by the general ones; a model whose name matches no rule is a language model. */
export function traitsOf(upstreamModel: string, rules: readonly ModelRule[]): ModelTraits {
  const found: Omit<ModelRule, 'name'> = {}
  for (const rule of rules) addTold(found, rule, upstreamModel)
  for (const rule of generalRules) addTold(found, rule, upstreamModel)
  const { modality = 'language', sees = false, hears = false, reasons = false, searches = false } = found
  const { transcribes = false, audio = {} } = found
  return { modality, sees, hears, reasons, searches, transcribes, audio }
}

/** Adds the members of a matching rule that no rule before it has set. */
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

/** The input and output modalities of such a model, in the public catalog's terms. */
export function modalitiesOf(
  modality: Modality,
  { sees, hears }: Pick<ModelTraits, 'sees' | 'hears'>,
): { input: string[]; output: string[] } {
  const { inputs, outputs, isConversation } = modalityRow(modality)
  const besides = isConversation ? [...(sees ? ['image'] : []), ...(hears ? ['audio'] : [])] : []
  return { input: [...inputs, ...besides], output: [...outputs] }
}

/** The minimum of every audio model. The gateway fetches audio addresses unless an adapter says otherwise. */
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
