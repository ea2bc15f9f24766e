/** How long a stopping gateway waits for the reader of its output, which may hang. */
export const outputWaitMs = 2_000
