import { randomUUID } from 'node:crypto'
import type { FetchedMedia, MediaAddress, TextCall } from '../../canonical/call.ts'
import type { Deployment, Endpoint } from '../../canonical/endpoint.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { inTurns } from '../../core/turns.ts'
import { type AddressSupport, takesAddress } from '../../formats/text/media/address-support.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import { listAddresses, type LoadedMedia, placeMedia } from '../../formats/text/media/media-addresses.ts'
import { mediaHeadBytes, type MediaType, mediaTypeOf } from '../../formats/text/media/media-type.ts'
import { chooseInterface } from '../../formats/text/text-interface.ts'
import type { TextQuirks } from '../../formats/text/codec.ts'
import { textInterfacesOf } from '../../providers/define-provider.ts'
import type { FetchWish } from '../../transport/public-fetch.ts'
import { operations } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { mayNeedGuard, withCheckedAddresses } from './guarded-addresses.ts'
import { Places } from './places.ts'
import { endpointsOf, routedCallOf } from '../preparing/route-model.ts'
import type { RequestScope } from '../call/scope.ts'
import type { Serving } from '../serving.ts'

/**
 * Images and documents that a caller names by address and the gateway fetches. Durations end in Ms, sizes in Bytes.
 */

/** Different addresses fetched for one call; Anthropic takes 20 images of full size. */
export const mediaAddressesMax = 20
/** Largest image or document; providers refuse images from 5 to 20 MB on. */
const mediaBytesMax = 20_000_000
/** All of one call together: as base64 they fit into the largest body that providers take, 50 MB. */
export const mediaTotalBytesMax = 32_000_000
/** The whole time for one address, including redirects: the caller has no answer yet. */
const mediaFetchMs = 30_000
/** Addresses of one call that are fetched at once. */
const mediaFetchesPerCall = 4
/** Addresses of all calls of this process that are fetched at once; further ones wait. */
const mediaFetchesMax = 32

/** Shared by all calls of this process. */
const places = new Places(mediaFetchesMax)

/**
 * The call with the media that it names by address, fetched once, where some endpoint that it may be sent to does not
 * take such an address, and checked where one of the endpoints is guarded. The gateway fetches before it holds, because
 * the hold depends on the size. An address that cannot be fetched is refused once an endpoint needs it; other endpoints
 * may fetch it themselves.
 */
