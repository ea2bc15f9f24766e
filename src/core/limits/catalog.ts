/**
 * Models and the facts about them. Durations end in Ms, sizes in Bytes.
 */

/** Models one deployment's listing may name; the largest public listings have a few hundred. */
export const listedModelsMax = 5_000
/** Models that are processed before other work gets a turn of the event loop; so many take about 2 ms. */
export const modelsPerTurnMax = 50
/** Sets of parameters that are kept for each provider, one for all its models that are asked in the same way: a few are usual. */
export const parameterSetsMax = 1_000
/** Offers that are put into their models at a time, for the same reason. */
export const offersPerTurnMax = 1_000
/** Names of interfaces that are kept of one listed model. */
export const listedInterfacesMax = 20
/** How often the listings of all deployments are read again, and how long one may take. */
export const discoveryEveryMs = 600_000
export const discoveryWaitMs = 10_000
/** How soon a listing that failed is tried again, so that a local server started later is found. */
export const discoveryRetryMs = 30_000
/** How long a call for an unknown model waits while listings are read because of it. */
export const discoveryMissWaitMs = 1_000
/** Listings read at once. */
export const discoveryConcurrencyMax = 4
/** Models that a server is asked about one by one after one reading; the others are asked about after the next. */
export const inspectedModelsMax = 500
/** Model ids that are compared with an unknown one, and how many near ones the message names. */
export const nearestCandidatesMax = 2_000
export const nearestShownMax = 3
/** Models one page of the catalog may hold, by the contract. */
export const modelPageMax = 1_000
/** Pages of one provider's model listing that are read; the largest public one has two. */
export const listingPagesMax = 20
/** Largest provider model listing, or page of one, that is read, at once and in some 10 ms: 1.6 kB for each of the models it may name. */
export const listingBytesMax = 8_000_000
/** Groups of a name of the operator's own, one for each attempt that a call may make; members of a group; names and aliases. */
export const nameGroupsMax = 6
export const nameMembersMax = 100
/** Largest weight of a member of a name. */
export const weightMax = 1e9
export const namesMax = 1_000
/** Dearest price that is believed of a price list, USD for a million tokens or an hour, and its longest pattern of names. */
export const priceUsdMax = 100_000
export const ruleTextMax = 200
/** How deep its rules about names may lie within each other. */
export const ruleDepthMax = 64
/** A price that grows or shrinks by this factor counts as a mistake. */
export const priceJumpMax = 1_000n
/** Largest file of prices that is read, packed or not, and the largest list that is stored. */
export const priceFileBytesMax = 64_000_000
export const priceListBytesMax = 16_000_000
/** How often a process looks for newly taken prices, and how often it computes all prices again, because some begin on a day. */
export const pricesLookEveryMs = 5_000
export const pricesRenewEveryMs = 3_600_000
/** Lines of a comparison that are shown of models that came or went. */
export const priceLinesShownMax = 40
