/**
 * The settings of a profile in Amazon's shared files: `credentials`, where a section is named as the profile, and `config`,
 * where it is `profile NAME` except for `default`. Those of the first file win. An empty object when there is none.
 */
export function readProfile(
  [credentials, config]: readonly (string | null)[],
  name: string,
): Readonly<Record<string, string | undefined>> {
  const ofConfig = sectionOf(
    config ?? '',
    name === 'default' ? ['default', 'profile default'] : [`profile ${name}`],
  )
  return { ...ofConfig, ...sectionOf(credentials ?? '', [name]) }
}

/** Lines of a section; an indented line belongs to a nested setting, which is none of a login's. */
function sectionOf(text: string, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  let isInside = false
  for (const line of text.split(/\r?\n/)) {
    const [, title] = /^\[\s*([^\]]*?)\s*\]/.exec(line) ?? []
    if (title !== undefined) isInside = names.includes(title.replace(/\s+/g, ' '))
    const [, key, value = ''] = /^([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (isInside && key !== undefined) found[key.toLowerCase()] = value
  }
  return found
}
