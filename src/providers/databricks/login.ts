import {
  type FetchLogin,
  formOf,
  jsonOf,
  LoginRefused,
  secondsIn,
  textIn,
} from '../../transport/identities/identity-world.ts'
import { bearer } from '../define-provider.ts'

/**
 * Fetches a token of an hour for a service principal, at the workspace itself.
 * https://docs.databricks.com/aws/en/dev-tools/auth/oauth-m2m
 */
export const fetchDatabricksLogin: FetchLogin = async ({ settings, baseUrl }, world) => {
  const clientId = settings.client_id ?? world.env['DATABRICKS_CLIENT_ID']
  const secret = settings.client_secret ?? world.env['DATABRICKS_CLIENT_SECRET']
  if (!clientId || !secret)
    throw new LoginRefused(
      'the service principal is not known; set "client_id" and "client_secret", or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET',
    )
  const form = formOf({ grant_type: 'client_credentials', scope: 'all-apis' })
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`
  const answer = await world.ask({
    method: 'POST',
    url: `${new URL(baseUrl).origin}/oidc/v1/token`,
    ...form,
    headers: { ...form.headers, authorization },
  })
  const body = jsonOf(answer)
  return {
    login: { ...bearer, secret: textIn(body, 'access_token') },
    lifeMs: secondsIn(body, 'expires_in'),
  }
}
