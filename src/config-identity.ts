import { z } from 'zod'

const filled = z.string().min(1).max(4_096).optional()
/** The login of a deployment that has no API key. */
export const identitySchema = z
  .strictObject({
    access_key_id: filled,
    secret_access_key: filled,
    session_token: filled,
    profile: filled.describe('The name of a profile in Amazon’s shared files'),
    role_arn: filled.describe('A role that is taken with the login that was found'),
    external_id: filled.describe('What the owner of the role asks for besides'),
    session_name: filled.describe('The name by which the role’s sessions are logged at Amazon'),
    credentials_file: filled.describe('The path of a file with credentials for Google'),
    impersonate: filled.describe('The service account in whose name calls are made at Google'),
    tenant_id: filled,
    client_id: filled,
    client_secret: filled,
    token_file: filled.describe(
      'The path of the file with the token of a workload, for Entra, or of OAuth, for Snowflake',
    ),
    scope: filled.describe('What a token of Entra is for; ends with `/.default`'),
    account: filled.describe('The account at Snowflake; the first part of the host by default'),
    user: filled.describe('The user at Snowflake whose key pair signs the tokens'),
    private_key_file: filled.describe('The path of that user’s private key (PKCS 8, without a passphrase)'),
  })
  .describe(
    'A login that is not an API key, at `amazon-bedrock`, `amazon-bedrock-mantle`, `vertex-ai`, `azure`, `databricks` and `snowflake`. Left out, Amazon’s and Google’s are looked for where their makers’ own tools look: variables, files of this machine, its metadata server. `{}` asks for that at `azure`',
  )
