import { isThorough } from '../support/thorough.ts'
import type { Field, Schema } from './schema-fields.ts'

/** The ways in which a field is made wrong, or strange. */
export const kinds = [
  'absent',
  'null',
  'wrong type',
  'boundary',
  'too long',
  'duplicate',
  'hostile Unicode',
] as const

export type Kind = (typeof kinds)[number]

/** One request body, as the bytes or text that are sent. */
export interface Mutation {
  kind: Kind
  body: string | Uint8Array<ArrayBuffer>
}

const hostileTexts = [
  '\u0000',
  '\ud800',
  'a\udfffb',
  '\u202egnp.exe',
  '\u200b\ufeff',
  'é'.normalize('NFD').repeat(50),
  '👩‍👩‍👧‍👦'.repeat(70),
  '\uffff\ufffe',
  '__proto__',
  "'; drop table batches; --",
  '{{7*7}}${7*7}',
  '\r\nx-injected: 1',
]

const numbersAtEdges = [0, -1, 1.5, 2 ** 31, Number.MAX_SAFE_INTEGER, 2 ** 53, -(2 ** 53), 1e308, 1e-320]
const longText = 'x'.repeat(100_000)

let turn = 0

/** The mutations of a field that this run tries: every one, or one of each kind in turn. */
export function triedMutationsOf(field: Field): Mutation[] {
  const mutations = mutationsOf(field)
  if (isThorough) return mutations
  turn += 1
  return kinds.flatMap((kind) => {
    const ofKind = mutations.filter((mutation) => mutation.kind === kind)
    const chosen = ofKind[turn % ofKind.length]
    return chosen === undefined ? [] : [chosen]
  })
}

/** Every mutation of a field; never none of a kind, save where a thing without a name cannot be sent twice. */
function mutationsOf(field: Field): Mutation[] {
  const made: Mutation[] = [{ kind: 'absent', body: JSON.stringify(field.absent) }]
  const add = (kind: Kind, value: unknown) => made.push({ kind, body: JSON.stringify(field.place(value)) })
  add('null', null)
  for (const value of ['text', 7, true, [], {}, ['text'], [[]], { a: { b: 1 } }, [null]])
    add('wrong type', value)
  for (const value of boundaryValues(field.schema)) add('boundary', value)
  // Numbers that JSON can write and JavaScript cannot hold.
  for (const number of ['1e999', '-0', '123456789012345678901234567890'])
    made.push({ kind: 'boundary', body: withRaw(field, number) })
  const length = Number(field.schema['maxLength'] ?? 0)
  for (const value of [
    'x'.repeat(length + 1),
    longText,
    Array(3_000).fill('x'),
    Array.from({ length: 3_000 }, () => ({})),
    deep(200),
  ])
    add('too long', value)
  if (field.name !== null) {
    const marked = JSON.stringify(field.place(marker))
    const member = JSON.stringify(field.name)
    for (const twice of [`1,${member}:2`, `"a",${member}:null`, `{},${member}:"a"`])
      made.push({ kind: 'duplicate', body: marked.replace(JSON.stringify(marker), twice) })
  } else {
    made.push({ kind: 'duplicate', body: withRaw(field, '"a","a"') })
  }
  for (const text of hostileTexts) add('hostile Unicode', text)
  made.push({ kind: 'hostile Unicode', body: withRaw(field, '"\\ud800\\u0000\\udc00"') })
  made.push({ kind: 'hostile Unicode', body: withBrokenUtf8(field) })
  return made
}

const marker = '@@here@@'

function withRaw(field: Field, raw: string): string {
  return JSON.stringify(field.place(marker)).replace(JSON.stringify(marker), raw)
}

function withBrokenUtf8(field: Field): Uint8Array<ArrayBuffer> {
  const [before = '', after = ''] = JSON.stringify(field.place(marker)).split(marker)
  return new Uint8Array(
    Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]),
  )
}

function boundaryValues(schema: Schema): unknown[] {
  const values: unknown[] = ['', ...numbersAtEdges]
  for (const name of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) {
    const bound = schema[name]
    if (typeof bound === 'number') values.push(bound, bound - 1, bound + 1, bound + 0.5)
  }
  for (const name of ['minLength', 'maxLength']) {
    const bound = schema[name]
    if (typeof bound === 'number')
      values.push('x'.repeat(bound), 'x'.repeat(bound + 1), 'x'.repeat(Math.max(0, bound - 1)))
  }
  if (Array.isArray(schema['enum']))
    values.push(...schema['enum'].map((value) => String(value).toUpperCase()), 'no such value')
  return values
}

/** Nested so deeply that a careless reader runs out of stack. */
function deep(levels: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
