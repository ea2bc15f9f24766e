import type { JsonDocument } from '../canonical/call.ts'
import { memberBytes, toBuffer } from './json-document.ts'

const marks = ['"web_search', '"web_fetch', '"file_search', '"mcp', '"code_', '"tool_search'].map((text) =>
  Buffer.from(text),
)

/** Whether the request has tools that the provider itself runs: what they find becomes part of the prompt. */
export function mayUseProviderTools(document: JsonDocument): boolean {
  return ['tools', 'mcp_servers'].some((name) => {
    const bytes = memberBytes(document, name)
    return bytes !== null && (name !== 'tools' || marks.some((mark) => toBuffer(bytes).includes(mark)))
  })
}
