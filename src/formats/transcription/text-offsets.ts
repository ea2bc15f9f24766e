/** A part of a text in code points; the end is exclusive. */
export interface TextSpan {
  start: number
  end: number
}

/** A text with offsets in code points; JavaScript counts a character beyond U+FFFF as two units. */
export interface CountedText {
  text: string
  /** The number of code points. */
  length: number
  /** The code points before an offset in UTF-16 units. */
  codePointsAt(unit: number): number
  /** The offset in UTF-16 units after this many code points. */
  unitAt(codePoints: number): number
  slice(span: TextSpan): string
}

/** Counts a text once. Most texts have no character of two units. */
export function countText(text: string): CountedText {
  if (!/[\ud800-\udfff]/.test(text)) {
    return {
      text,
      length: text.length,
      codePointsAt: (unit) => unit,
      unitAt: (codePoints) => codePoints,
      slice: ({ start, end }) => text.slice(start, end),
    }
  }
  const unitOfPoint: number[] = []
  const pointOfUnit = new Uint32Array(text.length + 1)
  for (let unit = 0; unit < text.length;) {
    const size = (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1
    pointOfUnit.fill(unitOfPoint.length, unit, unit + size)
    unitOfPoint.push(unit)
    unit += size
  }
  pointOfUnit[text.length] = unitOfPoint.length
  const unitAt = (point: number) => unitOfPoint[point] ?? text.length
  return {
    text,
    length: unitOfPoint.length,
    codePointsAt: (unit) => pointOfUnit[unit] ?? unitOfPoint.length,
    unitAt,
    slice: ({ start, end }) => text.slice(unitAt(start), unitAt(end)),
  }
}
