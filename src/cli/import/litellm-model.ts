import type { Remarks } from './remarks.ts'
import { scaled } from './litellm-values.ts'
import type { YamlValue } from './yaml-tree.ts'

/** A model as it is to stand in the configuration file. */
export interface ImportedModel {
  id: string
  upstream: string
  modality?: 'language' | 'embedding' | 'transcription' | 'speech'
  prices?: Record<string, string>
  context_length?: number
  output_tokens_max?: number
}

/** Prices by LiteLLM's names, as members of the configuration, and by which power of ten or factor they differ. */
const prices: readonly (readonly [theirs: string, ours: string, power: number])[] = [
  ['input_cost_per_token', 'input_per_million', 6],
  ['output_cost_per_token', 'output_per_million', 6],
  ['cache_read_input_token_cost', 'cached_input_per_million', 6],
  ['cache_creation_input_token_cost', 'cache_write_per_million', 6],
  ['cache_creation_input_token_cost_above_1hr', 'cache_write_hour_per_million', 6],
  ['input_cost_per_audio_token', 'input_audio_per_million', 6],
  ['output_cost_per_audio_token', 'output_audio_per_million', 6],
  ['input_cost_per_character', 'characters_per_million', 6],
  ['input_cost_per_request', 'per_request', 0],
]

interface Described {
  entry: YamlValue
  /** A member of `litellm_params`, which may state prices too. */
  parameter: (name: string) => YamlValue | null
  mode: ImportedModel['modality'] | undefined
  remarks: Remarks
}

/** The model with what `model_info` says of its kind, prices and limits. */
export function readModel(
  { id, upstream }: Pick<ImportedModel, 'id' | 'upstream'>,
  { entry, parameter, mode, remarks }: Described,
): ImportedModel {
  const info = entry.member('model_info')
  const member = (name: string) => info?.member(name) ?? parameter(name)
  const found: Record<string, string> = {}
  for (const [theirs, ours, power] of prices) {
    const value = member(theirs)
    const amount = value?.text() ?? null
    const price = amount === null ? null : scaled(amount, power)
    if (price !== null) found[ours] = price
    else if (value) remarks.about(value, 'is no amount, so the price is not carried')
  }
  // LiteLLM itself bills the one or the other, and its own lists state both for the same second.
  for (const theirs of ['output_cost_per_second', 'input_cost_per_second']) {
    const value = member(theirs)
    const text = value?.text() ?? null
    const price = text === null ? null : scaled(text, 0)
    if (value && price === null) remarks.about(value, 'is no amount, so the price is not carried')
    if (price !== null && (found['audio_per_second'] ?? '0') === '0') found['audio_per_second'] = price
  }
  const context = info?.member('max_input_tokens')?.number()
  const output = info?.member('max_output_tokens')?.number() ?? info?.member('max_tokens')?.number()
  return {
    id,
    upstream,
    ...(mode === undefined ? {} : { modality: mode }),
    ...(Object.keys(found).length === 0 ? {} : { prices: found }),
    ...(isCount(context) ? { context_length: context } : {}),
    ...(isCount(output) ? { output_tokens_max: output } : {}),
  }
}

function isCount(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
