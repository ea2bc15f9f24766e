import { cellOf } from './cells.ts'
import { parts } from './rows.ts'
import { pairs, type Cell, type Row } from './table.ts'

const head = `# Fidelity

What becomes of each feature between the format that a caller speaks and the one that its provider speaks. The page is
written by \`scripts/generate.ts\` from the expectations in \`test/fidelity/features\`, which are written by hand after
the formats' documents and [ADR 8](adr/0008-one-waist-for-text.md). Every cell that is not impossible is a test that sends
a request through the gateway and looks at what the provider was sent and what the caller got:
\`npm test -- test/fidelity -t W3\` runs the tests of one row.

- **carried**: it arrives, perhaps in the other format's own way.
- **approximated**: it arrives in another way, and the answer lists it in \`headrace_metadata.approximated\`. Where the
  provider learns the wanted form of an answer from the prompt alone, the gateway checks the answer: one without that
  form is 422 \`unfit_answer\`, and no other endpoint is asked. An answer that was cut off, was refused or calls a tool is
  not checked.
- **refused**: another endpoint is asked, and where none can, the answer is 400 (404 of a tier of service) and names the
  member.
- **dropped**: tuning, and members that only the caller's own format has; \`headrace_metadata.dropped\` lists them. Inside
  lists a name has \`[]\`: \`messages[].name\` is the name of any message.
- **impossible**: one of the two formats has no room for it.

A column names the caller's format first, then the provider's. Unless a row says otherwise, the provider of \`chat\`
behaves as OpenAI does, that of \`responses\` is OpenAI with a thinking model, that of \`messages\` is Anthropic with a model
that takes schemas and a budget for thinking, and that of \`gemini\` is Google AI Studio with Gemini 2.5 Flash, or with
Gemini 3 Pro in rows about a model that decides itself how long it thinks. That of \`converse\` is Amazon Bedrock with Nova 2
Lite; callers of chat and responses ask a Claude in rows about schemas, about budgets for thinking and about models that
decide themselves how long they think, while callers of messages reach a Claude at Bedrock in their own format. That of
\`cohere\` is Cohere with Command A+. Other hosts may take fewer members. A server of the operator's own, such as Ollama, is
also sent members that the gateway does not know.

With \`provider.require_parameters\` an endpoint that would have to drop or approximate a member is not asked; what stands
inside messages does not count.
`

const errors = `## Errors

In every pair, in the words of the caller's format; \`test/fidelity/errors.test.ts\`.

| | What the provider does | What the caller gets |
|---|---|---|
| E1 | It refuses the request | 400 in the caller's envelope |
| E2 | It is overloaded, before it has answered | 529 in the caller's envelope, for a stream too |
| E3 | It breaks off inside a stream | chat: a chunk with \`error\` and the finish reason \`error\`; responses: \`error\`, then \`response.failed\` with what was shown; messages: the event \`error\` |
`

/** The page, as it is committed. */
export function fidelityDocument(): string {
  return `${[head, ...parts.map(({ title, rows }) => `## ${title}\n\n${tableOf(rows)}\n`), errors].join('\n')}`
}

function tableOf(rows: readonly Row[]): string {
  const columns = pairs.map(({ caller, upstream }) => `${caller} / ${upstream}`)
  const lines = rows.map((row) => {
    const cells = pairs.map(({ caller, upstream }) => textOf(cellOf(row, caller, upstream)))
    return `| ${[row.id, row.title, ...cells].join(' | ')} |`
  })
  return [`| | Feature | ${columns.join(' | ')} |`, `|---|---|${'---|'.repeat(pairs.length)}`, ...lines].join(
    '\n',
  )
}

function textOf(cell: Cell): string {
  switch (cell.is) {
    case 'carried':
      return cell.note === '' ? 'carried' : `carried: ${cell.note}`
    case 'approximated':
      return `approximated: ${cell.how} (${namesOf(cell.listed)})`
    case 'refused':
      return `refused: \`${cell.param}\``
    case 'dropped':
      return `dropped: ${namesOf(cell.listed)}`
    case 'impossible':
      return `impossible: ${cell.why}`
  }
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
