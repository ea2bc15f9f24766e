import type { Preferences } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * The members of `provider.options` for the endpoint's provider. Members under the provider's own slug win over those
 * under its preset's.
 */
export function optionsFor({ options }: Preferences, { deployment }: Endpoint): Members {
  return { ...membersOf(options, deployment.preset), ...membersOf(options, deployment.provider) }
}

/** The members among them that are not passed on, as paths of the request. */
export function optionsLeftOut(
  { options }: Preferences,
  { deployment }: Endpoint,
  isPassed: (name: string) => boolean,
): string[] {
  return [...new Set([deployment.preset, deployment.provider])].flatMap((slug) =>
    Object.keys(membersOf(options, slug))
      .filter((name) => !isPassed(name))
      .map((name) => `provider.options.${slug}.${name}`),
  )
}

function membersOf(options: Preferences['options'], slug: string): Members {
  return Object.hasOwn(options, slug) ? (options[slug] ?? {}) : {}
}
