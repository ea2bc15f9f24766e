import type { Call } from '../../canonical/call.ts'
import type { Credential } from '../../canonical/credential.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { modelNamesOf } from '../../catalog/model-ids.ts'
import { comparedTextLengthMax } from '../../core/limits/text.ts'
import { stringsOf, withoutCallerText, type CallerWords } from '../../formats/caller-text.ts'
import { ProviderReport } from '../../formats/upstream-errors.ts'
import { hideSecrets } from '../../transport/credentials.ts'

/**
 * What a provider said of its failure, as far as the operator's log may have it: bounded, without secrets (also those
 * in the request), and without what the caller wrote. Null when the provider said nothing, or when the caller wrote
 * more than can be compared.
 */
export function providerWords(
  error: Error,
  call: Call,
  { endpoint, credential }: { endpoint: Endpoint; credential: Credential },
): string | null {
  const { cause } = error
  if (!(cause instanceof ProviderReport) || cause.said === '') return null
  const written = wordsOf(call)
  if (written === null) return null
  const said = hideSecrets(cause.said, credential)
  return withoutCallerText(said, { ...written, names: [...written.names, ...modelNamesOf(endpoint)] })
}

function wordsOf(call: Call): CallerWords | null {
  const names = [call.model, ...call.fallbackModels, ...call.parameters]
  if (call.kind === 'transcription') return { texts: [...call.keyterms], names }
  if (call.kind === 'speech') {
    const transcripts = call.references.flatMap(({ transcript }) => transcript ?? [])
    return { texts: [call.input, ...transcripts], names }
  }
  const { bytes, members } = call.document
  // An escaped character takes up to six bytes.
  if (bytes.length > comparedTextLengthMax * 6) return null
  const texts = stringsOf(JSON.parse(new TextDecoder().decode(bytes)))
  return { texts, names: [...names, ...members.keys()] }
}
