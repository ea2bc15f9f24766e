import type { BodyPieces } from '../../../core/body.ts'
import { joinPieces } from '../../../core/body.ts'
import { fieldError } from '../../../core/errors.ts'
import { editList, hasMember, memberBytes, memberValue, type JsonDocument } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { isRecord, parseExactly } from '../../../json/values.ts'
import type { BodyForm } from './quirks.ts'

/** What is left of a body at a cloud, which takes fewer members than Anthropic and refuses those it does not know. */
export interface CloudBody {
  betas: readonly string[]
  /** Members with another value. */
  set: Record<string, string>
  /** Members that are left out. */
  remove: readonly string[]
  dropped: readonly string[]
}

/** Members of the whole call that no cloud has. */
const ownMembers = ['cache_control', 'service_tier', 'container', 'mcp_servers'] as const
/** Members that belong to a beta. */
const betaMembers: readonly (readonly [member: string, beta: RegExp])[] = [
  ['context_management', /^context-management-/],
]
const searchBeta = /^tool-search-tool-/
const scopeMark = Buffer.from('"scope"')

/**
 * Reads what a cloud would refuse of a body, and of the names in `anthropic-beta`. Throws `invalid_request` for a tool that
 * Anthropic runs and the cloud does not.
 */
export function cloudBody(
  document: JsonDocument,
  { betas: known, serverTools }: BodyForm,
  { betas = '', messages }: { betas?: string | undefined; messages: BodyPieces | null },
): CloudBody {
  const asked = betas.split(',').flatMap((name) => name.trim() || [])
  const kept = asked.filter((name) => known.test(name))
  const dropped = asked.filter((name) => !known.test(name)).map((name) => `anthropic-beta: ${name}`)
  const remove: string[] = [
    ...ownMembers,
    ...betaMembers.flatMap(([member, beta]) => (kept.some((name) => beta.test(name)) ? [] : [member])),
  ].filter((name) => hasMember(document, name))
  const set: Record<string, string> = {}
  const tools = hasMember(document, 'tools') ? memberValue(document, 'tools') : null
  if (Array.isArray(tools)) refuseServerTools(tools, serverTools)
  const isDeferring = kept.some((name) => searchBeta.test(name))
  for (const name of ['system', 'tools', 'messages'] as const) {
    const bytes =
      name === 'messages' && messages !== null ? joinPieces(messages) : memberBytes(document, name)
    if (bytes === null || bytes === undefined || !hasMember(document, name)) continue
    const edited = withoutExtras(toBuffer(bytes), { path: name, isDeferring })
    if (edited === null) continue
    set[name] = edited.text
    dropped.push(...edited.dropped)
  }
  return { betas: kept, set, remove, dropped: [...remove, ...new Set(dropped)] }
}

function refuseServerTools(tools: readonly unknown[], serverTools: RegExp): void {
  for (const [index, tool] of tools.entries()) {
    const type = isRecord(tool) ? tool['type'] : undefined
    if (typeof type !== 'string' || type === 'custom' || serverTools.test(type)) continue
    throw fieldError(
      `tools[${index}].type`,
      `"${type}" is not run by the chosen provider. Leave the tool out or choose another model.`,
    )
  }
}

interface Edited {
  text: string
  dropped: string[]
}

/** The list without scopes of cache marks, and without `defer_loading` of tools; null where it has none of them. */
function withoutExtras(
  bytes: Buffer,
  { path, isDeferring }: { path: string; isDeferring: boolean },
): Edited | null {
  const mayDefer = path === 'tools' && !isDeferring && bytes.includes('"defer_loading"')
  if (bytes[0] !== openBracket || (!mayDefer && !bytes.includes(scopeMark))) return null
  const dropped: string[] = []
  const strip = (value: Record<string, unknown>, at: string): void => {
    const mark = value['cache_control']
    if (isRecord(mark) && mark['scope'] !== undefined) {
      delete mark['scope']
      dropped.push(`${at}.cache_control.scope`)
    }
    if (mayDefer && value['defer_loading'] !== undefined) {
      delete value['defer_loading']
      dropped.push(`${at}.defer_loading`)
    }
    const { content } = value
    if (Array.isArray(content))
      for (const block of content) if (isRecord(block)) strip(block, `${at}.content[]`)
  }
  const edited = editList(bytes, (item) => {
    if (!item.includes(scopeMark) && !mayDefer) return item
    const before = dropped.length
    const value = parseExactly(item.toString('utf8'))
    if (isRecord(value)) strip(value, `${path}[]`)
    return dropped.length === before ? item : Buffer.from(JSON.stringify(value))
  })
  return dropped.length === 0 ? null : { text: edited.toString('utf8'), dropped }
}

const openBracket = 0x5b
