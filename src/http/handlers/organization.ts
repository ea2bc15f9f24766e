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

/** `GET` and `PATCH /organization/settings`, for management keys. */
export function organizationRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { path: '/organization/settings', group: 'settings', access: 'management' } as const
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
