import type { TextCall } from '../../canonical/call.ts'
import { GatewayError } from '../../core/errors.ts'
import { mediaAddressLengthMax } from '../../core/limits/media.ts'
import {
  listNamedAddresses,
  mayNameAddress,
  type NamedAddress,
} from '../../formats/text/media/named-addresses.ts'
import type { ExecutionDependencies } from '../dependencies.ts'

/**
 * Different hosts of one call that are resolved before their addresses go to a server in the operator's own network.
 */
const guardedHostsMax = 20

/** Whether the call must be searched for addresses: some deployment is guarded, and the call may name an address. */
export function mayNeedGuard(call: TextCall, { serving }: ExecutionDependencies): boolean {
  return call.isPlain !== true && serving().hasGuarded && mayNameAddress(call)
}

/**
 * Notes in the call why a guarded deployment must not be sent it, where an address in it is not public: a server in the
 * operator's own network would fetch for a caller what the caller cannot reach. Other deployments may still be sent the
 * call, so `callFor` throws the refusal, not this function. The checks are the same as for what the gateway itself
 * fetches.
 */
export async function withCheckedAddresses(
  call: TextCall,
  { publicFetch }: ExecutionDependencies,
): Promise<TextCall> {
  const addresses = listNamedAddresses(call)
  if (addresses.length === 0) return call
  const tooMany = tooManyHosts(addresses)
  const refusals = tooMany === null ? await refusalsOf(addresses, publicFetch) : [{ url: '', error: tooMany }]
  return refusals.length === 0 ? call : { ...call, refusedAddresses: refusals }
}

/** Bounded, because each host costs a question to the resolver. */
function tooManyHosts(addresses: readonly NamedAddress[]): GatewayError | null {
  const hosts = new Set<string>()
  for (const { url, field } of addresses) {
    hosts.add(URL.parse(url ?? '')?.host ?? '')
    if (hosts.size > guardedHostsMax)
      return refused(
        field,
        `names one of more than ${guardedHostsMax} hosts. Send fewer, or the media itself`,
      )
  }
  return null
}

async function refusalsOf(
  addresses: readonly NamedAddress[],
  publicFetch: ExecutionDependencies['publicFetch'],
): Promise<{ url: string; error: unknown }[]> {
  const hosts = new Map<string, Promise<unknown>>()
  const checks = await Promise.allSettled(
    addresses.map(async ({ url, field }) => {
      if (url === null)
        throw refused(field, `has more than ${mediaAddressLengthMax} characters. Send the media itself`)
      const { url: read } = await publicFetch.check(url, field, { what: 'file', hosts })
      const host = new URL(read).host
      if (hostAsWritten(url) !== host)
        throw refused(field, `names its host in a way that servers read differently. Write ${host}`)
    }),
  )
  return checks.flatMap((check, index) =>
    check.status === 'rejected' ? [{ url: addresses[index]?.url ?? '', error: check.reason as unknown }] : [],
  )
}

/** The host as the caller wrote it, with any user name before it, and without the port that its scheme implies. */
function hostAsWritten(url: string): string {
  const [, scheme = '', host = ''] = /^(https?):\/\/([^/?#]*)/i.exec(url) ?? []
  return host.toLowerCase().replace(scheme.toLowerCase() === 'http' ? /:80$/ : /:443$/, '')
}

function refused(field: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${field}" ${problem}.`, { param: field })
}
