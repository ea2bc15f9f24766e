import { type ProviderOutline, unresolved } from './config-file.ts'

/** What reading the environment needs to know about a preset. */
export interface PresetEnvironment {
  slug: string
  /** Variable that holds the provider's key, such as OPENAI_API_KEY; null when the provider needs none. */
  keyVariable: string | null
  /** Address of the provider; null when the configuration must name it. */
  baseUrl: string | null
  /** How its address must end, where that says in which of its forms it is asked; absent where any address will do. */
  baseUrlEndings?: readonly string[]
  /** Other ways in which a key travels there, by the names that `key_form` takes; absent where there is one alone. */
  keyForms?: Readonly<Record<string, unknown>>
  /** Variable that names a base URL and so switches a local provider on, such as OLLAMA_BASE_URL. */
  baseUrlVariable: string | null
  /** Whether it stands for any server that the operator names. */
  isOperatorNamed: boolean
  /** Its batch service; absent where none is known. */
  jobs?: object | undefined
}

/** What the check of providers reads: the presets, the environment, and whether the file is only about to be written. */
interface ProviderSources {
  presets: readonly PresetEnvironment[]
  env: Readonly<Record<string, string | undefined>>
  draft?: unknown
}

/** Adds what is wrong with the providers of a configuration, beside the presets that there are. */
export function checkProviders(
  providers: readonly ProviderOutline[],
  { presets, env, draft }: ProviderSources,
  problems: string[],
) {
  const ids = new Set<string>()
  const hasAddress = (slug: string) =>
    presets.some((preset) => preset.slug === slug && preset.baseUrl?.startsWith('https://'))
  const loggedIn = new Set(providers.flatMap((one) => (one.caller_logins === true ? [one.preset] : [])))
  if (loggedIn.size > 1)
    problems.push(
      `caller_logins: a login does not say whose it is, so one provider alone may take it; remove it from all but one of ${[...loggedIn].join(', ')}`,
    )
  for (const [index, provider] of providers.entries()) {
    if (provider.preset === undefined) continue
    const id = provider.id ?? provider.preset
    if (ids.has(id))
      problems.push(`providers.${index}.id: "${id}" is used twice; give each deployment its own id`)
    ids.add(id)
    const preset = presets.find(({ slug }) => slug === provider.preset)
    if (!preset) {
      const known = presets.map(({ slug }) => slug).join(', ')
      problems.push(`providers.${index}.preset: "${provider.preset}" is not known; use one of ${known}`)
    }
    if (preset?.baseUrl === null && !provider.base_url) {
      problems.push(`providers.${index}.base_url: needed for preset "${preset.slug}"`)
    }
    checkEnding(`providers.${index}`, provider, preset, problems)
    const forms = Object.keys(preset?.keyForms ?? {})
    if (preset && typeof provider.key_form === 'string' && !forms.includes(provider.key_form))
      problems.push(
        `providers.${index}.key_form: preset "${preset.slug}" has ${forms.length === 0 ? 'one way to send a key; leave this out' : `no form "${provider.key_form}"; use ${forms.join(' or ')}, or leave this out`}`,
      )
    // A login may be sent only to the provider that it belongs to.
    const isOwnAddress = provider.base_url !== undefined || !hasAddress(provider.preset)
    if (provider.caller_logins === true && isOwnAddress)
      problems.push(
        `providers.${index}.caller_logins: a caller's own login is sent to the provider's official address only; leave base_url out, or this`,
      )
    for (const name of ['cache_marks', 'max_tokens_field'] as const) {
      if (!provider[name] || preset?.isOperatorNamed !== false) continue
      problems.push(
        `providers.${index}.${name}: what "${preset.slug}" takes is known; only a server of preset custom needs it, leave it out`,
      )
    }
    const wanted = batchServiceMember(provider)
    if (wanted !== null && preset && preset.jobs === undefined)
      problems.push(
        `providers.${index}.${wanted}: batches of "${preset.slug}" run item by item, because no batch service of it is known; leave this out`,
      )
    // A custom server may need no key.
    const variable = preset?.keyVariable
    if (
      variable &&
      !env[variable] &&
      !draft &&
      provider.api_key === undefined &&
      provider.base_url === undefined
    )
      problems.push(`providers.${index}.api_key: needed for preset "${provider.preset}"; or set ${variable}`)
  }
}

/** The member that asks for the provider's batch service; null where none does. */
function batchServiceMember({ batches, models }: ProviderOutline): string | null {
  if (batches !== undefined && batches !== false) return 'batches'
  const named = Array.isArray(models) ? models.findIndex((model: unknown) => hasBatchUpstream(model)) : -1
  return named < 0 ? null : `models.${named}.batch_upstream`
}

function hasBatchUpstream(model: unknown): boolean {
  return typeof model === 'object' && model !== null && 'batch_upstream' in model
}

/** An address whose ending says how the provider is asked must have one of the endings that are known. */
function checkEnding(
  place: string,
  provider: ProviderOutline,
  preset: PresetEnvironment | undefined,
  problems: string[],
) {
  const endings = preset?.baseUrlEndings ?? []
  const address = typeof provider.base_url === 'string' ? provider.base_url.replace(/\/+$/, '') : ''
  if (address === '' || address === unresolved || endings.length === 0) return
  if (endings.some((ending) => address.endsWith(ending))) return
  problems.push(
    `${place}.base_url: of preset "${provider.preset}" it must end with ${endings.join(' or ')}, which says how it is asked; write it as in https://HOST${endings[0]}`,
  )
}
