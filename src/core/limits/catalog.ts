/** Models that are processed before other work gets a turn of the event loop; so many take about 2 ms. */
export const modelsPerTurnMax = 50
/** How often the listings of all deployments are read again, and how long one may take. */
export const discoveryEveryMs = 600_000
export const discoveryWaitMs = 10_000
/** How soon a listing that failed is tried again, so that a local server started later is found. */
export const discoveryRetryMs = 30_000
/** Listings read at once. */
export const discoveryConcurrencyMax = 4
/** Model ids that are compared with an unknown one, and how many near ones the message names. */
export const nearestCandidatesMax = 2_000
export const nearestShownMax = 3
/** Largest provider model listing, or page of one, that is read, at once and in some 10 ms: 1.6 kB for each of the models it may name. */
export const listingBytesMax = 8_000_000
/** Groups of a name of the operator's own, one for each attempt that a call may make; members of a group; names and aliases. */
export const nameGroupsMax = 6
export const nameMembersMax = 100
/** Largest weight of a member of a name. */
export const weightMax = 1e9
export const namesMax = 1_000
/** Largest file of prices that is read, packed or not, and the largest list that is stored. */
export const priceFileBytesMax = 64_000_000
export const priceListBytesMax = 16_000_000
