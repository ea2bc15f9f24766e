import type { TextCall } from '../../canonical/call.ts'
import type { AuthScheme, Endpoint } from '../../canonical/endpoint.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import type { TextQuirks } from './codec.ts'

/** What a path may depend on. */
export interface PathTarget {
  /** The name the upstream knows, not escaped. */
  model: string
  /** Whether the answer is to be streamed. */
  stream: boolean
}

/** Where a request goes, and how, where it is not the usual POST. */
export interface TextAddress {
  method: UpstreamRequest['method']
  /** Below the base URL; begins with a slash. */
  path: string
}

/**
 * Where below the base URL requests go. Most providers have one path, which takes POST; others name the model in it
 * (`/deployments/<model>/chat/completions`) or what is to be done with it (`/models/<model>:streamGenerateContent`).
 * Such a function escapes the model with `encodeURIComponent`, because a caller's text may stand in it,
 * and may name the method together with the path.
 */
export type TextPath = string | ((target: PathTarget) => string | TextAddress)

/** A way in which a provider is asked for text: which format it speaks there, where, and how it departs from it. */
export interface TextInterface<Quirks extends TextQuirks = TextQuirks> {
  format: Quirks['format']
  quirks: Quirks
  path: TextPath
  /**
   * Other addresses by how a deployment's base URL ends: the first ending that fits gives way to its path, which then
   * begins where the ending began. With `{ '/openai/v1': '/anthropic/v1/messages' }` a base URL of
   * `https://host/openai/v1` is asked at `https://host/anthropic/v1/messages`; any other has `path` behind it.
   */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** Where a key travels here, by the header in which it travels otherwise. */
  auth?: Readonly<Record<string, AuthScheme>>
  /** What every request through it carries besides. */
  headers?: Readonly<Record<string, string>>
  /** Whether it is to answer such a call; absent where it answers all. */
  serves?: (asked: AskedInterface) => boolean
}

/**
 * Which model of a provider's is asked, by its public id and by the provider's name; by a caller of which format, and which
 * of the contract's parameters are set. `interfaces` is the member `endpoints` that the provider's listing has of the model,
 * absent where it has none.
 */
export interface AskedInterface
  extends Pick<TextCall, 'format' | 'parameters'>, Pick<Endpoint, 'model' | 'upstreamModel' | 'interfaces'> {}

/**
 * Of the interfaces that serve the call the one that takes the caller's format as it is, else the first; null when there
 * is none.
 */
export function chooseInterface(
  interfaces: readonly TextInterface[],
  asked: AskedInterface,
): TextInterface | null {
  const serving = interfaces.filter(({ serves }) => serves === undefined || serves(asked))
  return serving.find(({ format }) => format === asked.format) ?? serving[0] ?? null
}

/** Where an interface is asked at a deployment's address. */
export function addressAt(
  baseUrl: string,
  { path, elsewhere = {} }: Pick<TextInterface, 'path' | 'elsewhere'>,
  target: PathTarget,
): TextAddress & Pick<UpstreamRequest, 'inPlaceOf'> {
  const [ending, other] = Object.entries(elsewhere).find(([each]) => baseUrl.endsWith(each)) ?? []
  const address = addressOf(other ?? path, target)
  return ending === undefined ? address : { ...address, inPlaceOf: ending }
}

function addressOf(path: TextPath, target: PathTarget): TextAddress {
  const address = typeof path === 'string' ? path : path(target)
  return typeof address === 'string' ? { method: 'POST', path: address } : address
}
