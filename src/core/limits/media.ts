/** The longest address that is fetched; signed ones of object stores have about 1,500 characters. */
export const mediaAddressLengthMax = 8_192
/** Tokens of a document that only its provider reads: ten pages with their pictures. */
export const unreadFileTokens = 25_000
