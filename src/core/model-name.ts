import { modelIdLengthMax } from './limits/http.ts'

/** Something to read, without control characters and without blanks around it. */
export const modelNamePattern = /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u

/** Whether a text can be a model's name of the operator's own, which callers write as a model. */
export function isModelName(text: string): boolean {
  return text.length <= modelIdLengthMax && modelNamePattern.test(text)
}
