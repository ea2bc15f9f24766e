import { expect, test } from 'bun:test'
import { z } from 'zod'
import { openApiDocument } from '../../scripts/openapi-document.ts'
import { apiDescription } from '../../src/http/api-description.ts'
import type { HttpDependencies } from '../../src/http/http-dependencies.ts'
import { routes } from '../../src/http/routes.ts'

// Routes only keep their parts for when they are called.
const known = routes({} as HttpDependencies)
const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

test('every route is described, and every description has its route', () => {
  expect(Object.keys(apiDescription).toSorted()).toEqual(known.map(keyOf).toSorted())
})

test('a description names the same kind of key as the route', () => {
  for (const route of known) {
    expect([keyOf(route), apiDescription[keyOf(route)]?.access]).toEqual([keyOf(route), route.access])
  }
})

test('operation ids are unique, for they become the names of functions in generated clients', () => {
  const ids = Object.values(apiDescription).map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('every reference of the document has a target', () => {
  const text = JSON.stringify(openApiDocument())
  const document = JSON.parse(text) as { components: Record<string, Record<string, unknown>> }
  const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
  expect(references.length).toBeGreaterThan(50)
  for (const [whole, kind = '', name = ''] of references)
    expect([whole, document.components[kind]?.[name] !== undefined]).toEqual([whole, true])
  expect(text).not.toContain('#/$defs/')
})

test('examples of requests are accepted by the schemas that validate', () => {
  let examples = 0
  for (const [key, { body }] of Object.entries(apiDescription)) {
    for (const { schema, example } of Object.values(body ?? {})) {
      if (example === undefined) continue
      examples += 1
      expect([key, schema.safeParse(example).success]).toEqual([key, true])
    }
  }
  expect(examples).toBeGreaterThanOrEqual(6)
})

test('every answer of JSON has an example, and its schema accepts it', () => {
  const contents = Object.entries(apiDescription).flatMap(([key, { answer, others = [] }]) =>
    [answer, ...others].flatMap(({ status, content }) =>
      Object.entries(content).map(([type, described]) => ({ where: [key, status, type], ...described })),
    ),
  )
  for (const { where, schema, example } of contents) {
    if (!(schema instanceof z.ZodType)) continue
    expect([...where, example !== undefined]).toEqual([...where, true])
    expect([...where, schema.safeParse(example).error?.message]).toEqual([...where, undefined])
  }
})

test('a batch that is refused for its state is described, and a query that must be sent says so', () => {
  const { paths } = openApiDocument() as {
    paths: Record<
      string,
      Record<string, { responses: object; parameters: { name: string; required: boolean }[] }>
    >
  }
  for (const path of ['/batches', '/batches/{id}/cancel'])
    expect(Object.keys(paths[path]?.['post']?.responses ?? {})).toContain('409')
  expect(Object.keys(paths['/batches/{id}']?.['delete']?.responses ?? {})).toContain('409')
  expect(paths['/generation']?.['get']?.parameters).toMatchObject([{ name: 'id', required: true }])
})

test('every operation lists its errors, and the paths begin below the version', () => {
  const document = openApiDocument() as {
    servers: { url: string }[]
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
  }
  expect(document.servers).toEqual([{ url: '/v1' }])
  for (const operations of Object.values(document.paths)) {
    for (const { responses } of Object.values(operations)) {
      const statuses = Object.keys(responses).map(Number)
      expect(statuses.some((status) => status < 300)).toBe(true)
      expect(statuses).toContain(401)
      expect(statuses).toContain(500)
    }
  }
})
