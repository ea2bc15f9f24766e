import type { GatewayClient } from '../client.ts'
import { listOrEmpty, numberOrZero, recordOrEmpty, textOrEmpty } from '../../json/values.ts'

/** The sentence that is spoken and then transcribed; the sandbox's recogniser knows it. */
export const spokenSentence = 'The weather is good today.'

/** The members of a model in `GET /models` that commands read. */
export interface ListedByGateway {
  id: string
  inputs: readonly string[]
  outputs: readonly string[]
  contextLength: number
  /** USD per unit, as the catalog writes them; `-1` when unknown. */
  promptPrice: string
  completionPrice: string
  /** USD per second of audio; empty when audio is not priced by its length. */
  audioPrice: string
  /** USD per search unit; empty when none is priced. */
  searchPrice: string
  voices: readonly string[]
}

/** One model per operation; null when none is served. */
export interface TryModels {
  chat: ListedByGateway | null
  embeddings: ListedByGateway | null
  speech: ListedByGateway | null
  transcription: ListedByGateway | null
}

/** Every model that this key can see; without a key, the public ones. */
export async function listModels(client: GatewayClient, key: string | null): Promise<ListedByGateway[]> {
  const answer = await client.json('/models?output_modalities=all', { key })
  return listOrEmpty(answer['data']).map((entry) => {
    const model = recordOrEmpty(entry)
    const architecture = recordOrEmpty(model['architecture'])
    const pricing = recordOrEmpty(model['pricing'])
    const rules = recordOrEmpty(recordOrEmpty(model['headrace'])['pricing_rules'])
    const promptPrice = textOrEmpty(pricing['prompt']) || '-1'
    return {
      id: textOrEmpty(model['id']),
      inputs: listOrEmpty(architecture['input_modalities']).map(textOrEmpty),
      outputs: listOrEmpty(architecture['output_modalities']).map(textOrEmpty),
      contextLength: numberOrZero(model['context_length']),
      promptPrice,
      completionPrice: textOrEmpty(pricing['completion']) || '-1',
      // When text has a price, the price of audio is per token too.
      audioPrice: Number(promptPrice) > 0 ? '' : textOrEmpty(pricing['audio']),
      searchPrice: textOrEmpty(rules['per_search_unit']),
      voices: listOrEmpty(model['supported_voices']).map(textOrEmpty),
    }
  })
}

/** Models that answer quickly and cost little; the first pattern that matches a model is used. */
const preferred: Readonly<Record<keyof TryModels, readonly RegExp[]>> = {
  chat: [/gpt-4o-mini$/, /gpt-4\.1-(mini|nano)$/, /mini|small|flash|nano|haiku|8b|instant/],
  embeddings: [/3-small$/, /small|embed/],
  // Models with segment times show more of a transcript than the others.
  transcription: [/whisper-1$/, /whisper/],
  speech: [/tts-1$/, /mini-tts/],
}

const outputOf: Readonly<Record<keyof TryModels, string>> = {
  chat: 'text',
  embeddings: 'embeddings',
  transcription: 'transcription',
  speech: 'speech',
}

/**
 * The model with this output that matches the first possible pattern, otherwise any; null when none has this output.
 * Variants are left out, and models without a known price come last.
 */
export function chooseModel(
  models: readonly ListedByGateway[],
  output: string,
  patterns: readonly RegExp[],
): ListedByGateway | null {
  const fitting = models.filter(({ id, outputs }) => outputs.includes(output) && !/:[a-z]+$/.test(id))
  const priced = fitting.filter((model) => Number(model.promptPrice) >= 0)
  const candidates = priced.length > 0 ? priced : fitting
  for (const pattern of patterns) {
    const found = candidates.find(({ id }) => pattern.test(id))
    if (found) return found
  }
  return candidates[0] ?? null
}

/** Chooses a model for each operation. */
export function chooseModels(models: readonly ListedByGateway[]): TryModels {
  const choose = (operation: keyof TryModels) =>
    chooseModel(models, outputOf[operation], preferred[operation])
  return {
    chat: choose('chat'),
    embeddings: choose('embeddings'),
    speech: choose('speech'),
    transcription: choose('transcription'),
  }
}
