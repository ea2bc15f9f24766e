import { signedHeaders } from '../../transport/aws-signature.ts'
import { type IdentityWorld, LoginRefused, textIn } from '../../transport/identities/identity-world.ts'
import { awsLoginFor } from '../amazon-bedrock/login.ts'

type Wire = Readonly<Record<string, unknown>>

const fetchKeys = awsLoginFor('sts')

/**
 * What Google takes as the token of a workload that runs at Amazon: the question "who am I" to Amazon's token service, signed
 * with the workload's keys, which Google asks itself. The keys are found as for Bedrock.
 * https://cloud.google.com/iam/docs/workload-identity-federation-with-other-clouds
 */
export async function amazonSubject(source: Wire, audience: string, world: IdentityWorld): Promise<string> {
  const region = await regionOf(source, world)
  const url = textIn(source, 'regional_cred_verification_url').replaceAll('{region}', region)
  const { AWS_BEARER_TOKEN_BEDROCK: _key, ...env } = world.env
  const { login } = await fetchKeys({ settings: {}, region, baseUrl: url }, { ...world, env })
  if (login.type !== 'signature') throw new LoginRefused('the login found at Amazon is no pair of keys')
  const { authorization = '', ...signed } = await signedHeaders(
    { method: 'POST', url, headers: {}, body: null },
    login,
    world.nowMs(),
  )
  const headers: Record<string, string> = {
    Authorization: authorization,
    host: new URL(url).host,
    'x-goog-cloud-target-resource': audience,
    ...signed,
  }
  const listed = Object.keys(headers)
    .toSorted()
    .map((key) => ({ key, value: headers[key] }))
  return encodeURIComponent(JSON.stringify({ headers: listed, method: 'POST', url }))
}

/** The region of the environment, else that of the instance's zone, whose name has one letter more. */
async function regionOf(source: Wire, world: IdentityWorld): Promise<string> {
  const given = world.env['AWS_REGION'] || world.env['AWS_DEFAULT_REGION']
  if (given) return given
  const { region_url: address, imdsv2_session_token_url: tokenAddress } = source
  if (typeof address !== 'string') throw new LoginRefused('the region is not known; set AWS_REGION')
  const headers: Record<string, string> = {}
  if (typeof tokenAddress === 'string') {
    const asked = await world.ask({
      method: 'PUT',
      url: tokenAddress,
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
    })
    if (asked.status !== 200) throw new LoginRefused(`the metadata server answered ${asked.status}`)
    headers['x-aws-ec2-metadata-token'] = asked.text.trim()
  }
  const { status, text } = await world.ask({ method: 'GET', url: address, headers })
  const region = /^([a-z]{2}(?:-[a-z]+)+-\d)[a-z]$/.exec(text.trim())?.[1]
  if (status !== 200 || region === undefined) throw new LoginRefused('the metadata server told no zone')
  return region
}
