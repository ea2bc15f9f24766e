/**
 * Whether a campaign runs in full, as under `npm run prove`. Otherwise a small sample runs, which has the same cases
 * each time.
 */
export const isThorough = process.env['HEADRACE_THOROUGH'] === 'yes'

/** The environment in which campaigns run in full. */
export const thoroughEnvironment = { HEADRACE_THOROUGH: 'yes' }
