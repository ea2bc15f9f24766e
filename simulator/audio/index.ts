import * as apis from './apis.ts'
import { cohere, jina, ownReranker, tei, voyage } from '../rerank/apis.ts'
import type { AudioApi } from './audio-api.ts'

/** The providers' own APIs of audio and of reranking; each mount has all of them, each below its slug. */
const audioApis: readonly AudioApi[] = [...Object.values(apis), cohere, jina, ownReranker, tei, voyage]

/** The slugs of the APIs, as alternatives of a regular expression. */
export const audioSlugs = audioApis.map(({ slug }) => slug).join('|')

const prefixes = new RegExp(`^/(${audioSlugs})(/.*)$`)

/** The API that a path below a mount belongs to, with the path below the API's own prefix; null for every other path. */
export function audioApiAt(path: string): { api: AudioApi; below: string } | null {
  const [, slug, below = '/'] = prefixes.exec(path) ?? []
  const api = audioApis.find((one) => one.slug === slug)
  return api === undefined ? null : { api, below }
}
