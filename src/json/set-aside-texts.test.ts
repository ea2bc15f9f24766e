import { describe, expect, test } from 'bun:test'
import { joinPieces } from '../core/body.ts'
import { setAsideTextBytesMin, setAsideTextsSearchedMax } from '../core/limits/text.ts'
import {
  wholeBytesOf,
  setTextsAside,
  isSetAsideWithin,
  putTextsBack,
  type SetAsideTexts,
} from './set-aside-texts.ts'

const long = `"quoted" \\ é 😀 \n ${'words and words '.repeat(setAsideTextBytesMin / 16)}`
const bytesOf = (json: string) => new TextEncoder().encode(json)

function setAside(value: unknown): SetAsideTexts {
  const aside = setTextsAside(bytesOf(JSON.stringify(value)))
  if (aside === null) throw new Error('nothing was set aside')
  return aside
}

const putBack = (value: unknown, aside: SetAsideTexts) =>
  new TextDecoder().decode(joinPieces(putTextsBack(JSON.stringify(value), aside)))

describe('long texts', () => {
  test('are set aside and come back byte for byte, in whatever order', () => {
    const value = { a: 'short', content: long, b: [{ text: `${long}2` }], arguments: '{}' }
    const aside = setAside(value)
    expect(aside.skeleton.length).toBeLessThan(400)
    const parsed = JSON.parse(aside.skeleton)
    expect(putBack(parsed, aside)).toBe(JSON.stringify(value))
    const turned = { arguments: '{}', b: value.b, content: `${long}, ${long}2` }
    expect(
      putBack({ arguments: '{}', b: parsed.b, content: `${parsed.content}, ${parsed.b[0].text}` }, aside),
    ).toBe(JSON.stringify(turned))
  })

  test('weigh what they would weigh', () => {
    const aside = setAside({ content: long })
    const { content } = JSON.parse(aside.skeleton)
    expect(wholeBytesOf(`${content}é`, aside)).toBe(Buffer.byteLength(`${long}é`))
    expect(wholeBytesOf('é', aside)).toBe(2)
  })

  test('tell when they ended up within another JSON text', () => {
    const { skeleton } = setAside({ arguments: { content: long } })
    const parsed = JSON.parse(skeleton)
    expect(isSetAsideWithin(JSON.stringify(parsed.arguments))).toBe(true)
    expect(isSetAsideWithin(parsed.arguments.content)).toBe(false)
  })

  test('are left where they are under a name that says nothing, as a name, or in a list', () => {
    for (const value of [{ id: long }, { [long]: 1 }, { content: [long] }, [long], ['content', long]])
      expect(setTextsAside(bytesOf(JSON.stringify(value)))).toBeNull()
  })

  test('are left where the whole is short, not UTF-8, broken, or of very many strings', () => {
    expect(setTextsAside(bytesOf('{"content":"x"}'))).toBeNull()
    const broken = Buffer.from(JSON.stringify({ content: long }))
    broken[100] = 0xff
    expect(setTextsAside(broken)).toBeNull()
    broken[100] = 0x0a
    expect(setTextsAside(broken)).toBeNull()
    expect(setTextsAside(bytesOf(`{"content":"${long}`))).toBeNull()
    const many = Array.from({ length: setAsideTextsSearchedMax }, () => '')
    expect(setTextsAside(bytesOf(JSON.stringify({ many, content: long })))).toBeNull()
  })

  test('leave broken JSON around them broken', () => {
    const text = JSON.stringify(long)
    for (const json of [
      `{"content":${text}`,
      `{"content":${text},}`,
      `{"content":${text} ${text}}`,
      `{"a":\\"content":${text}}`,
    ]) {
      const aside = setTextsAside(bytesOf(json))
      expect(() => JSON.parse(aside?.skeleton ?? json)).toThrow()
    }
  })
})
