/** `50 %`, `0.12 %`: two digits, for reading. */
export function formatShare(part: number, whole: number): string {
  const percent = (part / whole) * 100
  return `${percent >= 10 ? Math.round(percent) : percent.toPrecision(2)} %`
}
