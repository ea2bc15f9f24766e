import type { Call } from '../../canonical/call.ts'
import type { Credential } from '../../canonical/credential.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { modelNamesOf } from '../../catalog/model-ids.ts'
import { withoutCallerText, type CallerWords } from '../../formats/caller-text.ts'
import { ProviderReport } from '../../formats/upstream-errors.ts'
import { hideSecrets } from '../../transport/credentials.ts'

/**
 * What a provider said of its failure, as far as the operator's log may have it: bounded, without secrets (also those
 * in the request), and without what the caller wrote, which `wordsOf` tells. Null when the provider said nothing, or when
 * the caller wrote more than can be compared.
 */
export function providerWords(
  error: Error,
  call: Call,
  {
    endpoint,
    credential,
    wordsOf,
  }: { endpoint: Endpoint; credential: Credential; wordsOf: () => CallerWords | null },
): string | null {
  const { cause } = error
  if (!(cause instanceof ProviderReport) || cause.said === '') return null
  const written = wordsOf()
  if (written === null) return null
  const names = [call.model, ...call.fallbackModels, ...call.parameters, ...written.names]
  const said = hideSecrets(cause.said, credential)
  return withoutCallerText(said, { texts: written.texts, names: [...names, ...modelNamesOf(endpoint)] })
}
