import { listOrEmpty, recordOrEmpty, textOrEmpty } from '../json/values.ts'
import { curlExample } from './curl-example.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b7285; }
@media (prefers-color-scheme: dark) { :root { --accent: #66d9e8; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; letter-spacing: -0.01em; } h1 span, summary b { color: var(--accent); }
h2 { font-size: 1.05rem; margin: 2rem 0 0.5rem; }
a { color: var(--accent); } code, pre, summary { font-family: ui-monospace, monospace; font-size: 14px; }
pre { border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 8px; margin: 0.4rem 0; padding: 0 0.9rem; }
details[open] { background: var(--soft); } summary { cursor: pointer; padding: 0.55rem 0; }
summary b { display: inline-block; width: 4.2rem; } summary span { font-family: system-ui, sans-serif; opacity: 0.75; }
table { border-collapse: collapse; width: 100%; font-size: 14px; } td { padding: 0.3rem 0.5rem; border-top: 1px solid var(--line); vertical-align: top; }
summary::after { content: ''; display: block; clear: both; }
@media (min-width: 44rem) { summary span { float: right; } td:first-child { white-space: nowrap; } }
@media (max-width: 44rem) { body { margin: 2rem auto; } summary span, td { display: block; } td + td { border-top: 0; padding-top: 0; } td:empty { display: none; } }
`

type Json = Readonly<Record<string, unknown>>

function layout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`
}

/** The URL of a page, so that its commands work unchanged. */
export interface PagePlace {
  /** The origin that the reader used: `http://127.0.0.1:8787`. */
  origin: string
  basePath: string
}

/** The plain page at `/` until the dashboard takes its place. */
export function homePage({ origin, basePath }: PagePlace): string {
  const base = escapeHtml(basePath)
  const example = `${addressLine({ origin, basePath })}
curl $HEADRACE_URL/chat/completions \\
  -H "Authorization: Bearer $HEADRACE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "openai/gpt-4o-mini",
       "messages": [{"role": "user", "content": "Say hello"}]}'`
  return layout(
    'Headrace',
    `<h1><span>Headrace</span> is running</h1>
<p>One HTTP API in front of many model providers. The base URL of this gateway ends in <code>${base}/v1</code>.</p>
<pre>${escapeHtml(example)}</pre>
<ul>
<li><a href="${base}/docs">Every operation</a>, also as <a href="${base}/openapi.json">OpenAPI</a></li>
<li><a href="${base}/v1/models">The models</a> this gateway serves</li>
<li><a href="${base}/readyz">Readiness</a>, <a href="${base}/healthz">health</a> and <a href="${base}/metrics">metrics</a></li>
</ul>`,
  )
}

/** The variables that the commands below it need; the URL includes the version, as for the command line. */
function addressLine({ origin, basePath }: PagePlace): string {
  return `export HEADRACE_URL=${origin}${basePath}/v1 HEADRACE_API_KEY=sk-hr-v1-…`
}

/**
 * The operations as a page, made from the OpenAPI document: the inputs of each, with an example to paste. No outside
 * resources.
 */
export function docsPage(document: Json, place: PagePlace): string {
  const base = escapeHtml(place.basePath)
  const groups = new Map<string, string[]>()
  for (const [path, methods] of Object.entries(recordOrEmpty(document['paths']))) {
    for (const [method, value] of Object.entries(recordOrEmpty(methods))) {
      const operation = recordOrEmpty(value)
      const tag = textOrEmpty(listOrEmpty(operation['tags'])[0])
      const rows = groups.get(tag) ?? []
      rows.push(renderOperation({ method: method.toUpperCase(), path, operation, document }))
      groups.set(tag, rows)
    }
  }
  const sections = [...groups].map(([tag, rows]) => `<h2>${escapeHtml(tag)}</h2>${rows.join('')}`)
  return layout(
    'Headrace API',
    `<h1><span>Headrace</span> API</h1><p>Requests take <code>Authorization: Bearer &lt;key&gt;</code>; paths are below <code>${base}/v1</code>. For machines: <a href="${base}/openapi.json">openapi.json</a>.</p><p>The commands need this gateway's address and a key:</p><pre>${escapeHtml(addressLine(place))}</pre>${sections.join('')}`,
  )
}

/** The tags whose operations take a management key: the document does not distinguish the two kinds of key. */
const managementTags: ReadonlySet<unknown> = new Set(['Organization', 'Accounting', 'Operation'])

interface ShownOperation {
  method: string
  path: string
  operation: Json
  document: Json
}

function renderOperation({ method, path, operation, document }: ShownOperation): string {
  const content = recordOrEmpty(recordOrEmpty(operation['requestBody'])['content'])
  const body = recordOrEmpty(content['application/json'])
  const tags = listOrEmpty(operation['tags'])
  const isManagement = tags.some((tag) => managementTags.has(tag))
  const curl = curlExample({ method, path, operation, isManagement, isSession: tags.includes('Sessions') })
  const rows = [
    ...listOrEmpty(operation['parameters']).map((parameter) => renderParameter(recordOrEmpty(parameter))),
    ...renderMembers(recordOrEmpty(body['schema']), document),
  ]
  return `<details><summary><b>${method}</b>${escapeHtml(path)}<span>${escapeHtml(textOrEmpty(operation['summary']))}</span></summary>
<p>${escapeHtml(textOrEmpty(operation['description']))}</p><pre>${escapeHtml(curl)}</pre>${rows.length > 0 ? `<table>${rows.join('')}</table>` : ''}<p>Answers ${Object.keys(recordOrEmpty(operation['responses'])).join(', ')}.</p></details>`
}

function renderParameter(parameter: Json): string {
  const where = textOrEmpty(parameter['in'])
  const description = textOrEmpty(
    parameter['description'] ?? recordOrEmpty(parameter['schema'])['description'],
  )
  return row(textOrEmpty(parameter['name']), where, description)
}

function renderMembers(schema: Json, document: Json): string[] {
  const resolved = resolve(schema, document)
  const required = listOrEmpty(resolved['required'])
  return Object.entries(recordOrEmpty(resolved['properties'])).map(([name, value]) => {
    const member = resolve(recordOrEmpty(value), document)
    return row(
      name,
      `${typeOf(member)}${required.includes(name) ? ', required' : ''}`,
      textOrEmpty(member['description']),
    )
  })
}

function resolve(schema: Json, document: Json): Json {
  const reference = schema['$ref']
  if (typeof reference !== 'string') return schema
  const schemas = recordOrEmpty(recordOrEmpty(document['components'])['schemas'])
  return recordOrEmpty(schemas[reference.split('/').at(-1) ?? ''])
}

function typeOf(schema: Json): string {
  const choices = listOrEmpty(schema['enum'])
  if (choices.length > 0 && choices.length <= 6)
    return choices.map((choice) => JSON.stringify(choice)).join(' or ')
  const options = [...listOrEmpty(schema['anyOf']), ...listOrEmpty(schema['oneOf'])].map((option) =>
    typeOf(recordOrEmpty(option)),
  )
  if (options.length > 0) return [...new Set(options)].filter((option) => option !== 'null').join(' or ')
  if (typeof schema['$ref'] === 'string') return textOrEmpty(schema['$ref'].split('/').at(-1))
  return textOrEmpty(
    schema['type'] ?? (schema['const'] === undefined ? 'any' : JSON.stringify(schema['const'])),
  )
}

function row(name: string, type: string, description: string): string {
  return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(type)}</td><td>${escapeHtml(description)}</td></tr>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
