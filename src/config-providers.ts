import { type ProviderOutline, unresolved } from './config-file.ts'

type Place = 'region' | 'project'
type IdentityKind = 'aws' | 'google' | 'entra' | 'databricks' | 'snowflake'

/** The members of `identity` by whose logins they are about. */
const identityMembers: Readonly<Record<IdentityKind, readonly string[]>> = {
  aws: [
    'access_key_id',
    'secret_access_key',
    'session_token',
    'profile',
    'role_arn',
    'external_id',
    'session_name',
  ],
  google: ['credentials_file', 'impersonate'],
  entra: ['tenant_id', 'client_id', 'client_secret', 'token_file', 'scope'],
  databricks: ['client_id', 'client_secret'],
  snowflake: ['account', 'user', 'private_key_file', 'token_file'],
}

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
  /** What of its address the operator says, and the variables that say it else. */
  placeVariables?: Readonly<Partial<Record<Place, readonly string[]>>>
  /** Whose logins it takes besides keys; absent or null where it takes none. */
  identity?: { kind: IdentityKind } | null
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
    if (preset) {
      checkPlaces(`providers.${index}`, provider, { preset, env }, problems)
      checkIdentity(`providers.${index}`, provider, preset, problems)
      checkArns(`providers.${index}`, provider, preset, problems)
    }
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
    // A custom server may need no key, and a cloud has other logins.
    const variable = preset?.keyVariable
    if (
      variable &&
      !hasOwnLogin(preset) &&
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

function hasOwnLogin({ identity }: PresetEnvironment): boolean {
  return identity?.kind === 'aws' || identity?.kind === 'google'
}

/** Parts of the provider's address that belong to the deployment. */
function checkPlaces(
  at: string,
  provider: ProviderOutline,
  { preset, env }: { preset: PresetEnvironment; env: ProviderSources['env'] },
  problems: string[],
) {
  for (const place of ['region', 'project'] as const) {
    const variables = preset.placeVariables?.[place] ?? []
    const given = provider[place]
    if (
      typeof given === 'string' &&
      given !== unresolved &&
      variables.length > 0 &&
      !placePattern.test(given)
    )
      problems.push(
        `${at}.${place}: "${given}" is none; use a name such as ${place === 'region' ? 'us-east-1' : 'my-project'}`,
      )
    const told = given ?? variables.map((name) => env[name]).find((value) => value)
    const kind = preset.identity?.kind
    const known = place === 'region' && kind !== undefined ? regionPatterns[kind] : undefined
    if (typeof told === 'string' && told !== unresolved && known?.pattern.test(told) === false)
      problems.push(
        `${at}.region: "${told}" is no region of ${known.of}; use a name such as ${known.example}${given === undefined ? `, here or in ${variables.join(' or ')}` : ''}`,
      )
    const isNeeded = preset.baseUrl?.includes(`{${place}}`) === true && provider.base_url === undefined
    if (isNeeded && given === undefined && !variables.some((name) => env[name]))
      problems.push(`${at}.${place}: needed for preset "${preset.slug}"; or set ${variables.join(' or ')}`)
  }
}

/** The names that regions of a cloud can have. */
const regionPatterns: Readonly<
  Partial<Record<IdentityKind, { of: string; pattern: RegExp; example: string }>>
> = {
  aws: { of: 'Amazon', pattern: /^[a-z]{2,4}(?:-[a-z]+){1,2}-\d{1,2}$/, example: 'us-east-1' },
  google: {
    of: 'Google',
    pattern: /^(?:global|us|eu|[a-z]+-[a-z]+\d{1,2})$/,
    example: 'europe-west4 or global',
  },
}

/** ARNs that Bedrock takes as the name of a model. */
const modelArn =
  /^arn:aws[\w-]*:bedrock:[a-z0-9-]*:\d{0,12}:(?:foundation-model|(?:application-)?inference-profile|provisioned-model|custom-model(?:-deployment)?|imported-model|(?:default-)?prompt-router)\/\S+$/

function checkArns(
  at: string,
  { models }: ProviderOutline,
  { identity }: PresetEnvironment,
  problems: string[],
) {
  if (identity?.kind !== 'aws' || !Array.isArray(models)) return
  for (const [index, model] of (models as readonly unknown[]).entries()) {
    const upstream =
      typeof model === 'object' && model !== null && 'upstream' in model ? model.upstream : null
    if (typeof upstream === 'string' && upstream.startsWith('arn:') && !modelArn.test(upstream))
      problems.push(
        `${at}.models.${index}.upstream: is no ARN of a model or an inference profile, such as arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6`,
      )
  }
}

const placePattern = /^[a-z0-9][a-z0-9.:-]{0,62}$/

/** The members of `identity` that its provider's logins have. */
function checkIdentity(
  at: string,
  provider: ProviderOutline,
  { slug, identity }: PresetEnvironment,
  problems: string[],
) {
  const { identity: given } = provider
  if (typeof given !== 'object' || given === null) return
  const kind = identity?.kind
  if (kind === undefined) {
    problems.push(`${at}.identity: preset "${slug}" takes a key; leave this out, and set api_key`)
    return
  }
  if (provider.api_key !== undefined)
    problems.push(`${at}.identity: has no use beside api_key; leave one of them out`)
  for (const name of Object.keys(given))
    if (!identityMembers[kind].includes(name))
      problems.push(`${at}.identity.${name}: preset "${slug}" has ${identityMembers[kind].join(', ')}`)
  const wanted = kind === 'aws' ? (['access_key_id', 'secret_access_key'] as const) : []
  const found = wanted.filter((name) => name in given)
  if (found.length === 1)
    problems.push(`${at}.identity.${found[0]}: access_key_id and secret_access_key go together; set both`)
  const role = (given as { role_arn?: unknown }).role_arn
  if (typeof role === 'string' && role !== unresolved && !/^arn:[\w-]+:iam::\d{12}:role\/\S+$/.test(role))
    problems.push(
      `${at}.identity.role_arn: is no ARN of a role, such as arn:aws:iam::123456789012:role/gateway`,
    )
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
