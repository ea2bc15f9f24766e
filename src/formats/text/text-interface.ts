import type { TextCall } from '../../canonical/call.ts'
import type { AuthScheme, Endpoint } from '../../canonical/endpoint.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import type { TextQuirks } from './codec.ts'

/** The values that a path may depend on. */
export interface PathTarget {
  /** The provider's name of the model, not escaped. */
  model: string
  /** Whether the answer is to be streamed. */
  stream: boolean
}

/** The path of a request, with its method when that is not POST. */
export interface TextAddress {
  method: UpstreamRequest['method']
  /** The path below the base URL; begins with a slash. */
  path: string
}

/**
 * The path of requests below the base URL. Most providers have one path, which takes POST. Others put the model in it
 * (`/deployments/<model>/chat/completions`) or the action (`/models/<model>:streamGenerateContent`). Such a function
 * must escape the model with `encodeURIComponent`, because the model may be text of the caller. It may also return the
 * method with the path.
 */
export type TextPath = string | ((target: PathTarget) => string | TextAddress)

/** One way to ask a provider for text: the format, the path, and the differences from the format. */
export interface TextInterface<Quirks extends TextQuirks = TextQuirks> {
  format: Quirks['format']
  quirks: Quirks
  path: TextPath
  /**
   * Other paths, by the end of a deployment's base URL. The first ending that matches is replaced by its path. With `{
   * '/openai/v1': '/anthropic/v1/messages' }`, requests for the base URL `https://host/openai/v1` go to
   * `https://host/anthropic/v1/messages`; any other base URL has `path` after it.
   */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** The place of the key in requests through this interface, by the header that otherwise carries it. */
  auth?: Readonly<Record<string, AuthScheme>>
  /** Headers that every request through it carries besides. */
  headers?: Readonly<Record<string, string>>
  /** The frames around the events of a stream, where they are not those of server-sent events: `amazon` has one event in each. */
  framing?: 'amazon'
  /** Whether the interface answers such a call; absent when it answers all. */
  serves?: (asked: AskedInterface) => boolean
}

/**
 * The model that a call asks for (its public id and the provider's name), the caller's format, and the contract's
 * parameters that are set. `interfaces` is the `endpoints` member of the model in the provider's listing, absent when
 * there is none.
 */
export interface AskedInterface
  extends Pick<TextCall, 'format' | 'parameters'>, Pick<Endpoint, 'model' | 'upstreamModel' | 'interfaces'> {}

/**
 * Among the interfaces that serve the call, the one with the caller's own format, otherwise the first; null when there
 * is none.
 */
export function chooseInterface(
  interfaces: readonly TextInterface[],
  asked: AskedInterface,
): TextInterface | null {
  let first: TextInterface | null = null
  for (const each of interfaces) {
    if (each.serves !== undefined && !each.serves(asked)) continue
    if (each.format === asked.format) return each
    first ??= each
  }
  return first
}

/** The URL of an interface at a deployment. */
export function addressAt(
  baseUrl: string,
  { path, elsewhere }: Pick<TextInterface, 'path' | 'elsewhere'>,
  target: PathTarget,
): TextAddress & Pick<UpstreamRequest, 'inPlaceOf'> {
  return elsewhere === undefined
    ? addressOf(path, target)
    : addressElsewhere(baseUrl, { path, elsewhere }, target)
}

function addressElsewhere(
  baseUrl: string,
  { path, elsewhere }: Pick<TextInterface, 'path'> & { elsewhere: NonNullable<TextInterface['elsewhere']> },
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
