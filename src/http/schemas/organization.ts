import { z } from 'zod'

/** Body of `PATCH /organization/settings`: the one flag, and nothing else. */
export const settingsPatchSchema = z
  .strictObject({
    is_filtered_model_catalog_enabled: z
      .boolean()
      .describe(
        'When true, model lists requested with a key of the organization show only what that key can use.',
      ),
  })
  .meta({ id: 'UpdateOrganizationSettings', examples: [{ is_filtered_model_catalog_enabled: true }] })

/** `data` of the answer with a new signing secret. */
export const signingSecretSchema = z
  .object({ signing_secret: z.string().describe('Shown once.') })
  .meta({ id: 'SigningSecret' })

/** `data` of both settings operations. */
export const settingsSchema = z
  .object({ id: z.string(), is_filtered_model_catalog_enabled: z.boolean() })
  .meta({ id: 'OrganizationSettings' })
