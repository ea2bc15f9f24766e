interface DescribedOperation {
  method: string
  path: string
  summary: string
}

const style = `
:root { color-scheme: light dark; --line: #8884; --accent: #0b7285; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; letter-spacing: -0.01em; } h1 span { color: var(--accent); }
a { color: var(--accent); } code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); }
td:first-child { width: 4.5rem; font-weight: 600; }
`

function layout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`
}

/** The plain page at `/` until the dashboard takes its place. */
export function homePage(basePath: string): string {
  const example = `curl ${'$'}HEADRACE_URL/chat/completions \\
  -H "Authorization: Bearer ${'$'}HEADRACE_API_KEY" -H "Content-Type: application/json" \\
  -d '{"model": "openai/gpt-4o-mini", "messages": [{"role": "user", "content": "Say hello"}]}'`
  return layout(
    'Headrace',
    `<h1><span>Headrace</span> is running</h1>
<p>One HTTP API in front of many model providers. The base URL of this gateway ends in <code>${escapeHtml(basePath)}/v1</code>.</p>
<pre>${escapeHtml(example)}</pre>
<ul>
<li><a href="${escapeHtml(basePath)}/docs">Every operation</a>, also as <a href="${escapeHtml(basePath)}/openapi.json">OpenAPI</a></li>
<li><a href="${escapeHtml(basePath)}/v1/models">The models</a> this gateway serves</li>
<li><a href="${escapeHtml(basePath)}/readyz">Readiness</a>, <a href="${escapeHtml(basePath)}/healthz">health</a> and <a href="${escapeHtml(basePath)}/metrics">metrics</a></li>
</ul>`,
  )
}

/** A readable list of the operations, from the OpenAPI document itself; no outside resources. */
export function docsPage(document: Record<string, unknown>, basePath: string): string {
  const rows = operationsOf(document).map(
    ({ method, path, summary }) =>
      `<tr><td>${method}</td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(summary)}</td></tr>`,
  )
  return layout(
    'Headrace API',
    `<h1><span>Headrace</span> API</h1><p>Requests take <code>Authorization: Bearer &lt;key&gt;</code>. Schemas and examples are in <a href="${escapeHtml(basePath)}/openapi.json">openapi.json</a>.</p><table>${rows.join('')}</table>`,
  )
}

function operationsOf(document: Record<string, unknown>): DescribedOperation[] {
  const found: DescribedOperation[] = []
  for (const [path, methods] of Object.entries(asObject(document['paths']))) {
    for (const [method, operation] of Object.entries(asObject(methods))) {
      found.push({
        method: method.toUpperCase(),
        path,
        summary: String(asObject(operation)['summary'] ?? ''),
      })
    }
  }
  return found
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
