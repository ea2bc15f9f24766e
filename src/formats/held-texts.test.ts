import { describe, expect, test } from 'bun:test'
import { joinPieces } from '../canonical/body.ts'
import { heldTextBytesMin, heldTextsSearchedMax } from '../core/limits/text.ts'
import { heldBytesOf, holdTexts, isHeldWithin, releaseTexts, type HeldTexts } from './held-texts.ts'

const long = `"quoted" \\ é 😀 \n ${'words and words '.repeat(heldTextBytesMin / 16)}`
const bytesOf = (json: string) => new TextEncoder().encode(json)

function hold(value: unknown): HeldTexts {
  const held = holdTexts(bytesOf(JSON.stringify(value)))
  if (held === null) throw new Error('nothing was held')
  return held
}

const release = (value: unknown, held: HeldTexts) =>
  new TextDecoder().decode(joinPieces(releaseTexts(JSON.stringify(value), held)))

describe('long texts', () => {
  test('are set aside and come back byte for byte, in whatever order', () => {
    const value = { a: 'short', content: long, b: [{ text: `${long}2` }], arguments: '{}' }
    const held = hold(value)
    expect(held.skeleton.length).toBeLessThan(400)
    const parsed = JSON.parse(held.skeleton)
    expect(release(parsed, held)).toBe(JSON.stringify(value))
    const turned = { arguments: '{}', b: value.b, content: `${long}, ${long}2` }
    expect(
      release({ arguments: '{}', b: parsed.b, content: `${parsed.content}, ${parsed.b[0].text}` }, held),
    ).toBe(JSON.stringify(turned))
  })

  test('weigh what they would weigh', () => {
    const held = hold({ content: long })
    const { content } = JSON.parse(held.skeleton)
    expect(heldBytesOf(`${content}é`, held)).toBe(Buffer.byteLength(`${long}é`))
    expect(heldBytesOf('é', held)).toBe(2)
  })

  test('tell when they ended up within another JSON text', () => {
    const { skeleton } = hold({ arguments: { content: long } })
    const parsed = JSON.parse(skeleton)
    expect(isHeldWithin(JSON.stringify(parsed.arguments))).toBe(true)
    expect(isHeldWithin(parsed.arguments.content)).toBe(false)
  })

  test('are left where they are under a name that says nothing, as a name, or in a list', () => {
    for (const value of [{ id: long }, { [long]: 1 }, { content: [long] }, [long], ['content', long]])
      expect(holdTexts(bytesOf(JSON.stringify(value)))).toBeNull()
  })

  test('are left where the whole is short, not UTF-8, broken, or of very many strings', () => {
    expect(holdTexts(bytesOf('{"content":"x"}'))).toBeNull()
    const broken = Buffer.from(JSON.stringify({ content: long }))
    broken[100] = 0xff
    expect(holdTexts(broken)).toBeNull()
    broken[100] = 0x0a
    expect(holdTexts(broken)).toBeNull()
    expect(holdTexts(bytesOf(`{"content":"${long}`))).toBeNull()
    const many = Array.from({ length: heldTextsSearchedMax }, () => '')
    expect(holdTexts(bytesOf(JSON.stringify({ many, content: long })))).toBeNull()
  })

  test('leave broken JSON around them broken', () => {
    const text = JSON.stringify(long)
    for (const json of [
      `{"content":${text}`,
      `{"content":${text},}`,
      `{"content":${text} ${text}}`,
      `{"a":\\"content":${text}}`,
    ]) {
      const held = holdTexts(bytesOf(json))
      expect(() => JSON.parse(held?.skeleton ?? json)).toThrow()
    }
  })
})
