const seriesCount = 8

/** The token of a name's colour: the same everywhere, as long as the page lives in the same build. */
export function seriesColours(names: readonly (string | null)[]): string[] {
  const taken = new Set<number>()
  return names.map((name) => {
    if (name === null) return '--s7'
    let place = hash(name) % seriesCount
    // Two names of one chart differ where there are colours left; grey belongs to "Other".
    for (let tries = 0; (taken.has(place) || place === 6) && tries < seriesCount; tries += 1)
      place = (place + 1) % seriesCount
    taken.add(place)
    return `--s${place + 1}`
  })
}

function hash(text: string): number {
  let value = 2_166_136_261
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 16_777_619) >>> 0
  return value
}
