/** The longest URL that is fetched; signed URLs of object stores have about 1,500 characters. */
export const mediaAddressLengthMax = 8_192
/** The tokens assumed for a document that only its provider reads: ten pages with their pictures. */
export const unreadFileTokens = 25_000
