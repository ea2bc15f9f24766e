/**
 * Images and documents that a caller names by address and the gateway fetches. Durations end in Ms, sizes in Bytes.
 */

/** Different addresses fetched for one call; Anthropic takes 20 images of full size. */
export const mediaAddressesMax = 20
/** Different hosts of one call that are resolved before a server of the operator's own network is sent their addresses. */
export const guardedHostsMax = 20
/** The longest address that is fetched; signed ones of object stores have about 1,500 characters. */
export const mediaAddressLengthMax = 8_192
/** Largest image or document; providers refuse images from 5 to 20 MB on. */
export const mediaBytesMax = 20_000_000
/** All of one call together: as base64 they fit into the largest body that providers take, 50 MB. */
export const mediaTotalBytesMax = 32_000_000
/** The whole time for one address, including redirects: the caller has no answer yet. */
export const mediaFetchMs = 30_000
/** Addresses of one call that are fetched at once. */
export const mediaFetchesPerCall = 4
/** Addresses of all calls of this process that are fetched at once; further ones wait. */
export const mediaFetchesMax = 32
/** The most bytes written as base64 in one step: larger steps would stall all other calls. */
export const mediaStepBytes = 262_144
/** Tokens of a document that only its provider reads: ten pages with their pictures. */
export const unreadFileTokens = 25_000

/** Characters of media in base64 that are looked at: what follows is for the provider to find. */
export const base64CheckedLength = 65_536
