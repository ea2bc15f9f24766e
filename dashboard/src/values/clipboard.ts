/**
 * Copies a text. Browsers give pages of plain HTTP no clipboard, so there the text is selected in a field and copied as
 * a person would. False when neither was possible.
 */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Refused by a permission; the other way may still work.
    }
  }
  return copyBySelection(text)
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'hidden-visually'
  // Within a dialog, whose focus is kept inside of it.
  const place = before?.closest('[role="dialog"]') ?? document.body
  place.append(field)
  field.select()
  try {
    // Deprecated, and the only way on plain HTTP.
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  }
}
