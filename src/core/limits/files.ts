/** Files of one page of a list. */
export const filesPageMax = 1_000
