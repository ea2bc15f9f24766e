import { modelIdLengthMax } from './limits/http.ts'

/** Visible text without control characters and without surrounding blanks. */
export const modelNamePattern = /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u

/** Whether a text can be an operator's own model name, which callers use as a model. */
export function isModelName(text: string): boolean {
  return text.length <= modelIdLengthMax && modelNamePattern.test(text)
}
