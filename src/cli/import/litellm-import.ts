import { hashSecret, maskSecret } from '../../access/secret.ts'
import { importedKeyLengthMin } from '../../core/limits/access.ts'
import type { AdoptedKey } from '../../access/keys.ts'
import { openPolicy } from '../../access/policy.ts'
import { unlimitedRates } from '../../access/rate-rules.ts'
import { presets } from '../../providers/registry.ts'
import type { ConfigAddition } from './config-merge.ts'
import { readDeployments, type ImportedDeployment } from './litellm-deployments.ts'
import type { PriceMap } from './litellm-prices.ts'
import { readNames } from './litellm-names.ts'
import { plainText, type ValueSources } from './litellm-values.ts'
import { remarkUnread, type Remarks } from './remarks.ts'
import type { YamlValue } from './yaml-tree.ts'

/** The results of reading LiteLLM's YAML file. */
export interface ImportedFile {
  addition: ConfigAddition
  deployments: readonly ImportedDeployment[]
  secrets: ReadonlyMap<string, string>
  /** The master key's secret and its place in the file; null when there is none to import. */
  masterKey: { secret: string; value: YamlValue } | null
}

/** Reads the file. Settings that this gateway lacks are reported with their line. */
export function readLitellmFile(
  file: YamlValue,
  { env, hasDatabase, map = {} }: { env: ValueSources['env']; hasDatabase: boolean; map?: PriceMap },
  remarks: Remarks,
): ImportedFile {
  const variables = new Map(file.member('environment_variables')?.members() ?? [])
  const sources = { variables, env }
  const {
    providers,
    deployments,
    secrets,
    variables: named,
  } = readDeployments(file, { ...sources, map }, remarks)
  const names = readNames(file, deployments, remarks)
  const general = file.member('general_settings')
  if (hasDatabase) general?.member('database_url')
  const masterKey = readMasterKey(general?.member('master_key') ?? null, sources, remarks)
  remarkVariables(variables, secrets, remarks)
  remarkUnread(file, remarks)
  const ignoredVariables = switchingVariables(named, providers)
  return { addition: { providers, ignoredVariables, ...names }, deployments, secrets, masterKey }
}

/** The variables that would switch on providers that are not in the file. */
function switchingVariables(
  variables: ReadonlySet<string>,
  providers: readonly { preset: string }[],
): readonly string[] {
  const others = presets.filter(({ slug }) => !providers.some(({ preset }) => preset === slug))
  const switching = new Set(others.flatMap((one) => [one.keyVariable, one.baseUrlVariable]))
  return [...variables].filter((name) => switching.has(name)).toSorted()
}

function readMasterKey(
  value: YamlValue | null,
  sources: ValueSources,
  remarks: Remarks,
): ImportedFile['masterKey'] {
  const text = value?.text() ?? null
  if (value === null || text === null) return null
  const secret = plainText(text, sources)
  if (secret === null) {
    remarks.about(value, `is not carried: set ${text.replace('os.environ/', '')} and import again`)
    return null
  }
  if (secret.length < importedKeyLengthMin) {
    remarks.about(
      value,
      `is not carried: a key has ${importedKeyLengthMin} characters at least, and this one can be guessed`,
    )
    return null
  }
  return { secret, value }
}

/** The master key becomes a key for inference only: clients have it, and a client must not be able to create keys. */
export function masterKeyOf(secret: string, organizationId: string): AdoptedKey {
  return {
    organizationId,
    kind: 'inference',
    name: 'LiteLLM master key',
    keyHash: hashSecret(secret),
    label: maskSecret(secret),
    disabled: false,
    limitNanocredits: null,
    limitReset: null,
    policy: openPolicy,
    rates: unlimitedRates,
    expiresAtMs: null,
  }
}

function remarkVariables(
  variables: ReadonlyMap<string, YamlValue>,
  secrets: ReadonlyMap<string, string>,
  remarks: Remarks,
): void {
  for (const [name, value] of variables)
    if (!secrets.has(`secrets/${name}`))
      remarks.about(value, 'is not carried: set it in the environment of the gateway where it is needed')
}
