/** A call of the playground as code that runs as it is, with the key in `HEADRACE_API_KEY`. */
import type { Example } from '../parts/code.tsx'

type Json = Readonly<Record<string, unknown>>

/** A call with a JSON body that answers JSON or events. */
export function jsonExamples(url: string, path: string, body: Json): Example[] {
  return [
    { language: 'curl', text: curlJson(url, path, body, '') },
    {
      language: 'TypeScript',
      text: `const response = await fetch('${url}${path}', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.HEADRACE_API_KEY}\`, 'Content-Type': 'application/json' },
  body: JSON.stringify(${indented(body, '  ')}),
})
if (!response.ok) throw new Error(await response.text())
for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text)
`,
    },
    {
      language: 'Python',
      text: `import json, os, urllib.request

request = urllib.request.Request(
    "${url}${path}",
    data=json.dumps(${pythonLiteral(body, '    ')}).encode(),
    headers={"Authorization": "Bearer " + os.environ["HEADRACE_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    for line in response:
        print(line.decode(), end="")
`,
    },
  ]
}

/** A call that answers sound, written into a file. */
export function speechExamples(url: string, body: Json, file: string): Example[] {
  return [
    { language: 'curl', text: curlJson(url, '/audio/speech', body, ` -o ${file}`) },
    {
      language: 'TypeScript',
      text: `import { writeFile } from 'node:fs/promises'

const response = await fetch('${url}/audio/speech', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.HEADRACE_API_KEY}\`, 'Content-Type': 'application/json' },
  body: JSON.stringify(${indented(body, '  ')}),
})
if (!response.ok) throw new Error(await response.text())
await writeFile('${file}', new Uint8Array(await response.arrayBuffer()))
`,
    },
    {
      language: 'Python',
      text: `import json, os, urllib.request

request = urllib.request.Request(
    "${url}/audio/speech",
    data=json.dumps(${pythonLiteral(body, '    ')}).encode(),
    headers={"Authorization": "Bearer " + os.environ["HEADRACE_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response, open("${file}", "wb") as file:
    file.write(response.read())
`,
    },
  ]
}

/** A call with a file of a form. */
export function transcriptionExamples(
  url: string,
  fields: readonly (readonly [string, string])[],
  file: string,
): Example[] {
  const name = file.replaceAll(/[^\w.-]/g, '_')
  const curlFields = fields.map(([field, value]) => ` \\\n  -F '${field}=${shellQuoted(value)}'`).join('')
  const appended = fields
    .map(([field, value]) => `form.append(${JSON.stringify(field)}, ${JSON.stringify(value)})`)
    .join('\n')
  const pairs = fields.map(([field, value]) => `    (${JSON.stringify(field)}, ${JSON.stringify(value)}),`)
  return [
    {
      language: 'curl',
      text: `curl ${url}/audio/transcriptions \\
  -H "Authorization: Bearer $HEADRACE_API_KEY"${curlFields} \\
  -F file=@${name}
`,
    },
    {
      language: 'TypeScript',
      text: `import { readFile } from 'node:fs/promises'

const form = new FormData()
${appended}
form.append('file', new Blob([await readFile('${name}')]), '${name}')
const response = await fetch('${url}/audio/transcriptions', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env.HEADRACE_API_KEY}\` },
  body: form,
})
console.log(await response.text())
`,
    },
    {
      language: 'Python',
      text: `import os, uuid, urllib.request

boundary = uuid.uuid4().hex
fields = [
${pairs.join('\n')}
]
parts = [f'--{boundary}\\r\\nContent-Disposition: form-data; name="{name}"\\r\\n\\r\\n{value}\\r\\n'.encode() for name, value in fields]
parts.append(f'--{boundary}\\r\\nContent-Disposition: form-data; name="file"; filename="${name}"\\r\\n\\r\\n'.encode())
parts.append(open("${name}", "rb").read())
parts.append(f"\\r\\n--{boundary}--\\r\\n".encode())
request = urllib.request.Request(
    "${url}/audio/transcriptions",
    data=b"".join(parts),
    headers={"Authorization": "Bearer " + os.environ["HEADRACE_API_KEY"], "Content-Type": f"multipart/form-data; boundary={boundary}"},
)
print(urllib.request.urlopen(request).read().decode())
`,
    },
  ]
}

function curlJson(url: string, path: string, body: Json, end: string): string {
  return `curl ${end === '' && body['stream'] === true ? '-N ' : ''}${url}${path} \\
  -H "Authorization: Bearer $HEADRACE_API_KEY" -H "Content-Type: application/json" \\
  -d '${shellQuoted(JSON.stringify(body, null, 2))}'${end}
`
}

/** For the inside of single quotes of a shell. */
function shellQuoted(text: string): string {
  return text.replaceAll("'", String.raw`'\''`)
}

function indented(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}

/** A value as Python writes it. JSON's strings are Python's, its three words are not. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((one) => `${inner}${pythonLiteral(one, inner)},\n`).join('')}${indent}]`
  }
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  if (entries.length === 0) return '{}'
  const lines = entries.map(
    ([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(one, inner)},\n`,
  )
  return `{\n${lines.join('')}${indent}}`
}
