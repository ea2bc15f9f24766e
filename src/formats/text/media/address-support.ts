import type { MediaAddress } from '../../../canonical/call.ts'

/** The URLs that a provider fetches itself: any, only https, or none. Otherwise it gets the bytes. */
type TakenAddresses = 'any' | 'https' | 'none'

/** Which media a provider fetches itself. */
export interface AddressSupport {
  image: TakenAddresses
  file: TakenAddresses
  /** URLs that only the provider understands, such as those of files that it keeps. */
  own?: RegExp
}

/** Whether the provider gets the URL unchanged. */
export function takesAddress(support: AddressSupport, { kind, url }: MediaAddress): boolean {
  if (support.own?.test(url)) return true
  const taken = support[kind]
  // Another scheme would name something on the provider's own machine.
  return (taken === 'any' && /^https?:/i.test(url)) || (taken === 'https' && /^https:/i.test(url))
}