export async function withFetchedMedia(
  call: TextCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<TextCall> {
  const addresses = listAddresses(call)
  const mayBeGuarded = mayNeedGuard(call, dependencies)
  if (addresses.length === 0 && !mayBeGuarded) return call
  const serving = dependencies.serving()
  const models = [call.model, ...call.fallbackModels]
  const endpoints = endpointsOf(routedCallOf(call, [], scope, serving), models, dependencies)
  const isGuarded = mayBeGuarded && endpoints.some(({ deployment }) => deployment.isGuarded)
  const checked = isGuarded ? await withCheckedAddresses(call, dependencies) : call
  const supports = endpoints.map((endpoint) => supportOf(endpoint, call, serving))
  const needed = addresses.filter((address) => supports.some((support) => !takesAddress(support, address)))
  if (needed.length === 0) return checked
  scope.facts.operation = call.operation
  scope.facts.model = call.model
  return fetchAll(checked, needed, { scope, dependencies })
}

/**
 * The call as this provider is sent it. Throws `invalid_request` for an address that the provider must not be sent, or
 * that it does not take and the gateway could not fetch.
 */
export function callFor(call: TextCall, quirks: TextQuirks, { isGuarded }: Deployment): TextCall {
  const { fetched, refusedAddresses } = call
  if (isGuarded === true && refusedAddresses !== undefined)
    for (const { url, error } of refusedAddresses)
      // What only the provider understands leads nowhere in the operator's network.
      if (quirks.addresses.own?.test(url) !== true) throw error
  return fetched === undefined ? call : withFetched(call, fetched, quirks)
}

function withFetched(
  call: TextCall,
  fetched: NonNullable<TextCall['fetched']>,
  quirks: TextQuirks,
): TextCall {
  const needed = fetched.addresses.filter((address) => !takesAddress(quirks.addresses, address))
  for (const { url } of needed) {
    const failure = fetched.failures.get(url)
    if (failure !== undefined) throw failure
  }
  return needed.length === 0 ? call : { ...call, document: fetched.document }
}

const takesAll: AddressSupport = { image: 'any', file: 'any' }

function supportOf(endpoint: Endpoint, call: TextCall, serving: Serving): AddressSupport {
  const { format, parameters } = call
  const interfaces = textInterfacesOf(serving.adaptersOf(endpoint.deployment), endpoint.modality)
  const asked = chooseInterface(interfaces, { ...endpoint, format, parameters })
  return asked?.quirks.addresses ?? takesAll
}

interface Fetching {
  scope: RequestScope
  dependencies: ExecutionDependencies
}

async function fetchAll(
  call: TextCall,
  addresses: readonly MediaAddress[],
  fetching: Fetching,
): Promise<TextCall> {
  const byUrl = new Map(addresses.toReversed().map((address) => [address.url, address]))
  const waiting = [...byUrl.values()].toReversed()
  const tooMany = waiting[mediaAddressesMax]
  if (tooMany) {
    throw refused(
      tooMany,
      `is one of more than ${mediaAddressesMax} addresses. Send fewer, or the media itself`,
    )
  }
  const loaded = new Map<string, LoadedMedia>()
  const failures = new Map<string, GatewayError>()
  const budget = { bytesLeft: mediaTotalBytesMax }
  const work = async () => {
    for (let address = waiting.shift(); address; address = waiting.shift()) {
      try {
        loaded.set(address.url, await load(address, budget, fetching))
      } catch (error) {
        failures.set(address.url, toGatewayError(error))
      }
    }
  }
  await Promise.all(Array.from({ length: mediaFetchesPerCall }, work))
  if (fetching.scope.signal.aborted)
    throw new GatewayError('invalid_request', 'The call ended before its media was fetched.')
  const fetched = { addresses, failures }
  if (loaded.size === 0) return { ...call, fetched: { ...fetched, document: call.document } }
  return withDocument(call, fetched, loaded)
}

/** Fetched media counts like media that a caller sends inline, so the request is decoded again with it. */
async function withDocument(
  call: TextCall,
  fetched: Omit<FetchedMedia, 'document'>,
  loaded: ReadonlyMap<string, LoadedMedia>,
): Promise<TextCall> {
  const bytes = await inTurns(placeMedia(call, loaded, { nonce: randomUUID() }))
  const lean = await leanOf(bytes)
  const decoded = operations[call.operation].text?.decode(bytes, { sessionIdHeader: null, lean })
  if (decoded === undefined) return call
  return { ...call, demand: decoded.demand, fetched: { ...fetched, document: decoded.document } }
}

const wishes = {
  image: { what: 'image', accept: 'image/png, image/jpeg, image/gif, image/webp' },
  file: { what: 'file', accept: 'application/pdf' },
} as const satisfies Record<MediaAddress['kind'], Pick<FetchWish, 'what' | 'accept'>>

async function load(
  address: MediaAddress,
  budget: { bytesLeft: number },
  { scope, dependencies }: Fetching,
): Promise<LoadedMedia> {
  const { url, kind, field } = address
  const { signal } = scope
  const free = await places.take(signal)
  try {
    const file = await dependencies.publicFetch(url, field, {
      ...wishes[kind],
      timeoutMs: mediaFetchMs,
      signal,
    })
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of file.body) {
      size += chunk.length
      budget.bytesLeft -= chunk.length
      chunks.push(chunk)
      if (size <= mediaBytesMax && budget.bytesLeft >= 0) continue
      file.body.destroy()
      throw tooLarge(address, size > mediaBytesMax)
    }
    return { mediaType: checkedType(chunks, address), chunks, name: nameOf(file.name) }
  } finally {
    free()
  }
}

/** The type by the bytes, not by the server's header: providers refuse an image whose type is not the stated one. */
function checkedType(chunks: readonly Uint8Array[], address: MediaAddress): MediaType {
  const type = mediaTypeOf(headOf(chunks))
  if (address.kind === 'image' && type?.startsWith('image/')) return type
  if (address.kind === 'file' && type === 'application/pdf') return type
  const wanted = address.kind === 'image' ? 'an image in PNG, JPEG, GIF or WebP' : 'a PDF'
  throw refused(
    address,
    `names something that is not ${wanted}. Send another address, or the ${address.kind} itself`,
  )
}

/** The first bytes, also where they came in small pieces. */
function headOf(chunks: readonly Uint8Array[]): Uint8Array {
  const first: Uint8Array[] = []
  let length = 0
  for (const chunk of chunks) {
    if (length >= mediaHeadBytes) break
    first.push(chunk)
    length += chunk.length
  }
  return Buffer.concat(first)
}

function nameOf(name: string): string {
  return /^[\w. -]{1,100}$/.test(name) ? name : 'document.pdf'
}

function tooLarge(address: MediaAddress, isAlone: boolean): GatewayError {
  const bound = isAlone
    ? `names more than ${mediaBytesMax} bytes`
    : `and the addresses before it name more than ${mediaTotalBytesMax} bytes together`
  return refused(address, `${bound}. Send something smaller`)
}

function refused({ field }: MediaAddress, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${field}" ${problem}.`, { param: field })
}
