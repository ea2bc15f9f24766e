/**
 * Whether a campaign runs whole, as `npm run prove` runs it, or as the small sample of an ordinary run, which has the
 * same cases of every kind in every run.
 */
export const isThorough = process.env['HEADRACE_THOROUGH'] === 'yes'

/** The environment that makes campaigns run whole. */
export const thoroughEnvironment = { HEADRACE_THOROUGH: 'yes' }
