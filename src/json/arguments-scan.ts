const quote = 0x22
const backslash = 0x5c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Where in the text the scan stands; `beyond` once something follows the object, or the text is none. */
type Place = 'before' | 'inside' | 'string' | 'escape' | 'behind' | 'beyond'

/**
 * Follows the arguments of a tool call, piece by piece, to tell when their object is all there. It looks at every
 * character once and keeps none, so that megabytes in single characters cost no more than in one piece.
 */
export class ArgumentsScan {
  #place: Place = 'before'
  #depth = 0

  /** Whether the object is closed, and nothing but space follows it. */
  get isWhole(): boolean {
    return this.#place === 'behind'
  }

  push(text: string): void {
    let place = this.#place
    for (let at = 0; at < text.length && place !== 'beyond'; at += 1)
      place = this.#follow(place, text.charCodeAt(at))
    this.#place = place
  }

  #follow(place: Place, unit: number): Place {
    switch (place) {
      case 'string':
        if (unit === backslash) return 'escape'
        return unit === quote ? 'inside' : 'string'
      case 'escape':
        return 'string'
      case 'inside':
        return this.#followInside(unit)
      case 'before':
        if (unit === openObject) this.#depth = 1
        return unit === openObject ? 'inside' : outside(place, unit)
      default:
        return outside(place, unit)
    }
  }

  #followInside(unit: number): Place {
    if (unit === quote) return 'string'
    if (unit === openObject || unit === openArray) this.#depth += 1
    else if (unit === closeObject || unit === closeArray) this.#depth -= 1
    return this.#depth === 0 ? 'behind' : 'inside'
  }
}

/** Space, the only thing that may stand beside the object. */
function outside(place: Place, unit: number): Place {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) ? place : 'beyond'
}
