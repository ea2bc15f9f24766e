/**
 * The media type that an `Accept` header prefers among those available. The fallback wins ties. It is also the answer
 * to a header that names none of them, because errors go out as JSON to every client.
 */
export function choosePreferred<Media extends string>(
  accept: string | null,
  mediaOfType: Readonly<Record<string, Media>>,
  fallback: Media,
): Media {
  let best = fallback
  let bestQuality = 0
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const media = Object.hasOwn(mediaOfType, type) ? mediaOfType[type] : undefined
    const quality = qualityOf(parameters)
    if (media === undefined || quality < bestQuality || quality === 0) continue
    if (quality === bestQuality && media !== fallback) continue
    best = media
    bestQuality = quality
  }
  return best
}

function qualityOf(parameters: readonly string[]): number {
  const stated = parameters.find((parameter) => parameter.startsWith('q='))
  if (stated === undefined) return 1
  const quality = Number(stated.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}
