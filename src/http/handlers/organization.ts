import type { Principal } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import { parseField } from '../../formats/field-error.ts'
import { parseJsonBody } from '../../json/json-body.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type HttpRoute } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { settingsPatchSchema } from '../schemas/organization.ts'

/** The bound of a settings change: its body is one flag. */
const settingsBodyBytesMax = 65_536

/** The settings and the signing secret of an organization, for management keys. */
export function organizationRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const shared = { group: 'settings', access: 'management' } as const
  const common = { ...shared, path: '/organization/settings' } as const
  return [
    {
      ...common,
      method: 'GET',
      name: 'settings_read',
      handle: withPrincipal(({ principal }) => show(principal, dependencies)),
    },
    {
      ...common,
      method: 'PATCH',
      name: 'settings_update',
      handle: withPrincipal(async ({ request, principal }) => {
        requireJson(request)
        const patch = parseField(
          settingsPatchSchema,
          '',
          parseJsonBody(await readBody(request, settingsBodyBytesMax)),
        )
        await dependencies.organizations.updateSettings(principal.organizationId, {
          isFilteredModelCatalogEnabled: patch.is_filtered_model_catalog_enabled,
        })
        return show(principal, dependencies)
      }),
    },
    {
      ...shared,
      path: '/organization/signing-secret',
      method: 'POST',
      name: 'signing_secret_rotate',
      handle: withPrincipal(async ({ principal }) => {
        const secret = await dependencies.signingSecrets.rotate(principal.organizationId)
        return jsonResponse({ data: { signing_secret: secret } }, 201)
      }),
    },
  ]
}

async function show(principal: Principal, dependencies: HttpDependencies): Promise<Response> {
  const found = await dependencies.organizations.load(principal.organizationId)
  if (!found) throw new GatewayError('not_found', 'The organization of this key no longer exists.')
  return jsonResponse({
    data: {
      id: found.organizationId,
      is_filtered_model_catalog_enabled: found.isFilteredModelCatalogEnabled,
    },
  })
}
