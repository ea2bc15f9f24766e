import type { ErrorFault } from './faults.ts'
import type { JsonObject } from './json.ts'
import { fractionOf } from './random.ts'

/** Whether a request asks for the cheaper tier, by the member of OpenAI's formats or by Google's. */
export function asksFlex(body: JsonObject | null): boolean {
  return body?.['service_tier'] === 'flex' || body?.['serviceTier'] === 'flex'
}

/** The tier that serves a request, by OpenAI's names. */
export function openAiTierOf(body: JsonObject): string {
  return asksFlex(body) ? 'flex' : 'default'
}

/** OpenAI refuses a request that its flex tier has no room for with 429, Google with 503. */
export function flexRefusal(isGoogle: boolean): ErrorFault {
  return isGoogle
    ? { status: 503, message: 'The model is overloaded. Please try again later.' }
    : {
        status: 429,
        type: 'resource_unavailable',
        code: 'resource_unavailable',
        message: 'There are not enough resources for a flex request now. Please try again later.',
      }
}

/** Whether this request is refused, drawn by its key. */
export function isFlexRefused(share: number, key: string): boolean {
  return fractionOf(`flex ${key}`) < share
}
