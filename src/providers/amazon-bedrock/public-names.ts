import { plainNameOf } from './quirks.ts'

/** The authors of public ids, by the first part of Bedrock's names. */
const authors: Readonly<Record<string, string>> = {
  ai21: 'ai21',
  amazon: 'amazon',
  anthropic: 'anthropic',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'google',
  meta: 'meta-llama',
  minimax: 'minimax',
  mistral: 'mistralai',
  moonshot: 'moonshotai',
  moonshotai: 'moonshotai',
  nvidia: 'nvidia',
  openai: 'openai',
  qwen: 'qwen',
  writer: 'writer',
  zai: 'z-ai',
}

/**
 * The public id of a model: `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is `anthropic/claude-sonnet-4-5-20250929`, as
 * Anthropic names it. Amazon's own keep their version, which belongs to their name. An ARN stays as it is, in one part.
 */
export function publicNameOf(upstreamModel: string): string {
  const name = plainNameOf(upstreamModel)
  const dot = name.indexOf('.')
  const maker = name.slice(0, Math.max(dot, 0))
  const author = Object.hasOwn(authors, maker) ? authors[maker] : undefined
  if (author === undefined) return upstreamModel.replaceAll('/', '--')
  const own = name.slice(dot + 1).replace(/:\d+(?:k)?$/, '')
  const version =
    author === 'amazon' ? own : own.replace(/-v\d+$|-\d$/, (end) => (isVersion(own, end) ? '' : end))
  const slug = version.replace(/^llama(\d)-(\d)-/, 'llama-$1.$2-').replace(/^llama(\d)-/, 'llama-$1-')
  return `${author}/${slug}`
}

/** `gpt-oss-120b-1` ends in a version; `claude-opus-5` does not. */
function isVersion(name: string, end: string): boolean {
  return end.startsWith('-v') || name.startsWith('gpt-oss')
}
