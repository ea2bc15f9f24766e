/** Models that are processed before other work gets a turn of the event loop; this many take about 2 ms. */
export const modelsPerTurnMax = 50
/** How long the listing of one deployment may take. */
export const discoveryWaitMs = 10_000
/** How soon a failed listing is read again, so that a local server started later is found. */
export const discoveryRetryMs = 30_000
/** Listings read at once. */
export const discoveryConcurrencyMax = 4
/** How many similar model ids the message about an unknown one names. */
export const nearestShownMax = 3
/**
 * The largest provider model listing, or page of one. It is read at once, in some 10 ms: 1.6 kB for each of the models
 * it may name.
 */
export const listingBytesMax = 8_000_000
/** Groups of an operator's model name (one for each attempt of a call), members of a group, and names and aliases. */
export const nameGroupsMax = 6
export const nameMembersMax = 100
/** The largest weight of a member of a name. */
export const weightMax = 1e9
