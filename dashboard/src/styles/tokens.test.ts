import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const source = join(import.meta.dir, '..')
const tokens = [
  ...readFileSync(join(import.meta.dir, 'tokens.css'), 'utf8').matchAll(
    /(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
  ),
].map(([, name = '', light = '', dark = '']) => ({ name, light, dark }))

const text = [
  '--text',
  '--muted',
  '--accent',
  '--ok',
  '--warn',
  '--bad',
  ...Array.from({ length: 8 }, (_, place) => `--s${place + 1}`),
]
const grounds = ['--bg', '--surface', '--hover', '--tint', '--bad-tint', '--warn-tint']

describe('the colours of the console', () => {
  test('every colour of text is readable on every ground, in both themes', () => {
    const unreadable = (['light', 'dark'] as const).flatMap((theme) =>
      text.flatMap((name) =>
        grounds
          .filter((ground) => contrast(colour(name, theme), colour(ground, theme)) < 4.5)
          .filter((ground) => ground === '--bg' || ground === '--surface' || !name.startsWith('--s'))
          .map(
            (ground) =>
              `${theme}: ${name} on ${ground} ${contrast(colour(name, theme), colour(ground, theme)).toFixed(2)}`,
          ),
      ),
    )
    expect(unreadable).toEqual([])
  })

  test('what stands on the accent is readable', () => {
    for (const theme of ['light', 'dark'] as const)
      expect(contrast(colour('--on-accent', theme), colour('--accent', theme))).toBeGreaterThan(4.5)
  })

  test('no file but tokens.css has a colour', () => {
    const literal =
      /#[0-9a-f]{3,8}\b(?![\w-])|\b(?:rgba?|hsla?|oklch|lab|lch)\(|:\s*(?:white|black|red|green|blue|gr[ae]y|orange|teal)\s*[;,}]/i
    const found = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:css|tsx?)$/.test(name) && !/tokens\.css$|\.test\.ts$|\.gen\.ts$/.test(name))
      .flatMap((name) =>
        readFileSync(join(source, name), 'utf8')
          .split('\n')
          .flatMap((line, index) => (literal.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [])),
      )
    expect(found).toEqual([])
  })
})

function colour(name: string, theme: 'light' | 'dark'): string {
  const token = tokens.find((one) => one.name === name)
  if (token === undefined) throw new Error(`tokens.css has no ${name}`)
  return token[theme]
}

/** The contrast of WCAG 2: from 1 to 21. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((left, right) => right - left)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
