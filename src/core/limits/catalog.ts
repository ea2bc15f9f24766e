/** Models that are processed before other work gets a turn of the event loop; this many take about 2 ms. */
export const modelsPerTurnMax = 50
/** How often the listings of all deployments are read again, and how long one may take. */
export const discoveryEveryMs = 600_000
export const discoveryWaitMs = 10_000
/** How soon a failed listing is read again, so that a local server started later is found. */
export const discoveryRetryMs = 30_000
/** Listings read at once. */
export const discoveryConcurrencyMax = 4
/** Model ids that are compared with an unknown one, and how many similar ones the message names. */
export const nearestCandidatesMax = 2_000
export const nearestShownMax = 3
/**
 * The largest provider model listing, or page of one. It is read at once, in some 10 ms: 1.6 kB for each of the models
 * it may name.
 */
export const listingBytesMax = 8_000_000
/** Groups of an operator's model name (one for each attempt of a call), members of a group, and names and aliases. */
export const nameGroupsMax = 6
export const nameMembersMax = 100
/** The largest weight of a member of such a name. */
export const weightMax = 1e9
export const namesMax = 1_000
/** Largest file of prices that is read, packed or not, and the largest list that is stored. */
export const priceFileBytesMax = 64_000_000
export const priceListBytesMax = 16_000_000
