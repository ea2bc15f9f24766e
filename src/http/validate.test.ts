import { expect, test } from 'bun:test'
import { settingsPatchSchema } from './schemas/organization.ts'
import { parseWith } from './validate.ts'

function refusalOf(body: string): string {
  try {
    parseWith(settingsPatchSchema, new TextEncoder().encode(body))
    return 'accepted'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

test('a refusal names the member, what is wrong with it, and what would be right', () => {
  const name = 'is_filtered_model_catalog_enabled'
  const messages: Record<string, string> = {
    '{}': `${name} is required; send a boolean.`,
    [`{"${name}":null}`]: `${name} must be a boolean, not null.`,
    [`{"${name}":"yes"}`]: `${name} must be a boolean, not string.`,
    '[]': 'The request body must be an object, not array.',
    [`{"${name}":true,"name":1}`]:
      'The request body has the member "name", which is not known here; leave it out.',
    '': 'The request body is empty; send a JSON object.',
    '{': 'The request body is not valid JSON.',
  }
  for (const [body, message] of Object.entries(messages)) expect(refusalOf(body)).toBe(message)
})
