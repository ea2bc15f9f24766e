import { z } from 'zod'
import { recordOrEmpty } from '../src/json/values.ts'
import { apiDescription } from '../src/http/api-description.ts'
import type { Described, DescribedAnswer } from '../src/http/described.ts'

/**
 * The OpenAPI 3.1 document, generated from the schemas that validate. `info.version` is the contract's, not the
 * package's. A test compares the document with the routes, so a route without a description is not possible. It is
 * generated ahead, because doing it takes longer than a gateway's event loop may be held up.
 */
export function openApiDocument(): Record<string, unknown> {
  const registry = new SchemaRegistry()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [key, described] of Object.entries(apiDescription)) {
    const [method = '', path = ''] = key.split(' ')
    const shownPath = path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')
    paths[shownPath] = {
      ...paths[shownPath],
      [method.toLowerCase()]: renderOperation(described, path, registry),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Headrace',
      version: '1.0.0',
      description:
        'One HTTP API in front of many model providers: live inference, batches, audio, organization settings.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An inference or a management key.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'headrace_session',
          description:
            'Of somebody who is signed in to the console, with the header `X-Headrace-Console`; instead of a key wherever the role allows it. By HTTPS its name begins with `__Host-`; port and base path may follow.',
        },
      },
      schemas: registry.schemas,
      responses: { Error: errorResponse },
    },
  }
}

const requestIdHeader = { name: 'X-Request-Id', description: 'Id of the request, as in the log.' }
const retryAfterHeader = {
  name: 'Retry-After',
  description: 'Seconds to wait before another try, where that can help.',
}
const allowHeader = { name: 'Allow', description: 'The methods of the path, when this one is none of them.' }

const errorResponse = {
  description: 'The error envelope; `code` equals the status.',
  headers: renderHeaders([requestIdHeader, retryAfterHeader, allowHeader]),
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['code', 'message'],
            properties: {
              code: { type: 'integer' },
              message: { type: 'string' },
              error_type: { type: 'string' },
              param: { type: 'string' },
              metadata: { type: 'object', additionalProperties: true },
            },
          },
        },
      },
      example: {
        error: {
          code: 400,
          message: '"model" must be a string, not number.',
          error_type: 'invalid_request',
          param: 'model',
        },
      },
    },
  },
}

/** Collects schemas that have an id under `components`, so that each is written once. */
class SchemaRegistry {
  readonly schemas: Record<string, unknown> = {}

  refer(schema: z.ZodType, io: 'input' | 'output'): unknown {
    const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Record<
      string,
      unknown
    >
    const { $schema: _, id, $defs: definitions, ...rest } = json
    for (const [name, definition] of Object.entries(recordOrEmpty(definitions)))
      this.schemas[name] ??= rewrite(definition)
    if (typeof id !== 'string') return rewrite(rest)
    this.schemas[id] ??= rewrite(rest)
    return { $ref: `#/components/schemas/${id}` }
  }
}

// Inside components, definitions are siblings and not children.
function rewrite(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

function renderOperation(
  described: Described,
  path: string,
  registry: SchemaRegistry,
): Record<string, unknown> {
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...queryParameters(described, registry),
    ...(described.headers ?? []).map((header) => ({
      ...header,
      in: 'header',
      required: false,
      schema: { type: 'string' },
    })),
  ]
  return {
    operationId: described.id,
    summary: described.summary,
    tags: [described.tag],
    ...(described.description ? { description: described.description } : {}),
    ...(described.access === 'public' || described.access === 'optional'
      ? { security: [{}, { bearer: [] }] }
      : {}),
    ...(described.access === 'session' ? { security: [{ session: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(described.body
      ? { requestBody: { required: true, content: renderBodies(described, registry) } }
      : {}),
    responses: renderResponses(described, registry),
  }
}

function queryParameters(described: Described, registry: SchemaRegistry): unknown[] {
  if (!described.query) return []
  const schema = recordOrEmpty(registry.refer(described.query, 'input'))
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(recordOrEmpty(schema['properties'])).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: property,
  }))
}

function renderBodies(described: Described, registry: SchemaRegistry): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  for (const [type, body] of Object.entries(described.body ?? {})) {
    content[type] = {
      schema: registry.refer(body.schema, 'input'),
      ...(body.example === undefined ? {} : { example: body.example }),
    }
  }
  return content
}

function renderResponses(described: Described, registry: SchemaRegistry): Record<string, unknown> {
  const answers = [described.answer, ...(described.others ?? [])]
  return Object.fromEntries([
    ...answers.map((answer) => [String(answer.status), renderAnswer(answer, registry)]),
    ...described.errors
      .toSorted((a, b) => a - b)
      .map((status) => [String(status), { $ref: '#/components/responses/Error' }]),
  ])
}

function renderAnswer(answer: DescribedAnswer, registry: SchemaRegistry): Record<string, unknown> {
  const content = Object.entries(answer.content).map(([type, { schema, example }]) => [
    type,
    {
      schema: schema instanceof z.ZodType ? registry.refer(schema, 'output') : schema,
      ...(example === undefined ? {} : { example }),
    },
  ])
  return {
    description: answer.description,
    headers: renderHeaders([requestIdHeader, ...(answer.headers ?? [])]),
    ...(content.length > 0 ? { content: Object.fromEntries(content) } : {}),
  }
}

function renderHeaders(headers: readonly { name: string; description: string }[]): Record<string, unknown> {
  return Object.fromEntries(
    headers.map(({ name, description }) => [name, { description, schema: { type: 'string' } }]),
  )
}
