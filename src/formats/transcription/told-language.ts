import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'
import { toLanguageCode } from './language-names.ts'

type Known = Pick<AudioCapabilities, 'languages'>

/** Norwegian Bokmål has its own code, and most providers know only one of the two. */
const sameLanguage: Readonly<Record<string, string>> = { nb: 'no', no: 'nb' }

/**
 * A caller's two-letter language in the provider's spelling: `cmn` for `zh`, `jw` for `jv`, `no` for `nb`. Null when
 * the provider lists its languages and this is not one of them.
 */
export function languageAmong(language: string, { languages }: Known): string | null {
  if (languages === null || languages.includes(language)) return language
  const named = languages.find((known) => toLanguageCode(known) === language)
  if (named !== undefined) return named
  const same = sameLanguage[language]
  return same !== undefined && languages.includes(same) ? same : null
}

/**
 * The language as the endpoint gets it. Endpoints that do not know the language are not asked, so it is never left out.
 */
export function toldLanguage(language: string, { audio }: Pick<Endpoint, 'audio'>): string {
  return audio === null ? language : (languageAmong(language, audio) ?? language)
}

/** The languages in the two-letter codes that callers use. */
export function callerLanguages({ languages }: Known): string[] {
  return (languages ?? []).map(toLanguageCode).filter((code) => code.length === 2)
}
