import type { MediaAddress } from '../../../canonical/call.ts'

/** Addresses that a provider fetches itself: of any kind, of https alone, or none, so that it is sent the bytes. */
type TakenAddresses = 'any' | 'https' | 'none'

/** Which media a provider fetches itself. */
export interface AddressSupport {
  image: TakenAddresses
  file: TakenAddresses
  /** Addresses that mean something to the provider alone, such as those of files that it keeps. */
  own?: RegExp
}

/** Whether the provider is sent the address as it stands. */
export function takesAddress(support: AddressSupport, { kind, url }: MediaAddress): boolean {
  if (support.own?.test(url)) return true
  const taken = support[kind]
  // Another scheme means something to the machine that the provider runs on, if to anybody.
  return (taken === 'any' && /^https?:/i.test(url)) || (taken === 'https' && /^https:/i.test(url))
}
