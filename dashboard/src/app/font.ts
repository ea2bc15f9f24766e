/** How long the first paint waits for the preloaded font. */
const waitMs = 120

/**
 * Takes the console's font if it is there by the first paint, else not at all on this page: text that changes its font
 * later would move.
 */
export async function takeFont(): Promise<void> {
  const url = document.querySelector<HTMLLinkElement>('link[as="font"]')?.href
  if (url === undefined) return
  const face = new FontFace('Inter', `url(${JSON.stringify(url)}) format('woff2')`, { weight: '400 550' })
  const loaded = face.load().then(
    () => true,
    () => false,
  )
  const late = new Promise<boolean>((resolve) => {
    setTimeout(() => resolve(false), waitMs)
  })
  if (await Promise.race([loaded, late])) document.fonts.add(face)
}
