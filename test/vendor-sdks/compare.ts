import type { Recorded } from './recorder.ts'
import type { Difference } from './vendor.ts'

/** One thing that the two sides send otherwise; absent where a side sends nothing. */
export interface Found {
  intention: string
  at: string
  sdk: string | undefined
  ours: string | undefined
}

/** Compares what two sides sent for one intention: the first request of each method and path. */
export function compare(intention: string, sdk: readonly Recorded[], ours: readonly Recorded[]): Found[] {
  const ofSdk = byPlace(sdk)
  const ofOurs = byPlace(ours)
  return [...new Set([...ofSdk.keys(), ...ofOurs.keys()])].flatMap((place): Found[] => {
    const left = ofSdk.get(place)
    const right = ofOurs.get(place)
    if (left === undefined || right === undefined) {
      const sent = (side: unknown) => (side === undefined ? undefined : 'sent')
      return [{ intention, at: place, sdk: sent(left), ours: sent(right) }]
    }
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
      const [one, other] = [left.get(name), right.get(name)]
      return one === other ? [] : [{ intention, at: `${place}: ${name}`, sdk: one, ours: other }]
    })
  })
}

export const placeOf = ({ method, path }: Recorded): string => `${method} ${path}`

function byPlace(requests: readonly Recorded[]): Map<string, ReadonlyMap<string, string>> {
  const places = new Map<string, ReadonlyMap<string, string>>()
  for (const request of requests) {
    const place = placeOf(request)
    if (!places.has(place)) places.set(place, request.facts)
  }
  return places
}

/** What was found and is not listed, and what is listed and was not found; both as lines for people. */
export function judge(found: readonly Found[], listed: readonly Difference[]): string[] {
  const unlisted = found.filter((one) => !listed.some((difference) => covers(difference, one)))
  const gone = listed.filter((difference) => !found.some((one) => covers(difference, one)))
  return [
    ...unlisted.map(
      ({ intention, at, sdk, ours }) =>
        `not listed: ${intention}, ${at}: the SDK sends ${shown(sdk)}, the gateway ${shown(ours)}`,
    ),
    ...gone.map(({ of = 'all', at }) => `listed, but no longer so: ${of}, ${at}`),
  ]
}

function covers({ of, at, sdk, ours }: Difference, found: Found): boolean {
  if (of !== undefined && of !== found.intention) return false
  if (!patternOf(at).test(found.at)) return false
  if (sdk === undefined && ours === undefined) return true
  return (sdk ?? undefined) === found.sdk && (ours ?? undefined) === found.ours
}

function patternOf(at: string): RegExp {
  const parts = at.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

const shown = (value: string | undefined): string => (value === undefined ? 'nothing' : JSON.stringify(value))
