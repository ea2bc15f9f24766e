import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'
import { toLanguageCode } from './language-names.ts'

type Known = Pick<AudioCapabilities, 'languages'>

/** Norwegian as it is mostly written has a code of its own, and most providers know one of the two alone. */
const sameLanguage: Readonly<Record<string, string>> = { nb: 'no', no: 'nb' }

/**
 * A caller's language of two letters in the words of a provider: `cmn` for `zh`, `jw` for `jv`, `no` for `nb`. Null where the
 * provider has said which it knows, and this is none of them.
 */
export function languageAmong(language: string, { languages }: Known): string | null {
  if (languages === null || languages.includes(language)) return language
  const named = languages.find((known) => toLanguageCode(known) === language)
  if (named !== undefined) return named
  const same = sameLanguage[language]
  return same !== undefined && languages.includes(same) ? same : null
}

/** The caller's language as the endpoint is told it. Endpoints that do not know it are not asked, so that it is never left out. */
export function toldLanguage(language: string, { audio }: Pick<Endpoint, 'audio'>): string {
  return audio === null ? language : (languageAmong(language, audio) ?? language)
}

/** The languages as callers name them, who have codes of two letters alone. */
export function callerLanguages({ languages }: Known): string[] {
  return (languages ?? []).map(toLanguageCode).filter((code) => code.length === 2)
}
