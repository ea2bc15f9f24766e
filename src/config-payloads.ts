/** Where payloads are on an S3-compatible server. The secrets come from the usual variables of such servers, never from an address. */
export interface ObjectStoreConfig {
  /** The server's address, without a path and without a slash at the end. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  /** In front of every key; no slash at either end; empty for none. */
  readonly prefix: string
  readonly addressing: 'path' | 'host'
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

type Environment = Readonly<Record<string, string | undefined>>

const variable = 'BLOB_URL'
const example = 's3://bucket/prefix?endpoint=https://host&region=us-east-1'
const settings: readonly string[] = ['endpoint', 'region', 'path_style']
const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
const prefixPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/
const regionPattern = /^[A-Za-z0-9-]{1,64}$/

/** Reads `BLOB_URL` and the variables of its key; null when payloads are in the data folder. Adds what is wrong to `problems`. */
export function readObjectStore(
  address: string,
  env: Environment,
  problems: string[],
): ObjectStoreConfig | null {
  if (address === '') return null
  const problem = (text: string): null => {
    problems.push(text)
    return null
  }
  const url = URL.parse(address)
  if (url === null || url.protocol !== 's3:')
    return problem(`${variable}: must be an address such as ${example}; leave it out to use the data folder`)
  if (url.username !== '' || url.password !== '')
    return problem(`${variable}: takes no key; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  const unknown = [...url.searchParams.keys()].filter((name) => !settings.includes(name))
  if (unknown.length > 0) return problem(`${variable}: its query has ${settings.join(', ')} and nothing else`)
  const count = problems.length
  const store = toStore(url, env, problems)
  return problems.length === count ? store : null
}

function toStore(url: URL, env: Environment, problems: string[]): ObjectStoreConfig {
  const region =
    url.searchParams.get('region') || env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1'
  const named = url.searchParams.get('endpoint') || env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL']
  const endpoint = URL.parse(named || `https://s3.${region}.amazonaws.com`)
  const bucket = url.hostname
  const prefix = url.pathname.replace(/^\/|\/$/g, '')
  const style = url.searchParams.get('path_style')
  const check = (isRight: boolean, text: string): void => {
    if (!isRight) problems.push(`${variable}: ${text}`)
  }
  check(bucketPattern.test(bucket), `names no bucket; write ${example}`)
  check(prefix === '' || prefixPattern.test(prefix), 'a prefix has letters, digits, _ . - and slashes')
  check(regionPattern.test(region), 'a region has letters, digits and hyphens, such as us-east-1')
  check(isServer(endpoint), 'the endpoint must be the address of a server alone, such as https://host:9000')
  check(style === null || style === 'true' || style === 'false', 'path_style is true or false')
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    if (!env[name]) problems.push(`${name}: needed for ${variable}`)
  // A bucket with a dot would not match the server's certificate.
  const isInPath = style === null ? Boolean(named) || bucket.includes('.') : style === 'true'
  return {
    endpoint: endpoint?.origin ?? '',
    region,
    bucket,
    prefix,
    addressing: isInPath ? 'path' : 'host',
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: env['AWS_SESSION_TOKEN'] || null,
  }
}

function isServer(url: URL | null): boolean {
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false
  return url.pathname === '/' && url.search === '' && url.username === '' && url.password === ''
}
