import { checkOut } from '../../bench/harness/checkout.ts'

/** The version that outsiders attacked first. */
export const versionOfFirstAttack = '9f0b9d51a6fb405fcf871f0c1e6a29f234e26a84'

/** The last version that carried one text format. */
export const versionOfOneFormat = 'bf7a9f9b7853acd441a9942fe537c8d976f342bc'

/** The last version with two formats of providers. */
export const versionOfTwoFormats = '0fc2ac552700d2719740bc2936d417f85bf46484'

/** The version that outsiders attacked for the second time. */
export const versionOfSecondAttack = '7a5f007234ec43f214b86344bce328d68a96b3cb'

/** Why a version cannot be started here, or null. */
export function whyNoVersion(version: string): string | null {
  return checkOut(version) === null ? 'the history does not reach back to the version before' : null
}

/** The root of a checkout of a version, of which it is known that there is one. */
export function rootOf(version: string): string {
  const root = checkOut(version)
  if (root === null) throw new Error(`there is no version ${version}`)
  return root
}
