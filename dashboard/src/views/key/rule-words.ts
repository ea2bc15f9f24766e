import type { Key } from '../../api/keys.ts'
import { formatCount } from '../../values/money.ts'

/** How often a key may call, a line for each bound. */
export function rateWords(rates: Key['headrace']['rates']): string[] {
  const words = {
    requests_per_minute: 'requests',
    batches_per_minute: 'batches',
    tokens_per_minute: 'tokens',
  }
  return (Object.keys(words) as (keyof typeof words)[]).flatMap((name) => {
    const most = rates[name]
    return most == null ? [] : [`${formatCount(most)} ${words[name]} a minute`]
  })
}

/** What a policy lets calls use, a line for each rule. */
export function policyWords(policy: Key['headrace']['policy']): string[] {
  const words: string[] = []
  const list = (word: string, ids: readonly string[] | null | undefined) => {
    if (ids != null) words.push(`${word} ${ids.join(', ')}`)
  }
  list('only the models', policy.allowed_models)
  list('never the models', policy.ignored_models)
  list('only the providers', policy.allowed_providers)
  list('never the providers', policy.ignored_providers)
  if (policy.enforce_zdr === true) words.push('only endpoints with zero data retention')
  if (policy.deny_data_collection === true) words.push('no endpoint that may train on calls')
  return words
}
