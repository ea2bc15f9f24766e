import type { Finding, Source, SyntaxNode } from './sources.ts'
import { isTest, literalOf, nameOf, walk } from './sources.ts'

/** Folders that handle requests and answers of every format and must not know a format's member names. */
const formatless = ['src/execution/', 'src/batches/', 'src/billing/']

/** Columns have their own names, and some equal members of formats. */
const aboutColumns = /-(repository|statements)\.ts$/

/** Members of requests, answers and streams, and of the batch object. */
const memberNames: ReadonlySet<string> = new Set([
  'messages',
  'input_text',
  'output_text',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'prompt_tokens',
  'completion_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'tool_calls',
  'tool_choice',
  'response_format',
  'finish_reason',
  'stop_reason',
  'stop_sequence',
  'logprobs',
  'stream_options',
  'prompt_cache_key',
  'previous_response_id',
  'cache_control',
  'anthropic-beta',
  'content_block',
  'delta',
  'custom_id',
  'request_counts',
  'finalized_at',
  'completion_window',
  'echo_upstream_body',
  'timings',
  'start_ms',
  'epoch_ms',
])

/** This operation has the same name as one of its members. */
const alsoOperations: ReadonlySet<string> = new Set(['messages'])

/** Members of a format that are named in code for every format. */
export function checkFormatNames(source: Source): Finding[] {
  const { file } = source
  if (!formatless.some((folder) => file.startsWith(folder))) return []
  if (isTest(file) || aboutColumns.test(file)) return []
  return walk(source.program).flatMap(({ node }) => {
    const name = literalOf(node) ?? nameOf(node)
    if (name === null || !memberNames.has(name)) return []
    if (file === 'src/execution/operations.ts' && alsoOperations.has(name)) return []
    return [
      {
        rule: 'format-name',
        file,
        line: source.lineAt(node.start),
        problem: `\`${name}\` is a member of a format`,
        remedy: 'Read and write it in `src/formats/`, and give this folder the value.',
      },
    ]
  })
}

/** Code for calls of every operation: differences between operations belong into the operation's row. */
const rowReaders = [...formatless, 'src/http/']

/** The names of operations and formats in code. */
const operationNames: ReadonlySet<string> = new Set([
  'chat',
  'chat_completions',
  'responses',
  'messages',
  'embeddings',
  'gemini',
  'completions',
  'rerank',
  'speech',
  'transcription',
])

/** Decisions by the name of an operation or a format, where its row should state the difference. */
export function checkOperationNames(source: Source): Finding[] {
  const { file } = source
  if (!rowReaders.some((folder) => file.startsWith(folder)) || isTest(file)) return []
  return walk(source.program).flatMap(({ node, parent }) => {
    const name = decidersOf(node, parent).find((text) => text !== null && operationNames.has(text))
    if (name === undefined || file === 'src/execution/operations.ts') return []
    return [
      {
        rule: 'operation-name',
        file,
        line: source.lineAt(node.start),
        problem: `what is done is decided by the name \`${name}\``,
        remedy:
          'Say it in the row of the operation (`src/execution/operations.ts` or its `text`) or in its row of hooks, and read it here.',
      },
    ]
  })
}

/** The names in a comparison, a case or the keys of a table. */
function decidersOf(node: SyntaxNode, parent: SyntaxNode | null): (string | null)[] {
  switch (node.type) {
    case 'BinaryExpression':
      return isEquality(node['operator']) ? [literalOf(node['left']), literalOf(node['right'])] : []
    case 'SwitchCase':
      return [literalOf(node['test'])]
    case 'Property':
      return parent?.type === 'ObjectExpression'
        ? tableKeys(nameOf(node['key']) ?? literalOf(node['key']))
        : []
    default:
      return []
  }
}

function isEquality(operator: unknown): boolean {
  return operator === '===' || operator === '!=='
}

/** The other names are also members of requests. */
function tableKeys(key: string | null): (string | null)[] {
  return key === 'chat_completions' ? [key] : []
}
